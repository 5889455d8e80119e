//! A flow over a bottleneck: a link of a steady rate with a queue, and a way back without one.

use std::collections::VecDeque;

use leobench_base::SimRng;

use super::*;
use crate::pacing::{Pacer, window_rate};

pub const DATAGRAM: Bytes = Bytes::new(1_250);
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
    /// When its acknowledgement arrives; never if it is lost.
    returns: Option<SimTime>,
}

/// A sender with an endless supply, over a [`Link`] that may be changed as it goes.
pub struct Flow<C: CongestionControl + ?Sized = dyn CongestionControl> {
    pub controller: Box<C>,
    pub link: Link,
    pub now: SimTime,
    pub sent: u64,
    pub delivered: u64,
    pub lost: u64,
    /// Congestion reported, and reductions of the window that followed.
    pub reductions: u64,
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
            reductions: 0,
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

    pub fn in_flight(&self) -> u64 {
        self.outstanding.len() as u64
    }

    /// Packets in the queue, the one being sent included.
    pub fn queued(&self) -> f64 {
        let wait = self.free_at.saturating_since(self.now);
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
        let returning = self.outstanding.iter().find_map(|packet| packet.returns);
        match (self.next_send(), returning) {
            (Some(send), returns) if returns.is_none_or(|returns| send < returns) => {
                self.now = send;
                self.send();
            }
            (_, Some(returns)) => {
                self.now = self.now.max(returns);
                self.receive();
            }
            (_, None) => {
                self.now = self.last_sent + self.srtt * 3;
                self.lose_below(self.sent);
            }
        }
        let phase = self.controller.phase(PATH);
        if self.phases.last().is_none_or(|(_, last)| *last != phase) {
            self.phases.push((self.now, phase));
        }
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
        let returns =
            (!dropped && !self.rng.bernoulli(self.link.loss)).then(|| self.free_at + self.link.rtt);
        self.outstanding.push_back(Packet { number: self.sent, sent: self.now, returns });
        let in_flight = Bytes::new(self.in_flight() * DATAGRAM.get());
        self.controller.on_sent(PATH, &Sent::new(self.now, DATAGRAM, in_flight, self.sent));
        self.sent += 1;
        self.last_sent = self.now;
    }

    /// The acknowledgement of the first packet that returns, and the losses it reveals: packets three behind it (RFC
    /// 9002 section 6.1.1).
    fn receive(&mut self) {
        let in_flight = Bytes::new(self.in_flight() * DATAGRAM.get());
        let index = self.outstanding.iter().position(|packet| packet.returns.is_some()).unwrap();
        let packet = self.outstanding.remove(index).unwrap();
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
            rtt: Rtt { latest, smoothed: self.srtt, min: self.min_rtt },
            ..acked(self.now, self.srtt)
        };
        self.controller.on_ack(PATH, &acked);
        self.controller.on_ack_end(PATH, &AckEnd::new(self.now, in_flight - DATAGRAM));
        self.lose_below(packet.number.saturating_sub(2));
    }

    /// Declares lost what has a smaller number.
    fn lose_below(&mut self, number: u64) {
        let (mut latest, mut lost) = (None, 0);
        while self.outstanding.front().is_some_and(|packet| packet.number < number) {
            let packet = self.outstanding.pop_front().unwrap();
            latest = Some(packet.sent);
            lost += 1;
            let lost = Lost::new(self.now, DATAGRAM, packet.number);
            self.controller.on_packet_lost(PATH, &lost);
        }
        let Some(sent) = latest else { return };
        self.lost += lost;
        let before = self.window();
        let lost = Bytes::new(lost * DATAGRAM.get());
        self.controller.on_loss(PATH, &Congestion::new(self.now, sent, lost, false));
        self.reductions += u64::from(self.window() < before);
    }
}
