//! A sender with an endless supply that drives a controller over a path: with a bottleneck and its queue, or without.
//!
//! It calls the controller directly, without an endpoint: what a controller sees is then known to the byte.

use std::collections::VecDeque;

use leobench_base::SimRng;

use super::*;
use crate::pacing::{Pacer, window_rate};

pub const DATAGRAM: Bytes = Bytes::new(1_200);
pub const PATH: PathId = PathId(0);

/// The path.
#[derive(Clone, Copy)]
pub struct Link {
    pub rate: BitRate,
    /// Round-trip time of the path without queue and serialisation.
    pub rtt: SimDuration,
    /// Packets the queue holds.
    pub buffer: u64,
    /// Probability that a packet is lost behind the queue.
    pub loss: f64,
}

impl Link {
    pub fn new(rate: u64, millis: u64, buffer: u64) -> Self {
        let rtt = SimDuration::from_millis(millis);
        Self { rate: BitRate::from_bps(rate), rtt, buffer, loss: 0.0 }
    }

    /// A path of a fixed round-trip time without a bottleneck.
    pub fn open(rtt: SimDuration) -> Self {
        Self { rate: BitRate::from_bps(u64::MAX / 2), rtt, buffer: u64::MAX, loss: 0.0 }
    }

    pub fn serialisation(&self) -> SimDuration {
        self.rate.serialise(DATAGRAM, 0).unwrap().0
    }

    /// Round-trip time of a packet that meets no queue.
    pub fn base_rtt(&self) -> SimDuration {
        self.rtt + self.serialisation()
    }

    /// Packets the path holds without a queue.
    pub fn bdp(&self) -> f64 {
        self.base_rtt().as_secs_f64() / self.serialisation().as_secs_f64()
    }
}

struct Packet {
    number: u64,
    sent: SimTime,
    /// When its acknowledgement arrives, or why it is lost.
    returns: Result<SimTime, Cause>,
}

/// Why a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Queue,
    Random,
    Outage,
}

/// Losses told together.
#[derive(Clone, Copy, Debug)]
pub struct ToldLoss {
    pub now: SimTime,
    /// When the latest of them was sent, and its cause.
    pub sent: SimTime,
    pub cause: Cause,
    /// Whether the controller reduced its window.
    pub reduced: bool,
}

/// The next event.
enum Next {
    Send(SimTime),
    /// The packet at this index is acknowledged.
    Return(usize, SimTime),
    /// Neither: everything in flight is lost.
    Silence,
}

/// A flow over a [`Link`] that may be changed as it goes.
pub struct Flow<C: CongestionControl + ?Sized = dyn CongestionControl> {
    pub controller: Box<C>,
    pub link: Link,
    pub now: SimTime,
    pub sent: u64,
    pub delivered: u64,
    pub lost: u64,
    /// Whether packets are acknowledged as those of an application that does not use the window.
    pub app_limited: bool,
    /// Whether the path loses everything that is sent.
    pub outage: bool,
    /// Losses in the order they were told.
    pub told: Vec<ToldLoss>,
    /// Phases in the order they were entered.
    pub phases: Vec<(SimTime, &'static str)>,
    pub srtt: SimDuration,
    min_rtt: SimDuration,
    pacer: Option<Pacer>,
    outstanding: VecDeque<Packet>,
    free_at: SimTime,
    last_sent: SimTime,
    rng: SimRng,
}

impl Flow {
    pub fn new(model: &dyn CongestionModel, link: Link, paced: bool, seed: u64) -> Self {
        let rng = RngTree::new(seed);
        Self::with(
            model.build(&CongestionContext { rng: &rng, paced, plugins: crate::Plugins::NONE }),
            link,
            paced,
            &rng,
        )
    }

    /// A flow over a path without a bottleneck: what fits the window leaves at once.
    pub fn open(model: &dyn CongestionModel, rtt: SimDuration) -> Self {
        Self::new(model, Link::open(rtt), false, 1)
    }
}

impl<C: CongestionControl + ?Sized> Flow<C> {
    pub fn with(mut controller: Box<C>, link: Link, paced: bool, rng: &RngTree) -> Self {
        controller.open(PATH, SimTime::ZERO, DATAGRAM);
        let burst = Bytes::new(10 * DATAGRAM.get());
        Self {
            phases: vec![(SimTime::ZERO, controller.phase(PATH))],
            controller,
            link,
            now: SimTime::ZERO,
            sent: 0,
            delivered: 0,
            lost: 0,
            app_limited: false,
            outage: false,
            told: Vec::new(),
            srtt: SimDuration::ZERO,
            min_rtt: SimDuration::MAX,
            pacer: paced.then(|| Pacer::new(burst, DATAGRAM)),
            outstanding: VecDeque::new(),
            free_at: SimTime::ZERO,
            last_sent: SimTime::ZERO,
            rng: rng.child("link").rng(),
        }
    }

