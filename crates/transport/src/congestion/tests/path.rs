//! A path of a fixed round-trip time without a bottleneck: what fits the window leaves at once, the oldest packet in
//! flight is acknowledged or found lost a round trip after it left.

use std::collections::VecDeque;

use super::*;

pub const DATAGRAM: Bytes = Bytes::new(1_200);
pub const PATH: PathId = PathId(0);

pub struct Path {
    pub controller: Box<dyn CongestionControl>,
    pub now: SimTime,
    pub sent_packets: u64,
    pub app_limited: bool,
    rtt: SimDuration,
    in_flight: VecDeque<SimTime>,
    returned: u64,
}

impl Path {
    pub fn new(model: &dyn CongestionModel, rtt: SimDuration) -> Self {
        let mut controller = model.build(&context());
        controller.open(PATH, SimTime::ZERO, DATAGRAM);
        Self {
            controller,
            now: SimTime::ZERO,
            sent_packets: 0,
            app_limited: false,
            rtt,
            in_flight: VecDeque::new(),
            returned: 0,
        }
    }

    pub fn window(&self) -> u64 {
        self.controller.window(PATH).get()
    }

    pub fn packets(&self) -> f64 {
        self.window() as f64 / DATAGRAM.get() as f64
    }

    fn bytes_in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight.len() as u64 * DATAGRAM.get())
    }

    /// Sends what fits, then lets the oldest packet return: lost if `lost` says so of its number.
    pub fn step(&mut self, lost: impl Fn(u64) -> bool) {
        while self.bytes_in_flight() + DATAGRAM <= self.controller.window(PATH) {
            self.in_flight.push_back(self.now);
            let sent = Sent::new(self.now, DATAGRAM, self.bytes_in_flight(), self.sent_packets);
            self.controller.on_sent(PATH, &sent);
            self.sent_packets += 1;
        }
        let before = self.bytes_in_flight();
        let sent = self.in_flight.pop_front().expect("the minimum window holds a packet");
        self.now = self.now.max(sent + self.rtt);
        let number = self.returned;
        self.returned += 1;
        let in_flight = self.bytes_in_flight();
        if lost(number) {
            self.controller.on_packet_lost(PATH, &Lost::new(self.now, DATAGRAM, number));
            self.controller.on_loss(PATH, &Congestion::new(self.now, sent, DATAGRAM, false));
        } else {
            self.controller.on_ack(PATH, &ack(self, sent, number, before));
            self.controller.on_ack_end(PATH, &AckEnd::new(self.now, in_flight));
        }
    }

    /// A round trip without loss.
    pub fn round(&mut self) {
        let end = self.now + self.rtt;
        self.run_until(end);
    }

    /// No loss until `end`, all packets that return then included.
    pub fn run_until(&mut self, end: SimTime) {
        self.step(|_| false);
        while self.in_flight.front().is_some_and(|sent| *sent + self.rtt <= end) {
            self.step(|_| false);
        }
    }

    /// Packets sent at this instant are lost, everything in flight returns before the next is sent.
    pub fn lose(&mut self) {
        let sent = self.now;
        self.now += self.rtt;
        self.in_flight.clear();
        self.controller.on_loss(PATH, &Congestion::new(self.now, sent, DATAGRAM, false));
        self.now += SimDuration::from_nanos(1);
    }

    pub fn idle(&mut self, span: SimDuration) {
        self.in_flight.clear();
        self.now += span;
    }
}

fn ack(path: &Path, sent: SimTime, packet_number: u64, in_flight: Bytes) -> Acked {
    Acked {
        sent,
        size: DATAGRAM,
        packet_number,
        in_flight,
        app_limited: path.app_limited,
        cwnd_limited: !path.app_limited,
        ..acked(path.now, path.rtt)
    }
}
