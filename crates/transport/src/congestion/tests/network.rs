//! A network of senders that drive controllers of several paths over shared bottlenecks with random early detection.
//!
//! Like [`flow`](super::flow), it calls the controllers directly. Each path of a sender leads through one bottleneck,
//! and has an endless supply of packets, which leave as soon as the window lets them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use leobench_base::SimRng;

use super::flow::DATAGRAM;
use super::*;

/// A bottleneck with an unlimited queue under random early detection (Floyd and Jacobson 1993).
pub struct Bottleneck {
    /// Time to send a packet.
    serialisation: SimDuration,
    red: Red,
    free_at: SimTime,
    average: f64,
    /// Packets since the last early drop.
    since: f64,
    rng: SimRng,
}

/// Lengths in packets between which the probability of a drop grows to `probability`, and the weight of the average.
#[derive(Clone, Copy)]
pub struct Red {
    pub thresholds: [f64; 2],
    pub probability: f64,
    pub weight: f64,
}

impl Red {
    /// A queue that drops nothing.
    pub const NEVER: Self = Self { thresholds: [1e9, 2e9], probability: 1.0, weight: 0.002 };
}

impl Bottleneck {
    /// A bottleneck of so many packets per second.
    pub fn new(rate: f64, red: Red, rng: &RngTree) -> Self {
        Self {
            serialisation: SimDuration::from_secs_f64(1.0 / rate),
            red,
            free_at: SimTime::ZERO,
            average: 0.0,
            since: 0.0,
            rng: rng.rng(),
        }
    }

    /// Packets that it carries in a time.
    pub fn capacity(&self, span: SimDuration) -> f64 {
        span.as_secs_f64() / self.serialisation.as_secs_f64()
    }

    /// Packets in the queue, the one being sent included.
    pub fn queued(&self, now: SimTime) -> f64 {
        let wait = self.free_at.saturating_since(now);
        wait.as_secs_f64() / self.serialisation.as_secs_f64()
    }

    /// When a packet that arrives now has been sent, if it is not dropped.
    fn arrive(&mut self, now: SimTime) -> Option<SimTime> {
        let backlog = self.free_at.saturating_since(now);
        if backlog.is_zero() {
            let idle = now.saturating_since(self.free_at).as_secs_f64();
            let packets = idle / self.serialisation.as_secs_f64();
            self.average *= libm::pow(1.0 - self.red.weight, packets);
        }
        self.average += self.red.weight * (self.queued(now) - self.average);
        if self.drops() {
            return None;
        }
        self.free_at = self.free_at.max(now) + self.serialisation;
        Some(self.free_at)
    }

    /// The decision on an arriving packet: gentle, and spread evenly (section 7).
    fn drops(&mut self) -> bool {
        let Red { thresholds: [least, most], probability, .. } = self.red;
        let chance = if self.average < least {
            return false;
        } else if self.average < most {
            probability * (self.average - least) / (most - least)
        } else {
            (probability + (1.0 - probability) * (self.average - most) / most).min(1.0)
        };
        let drop = self.rng.bernoulli((chance / (1.0 - self.since * chance).max(1e-9)).min(1.0));
        self.since = if drop { 0.0 } else { self.since + 1.0 };
        drop
    }
}

struct Packet {
    number: u64,
    sent: SimTime,
    /// When its acknowledgement arrives; never if it is lost.
    returns: Option<SimTime>,
}

/// A path of a sender.
struct PathSender {
    sender: usize,
    path: PathId,
    bottleneck: usize,
    rtt: SimDuration,
    outstanding: VecDeque<Packet>,
    sent: u64,
    delivered: u64,
    measured: Option<Rtt>,
    /// Whether the heap has its next event.
    waits: bool,
}

/// The senders, their paths and the bottlenecks.
pub struct Network {
    pub bottlenecks: Vec<Bottleneck>,
    pub now: SimTime,
    controllers: Vec<Box<dyn CongestionControl>>,
    paths: Vec<PathSender>,
    events: BinaryHeap<Reverse<(SimTime, usize)>>,
}

impl Network {
    pub fn new(bottlenecks: Vec<Bottleneck>) -> Self {
        Self {
            bottlenecks,
            now: SimTime::ZERO,
            controllers: Vec::new(),
            paths: Vec::new(),
            events: BinaryHeap::new(),
        }
    }