    pub fn window(&self) -> u64 {
        self.controller.window(PATH).get()
    }

    pub fn packets(&self) -> f64 {
        self.window() as f64 / DATAGRAM.get() as f64
    }

    pub fn in_flight(&self) -> u64 {
        self.outstanding.len() as u64
    }

    fn bytes_in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight() * DATAGRAM.get())
    }

    /// Packets in the queue, the one being sent included.
    pub fn queued(&self) -> f64 {
        let wait = self.free_at.saturating_since(self.now);
        if wait.is_zero() {
            return 0.0;
        }
        wait.as_secs_f64() / self.link.serialisation().as_secs_f64()
    }

    fn pacing_rate(&self) -> BitRate {
        self.controller.pacing_rate(PATH).unwrap_or_else(|| {
            let srtt = self.srtt.max(SimDuration::from_millis(1));
            window_rate(self.controller.window(PATH), srtt)
        })
    }

    /// When the next packet may leave, if the window lets one go.
    fn next_send(&self) -> Option<SimTime> {
        let in_flight = (self.in_flight() + 1) * DATAGRAM.get();
        let ready = self.pacer.as_ref().map_or(self.now, |pacer| pacer.ready(self.pacing_rate()));
        (in_flight <= self.window()).then_some(ready.max(self.now))
    }

    /// Goes on to the next packet that leaves or returns.
    pub fn step(&mut self) {
        match self.next() {
            Next::Send(at) => {
                self.now = at;
                self.send();
            }
            Next::Return(index, at) => {
                self.now = at;
                self.acknowledge(index);
            }
            Next::Silence => {
                self.now = self.last_sent + self.srtt * 3;
                self.lose_below(self.sent);
            }
        }
        self.note_phase();
    }

    /// Sends what may leave, then lets the next packet return; if `lost` is true of its number, the sender finds at that
    /// time that it is lost.
    pub fn step_return(&mut self, lost: impl Fn(u64) -> bool) {
        loop {
            match self.next() {
                Next::Return(index, at) if lost(self.outstanding[index].number) => {
                    self.now = at;
                    let packet = self.outstanding.remove(index).unwrap();
                    self.report_lost(&packet);
                    self.report_loss(&packet, 1);
                    return self.note_phase();
                }
                Next::Return(..) => return self.step(),
                Next::Send(_) | Next::Silence => self.step(),
            }
        }
    }

    /// Lets the next packet return with an acknowledgement that reveals losses, which are told first.
    pub fn return_with_losses(&mut self, persistent: bool) {
        loop {
            if let Next::Return(index, at) = self.next() {
                self.now = at;
                let congestion = Congestion::new(at, at, Bytes::ZERO, persistent);
                self.controller.on_loss(PATH, &congestion);
                return self.acknowledge(index);
            }
            self.step();
        }
    }

    fn next(&self) -> Next {
        let mut outstanding = self.outstanding.iter().enumerate();
        let returning = outstanding
            .find_map(|(index, packet)| Some((index, packet.returns.ok()?.max(self.now))));
        match (self.next_send(), returning) {
            (Some(send), returning) if returning.is_none_or(|(_, at)| send <= at) => {
                Next::Send(send)
            }
            (_, Some((index, at))) => Next::Return(index, at),
            (_, None) => Next::Silence,
        }
    }

    fn note_phase(&mut self) {
        let phase = self.controller.phase(PATH);
        if self.phases.last().is_none_or(|(_, last)| *last != phase) {
            self.phases.push((self.now, phase));
        }
    }

    /// A round trip in which everything returns.
    pub fn round(&mut self) {
        self.return_until(self.now + self.link.rtt);
    }

    /// Everything returns until `end`, the packets due then included.
    pub fn return_until(&mut self, end: SimTime) {
        self.step_return(|_| false);
        let due = |packet: &Packet| packet.returns.is_ok_and(|at| at <= end);
        while self.outstanding.front().is_some_and(due) {
            self.step_return(|_| false);
        }
    }

    /// Packets sent at this instant are lost, everything in flight returns before the next is sent.
    pub fn lose(&mut self) {
        let sent = self.now;
        self.idle(self.link.rtt);
        self.controller.on_loss(PATH, &Congestion::new(self.now, sent, DATAGRAM, false));
        self.now += SimDuration::from_nanos(1);
    }

    /// Nothing is sent for a time; what was in flight is forgotten.
    pub fn idle(&mut self, span: SimDuration) {
        self.outstanding.clear();
        self.now += span;
    }

    pub fn run_until(&mut self, secs: f64) {
        let end = SimTime::ZERO + SimDuration::from_secs_f64(secs);
        while self.now < end {
            self.step();
        }
    }

    /// Packets delivered per second of the link's capacity, from now until `secs`.
    pub fn utilisation_until(&mut self, secs: f64) -> f64 {
        let (from, delivered) = (self.now, self.delivered);
        self.run_until(secs);
        let span = (self.now - from).as_secs_f64();
        (self.delivered - delivered) as f64 * self.link.serialisation().as_secs_f64() / span
    }

    fn send(&mut self) {
        let rate = self.pacing_rate();
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(self.now, DATAGRAM, rate);
        }
        let dropped = self.queued() > self.link.buffer as f64;
        if !dropped {
            self.free_at = self.free_at.max(self.now) + self.link.serialisation();
        }
        let returns = match (dropped, dropped || self.rng.bernoulli(self.link.loss), self.outage) {
            (_, _, true) => Err(Cause::Outage),
            (true, ..) => Err(Cause::Queue),
            (_, true, _) => Err(Cause::Random),
            _ => Ok(self.free_at + self.link.rtt),
        };
        self.outstanding.push_back(Packet { number: self.sent, sent: self.now, returns });
        let sent = Sent::new(self.now, DATAGRAM, self.bytes_in_flight(), self.sent);
        self.controller.on_sent(PATH, &sent);
        self.sent += 1;
        self.last_sent = self.now;
    }

    /// A packet returns: the losses it reveals, which are packets three behind it (RFC 9002 section 6.1.1), and its
    /// acknowledgement.
    fn acknowledge(&mut self, index: usize) {
        let packet = self.outstanding.remove(index).unwrap();
        self.lose_below(packet.number.saturating_sub(2));
        let in_flight = self.bytes_in_flight() + DATAGRAM;
        self.delivered += 1;
        let latest = self.now - packet.sent;
        self.min_rtt = self.min_rtt.min(latest);
        let first = self.srtt.is_zero();
        self.srtt = if first { latest } else { self.srtt * 7 / 8 + latest / 8 };
        let acked = Acked {
            sent: packet.sent,
            size: DATAGRAM,
            packet_number: packet.number,
            in_flight,
            app_limited: self.app_limited,
            cwnd_limited: !self.app_limited,
            rtt: Rtt { latest, smoothed: self.srtt, min: self.min_rtt },
            ..acked(self.now, self.srtt)
        };
        self.controller.on_ack(PATH, &acked);
        self.controller.on_ack_end(PATH, &AckEnd::new(self.now, in_flight - DATAGRAM));
    }

    /// Declares lost what has a smaller number.
    fn lose_below(&mut self, number: u64) {
        let (mut latest, mut lost) = (None, 0);
        while self.outstanding.front().is_some_and(|packet| packet.number < number) {
            let packet = self.outstanding.pop_front().unwrap();
            lost += 1;
            self.report_lost(&packet);
            latest = Some(packet);
        }
        if let Some(packet) = latest {
            self.report_loss(&packet, lost);
        }
    }

    fn report_lost(&mut self, packet: &Packet) {
        self.controller.on_packet_lost(PATH, &Lost::new(self.now, DATAGRAM, packet.number));
    }

    /// So many packets were lost, of which this was sent last.
    fn report_loss(&mut self, latest: &Packet, lost: u64) {
        self.lost += lost;
        let (now, sent) = (self.now, latest.sent);
        let lost = Bytes::new(lost * DATAGRAM.get());
        let before = self.window();
        self.controller.on_loss(PATH, &Congestion::new(now, sent, lost, false));
        let reduced = self.window() < before;
        let cause = latest.returns.err().unwrap_or(Cause::Random);
        self.told.push(ToldLoss { now, sent, cause, reduced });
    }
}