    /// Adds a sender with a path over each of some bottlenecks, all of a round-trip time. It starts at a time. Returns
    /// its number.
    pub fn add(
        &mut self,
        model: &dyn CongestionModel,
        bottlenecks: &[usize],
        rtt: SimDuration,
        start: SimTime,
    ) -> usize {
        let sender = self.controllers.len();
        let mut controller = model.build(&context());
        for (number, bottleneck) in bottlenecks.iter().enumerate() {
            let path = PathId(number as u32);
            controller.open(path, start, DATAGRAM);
            self.events.push(Reverse((start, self.paths.len())));
            self.paths.push(PathSender {
                sender,
                path,
                bottleneck: *bottleneck,
                rtt,
                outstanding: VecDeque::new(),
                sent: 0,
                delivered: 0,
                measured: None,
                waits: true,
            });
        }
        self.controllers.push(controller);
        sender
    }

    /// Goes on to a time.
    pub fn run_until(&mut self, end: SimTime) {
        while let Some(Reverse((now, at))) = self.events.peek().copied()
            && now <= end
        {
            self.events.pop();
            self.now = now;
            self.paths[at].waits = false;
            self.receive(at);
            self.send(at);
            self.wait(at);
        }
        self.now = end;
    }

    /// Packets delivered so far on each path of a sender.
    pub fn delivered(&self, sender: usize) -> Vec<u64> {
        let paths = self.paths.iter().filter(|path| path.sender == sender);
        paths.map(|path| path.delivered).collect()
    }

    /// The packet that is due returns. If nothing in flight ever does, it is found lost.
    fn receive(&mut self, at: usize) {
        let returning =
            self.paths[at].outstanding.iter().position(|packet| packet.returns.is_some());
        let Some(index) = returning else {
            return self.lose_below(at, u64::MAX);
        };
        let path = &mut self.paths[at];
        let packet = path.outstanding.remove(index).unwrap();
        path.delivered += 1;
        let latest = self.now - packet.sent;
        let measured = path.measured.map_or(Rtt { latest, smoothed: latest, min: latest }, |rtt| {
            Rtt { latest, smoothed: rtt.smoothed * 7 / 8 + latest / 8, min: rtt.min.min(latest) }
        });
        path.measured = Some(measured);
        self.lose_below(at, packet.number.saturating_sub(2));
        let path = &self.paths[at];
        let left = Bytes::new(path.outstanding.len() as u64 * DATAGRAM.get());
        let acked = Acked {
            sent: packet.sent,
            size: DATAGRAM,
            packet_number: packet.number,
            in_flight: left + DATAGRAM,
            rtt: measured,
            ..acked(self.now, latest)
        };
        let controller = &mut self.controllers[path.sender];
        controller.on_ack(path.path, &acked);
        controller.on_ack_end(path.path, &AckEnd::new(self.now, left));
    }

    /// Declares lost what has a smaller number.
    fn lose_below(&mut self, at: usize, number: u64) {
        let path = &mut self.paths[at];
        let controller = &mut self.controllers[path.sender];
        let (mut latest, mut lost) = (None, Bytes::ZERO);
        while path.outstanding.front().is_some_and(|packet| packet.number < number) {
            let packet = path.outstanding.pop_front().unwrap();
            latest = Some(packet.sent);
            lost += DATAGRAM;
            controller.on_packet_lost(path.path, &Lost::new(self.now, DATAGRAM, packet.number));
        }
        if let Some(sent) = latest {
            controller.on_loss(path.path, &Congestion::new(self.now, sent, lost, false));
        }
    }

    /// Sends what the window lets go.
    fn send(&mut self, at: usize) {
        let path = &mut self.paths[at];
        let controller = &mut self.controllers[path.sender];
        let window = controller.window(path.path).get();
        while (path.outstanding.len() as u64 + 1) * DATAGRAM.get() <= window {
            let departure = self.bottlenecks[path.bottleneck].arrive(self.now);
            let returns = departure.map(|at| at + path.rtt);
            path.outstanding.push_back(Packet { number: path.sent, sent: self.now, returns });
            let in_flight = Bytes::new(path.outstanding.len() as u64 * DATAGRAM.get());
            controller.on_sent(path.path, &Sent::new(self.now, DATAGRAM, in_flight, path.sent));
            path.sent += 1;
        }
    }

    /// Puts the next event of a path on the heap: the next packet that returns, or the end of its patience.
    fn wait(&mut self, at: usize) {
        let path = &mut self.paths[at];
        if path.waits || path.outstanding.is_empty() {
            return;
        }
        let silence = self.now + path.rtt * 3;
        let next = path.outstanding.iter().find_map(|packet| packet.returns).unwrap_or(silence);
        self.events.push(Reverse((next, at)));
        path.waits = true;
    }
}
