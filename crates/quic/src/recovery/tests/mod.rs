//! Loss recovery against the RFC's rules, worked by hand, and against a plain model.

use std::sync::{Arc, Mutex};

use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::congestion::{AckEnd, Acked, Congestion, CongestionControl, Lost, Sent};

use super::*;
use crate::sent_frame::SentFrames;
use crate::wire::{Ack, AckRange, EcnCounts, Space};

mod access;
mod acks;
mod ecn;
mod loss;
mod model;
mod moved;
mod persistent;
mod spurious;
mod timers;

const PATH: PathId = PathId(0);
/// Bytes of a packet.
const SIZE: u64 = 1_000;

const fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + ms(millis)
}

/// A call to a controller.
#[derive(Clone, Debug, PartialEq)]
enum Call {
    Sent { number: u64, in_flight: u64 },
    Acked { number: u64, in_flight: u64 },
    AckEnd { in_flight: u64 },
    PacketLost(u64),
    Loss { sent: SimTime, lost: u64, persistent: bool },
    Ecn { sent: SimTime },
    Spurious,
}

/// A controller that notes how it is called.
struct Notes(Arc<Mutex<Vec<Call>>>);

impl Notes {
    fn add(&self, path: PathId, call: Call) {
        assert_eq!(path, PATH);
        self.0.lock().unwrap().push(call);
    }
}

impl CongestionControl for Notes {
    fn open(&mut self, path: PathId, _now: SimTime, _datagram: Bytes) {
        assert_eq!(path, PATH);
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        let (number, in_flight) = (sent.packet_number, sent.in_flight.get());
        self.add(path, Call::Sent { number, in_flight });
    }

    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        let (number, in_flight) = (acked.packet_number, acked.in_flight.get());
        self.add(path, Call::Acked { number, in_flight });
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        self.add(path, Call::AckEnd { in_flight: end.in_flight.get() });
    }

    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        self.add(path, Call::PacketLost(lost.packet_number));
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        let Congestion { sent, lost, persistent, .. } = *congestion;
        self.add(path, Call::Loss { sent, lost: lost.get(), persistent });
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        self.add(path, Call::Ecn { sent: congestion.sent });
    }

    fn on_spurious_loss(&mut self, path: PathId) {
        self.add(path, Call::Spurious);
    }

    fn window(&self, _path: PathId) -> Bytes {
        Bytes::new(100 * SIZE)
    }

    fn phase(&self, _path: PathId) -> &'static str {
        "noting"
    }
}

/// A path under test.
struct Bench {
    recovery: Recovery,
    control: Control,
    out: Outcome,
    calls: Arc<Mutex<Vec<Call>>>,
    /// Counts to report with acknowledgements.
    ecn: Option<EcnCounts>,
}

impl Bench {
    /// A path before the handshake.
    fn new(role: Role) -> Self {
        let config = RecoveryConfig { role, initial_rtt: ms(333), ecn: true };
        let calls = Arc::default();
        let mut control = Control::new("notes", Box::new(Notes(Arc::clone(&calls))));
        control.open(PATH, SimTime::ZERO, Bytes::new(SIZE));
        let recovery = Recovery::new(PATH, &config);
        Self { recovery, control, out: Outcome::default(), calls, ecn: None }
    }

    /// A path after the handshake, on which the peer may delay acknowledgements by 25 ms.
    fn confirmed() -> Self {
        let mut bench = Self::new(Role::Client);
        bench.recovery.set_max_ack_delay(ms(25));
        let confirmed = HandshakeState { confirmed: true, ..HandshakeState::default() };
        bench.recovery.set_handshake(SimTime::ZERO, confirmed);
        bench
    }

    fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    /// Sends a packet in a space as `change` makes it; its number.
    fn send_as(&mut self, now: SimTime, space: Space, change: impl FnOnce(&mut SentPacket)) -> u64 {
        let number = self.recovery.next_number(space).value;
        let mut packet = SentPacket::new(number, now, SIZE, SentFrames::new());
        change(&mut packet);
        let number = packet.number;
        self.recovery.on_sent(now, space, packet, &mut self.control);
        number
    }

    fn send_in(&mut self, now: SimTime, space: Space) -> u64 {
        self.send_as(now, space, |_| {})
    }

    fn send(&mut self, now: SimTime) -> u64 {
        self.send_in(now, Space::Data)
    }

    /// Sends a packet that asks for no acknowledgement.
    fn send_silent(&mut self, now: SimTime) -> u64 {
        self.send_as(now, Space::Data, |packet| {
            (packet.ack_eliciting, packet.in_flight) = (false, false);
        })
    }

    fn try_ack(
        &mut self,
        now: SimTime,
        space: Space,
        ranges: &[(u64, u64)],
        delay: SimDuration,
    ) -> Result<(), ProtocolViolation> {
        let ranges = ranges.iter().map(|&(smallest, largest)| AckRange { smallest, largest });
        let ack = Ack { ranges: ranges.rev().collect(), delay: 0, ecn: self.ecn.map(Box::new) };
        self.recovery.on_ack(now, space, &ack, delay, &mut self.control, &mut self.out)
    }

    /// Acknowledges ranges, in ascending order; the numbers acknowledged and lost.
    fn ack_in(
        &mut self,
        now: SimTime,
        space: Space,
        ranges: &[(u64, u64)],
    ) -> (Vec<u64>, Vec<u64>) {
        self.try_ack(now, space, ranges, SimDuration::ZERO).unwrap();
        (numbers(&self.out.acked), numbers(&self.out.lost))
    }

    fn ack(&mut self, now: SimTime, ranges: &[(u64, u64)]) -> (Vec<u64>, Vec<u64>) {
        self.ack_in(now, Space::Data, ranges)
    }

    /// Lets the timer expire when it is due; when, the probe, and the numbers lost.
    fn expire(&mut self) -> (SimTime, Option<Probe>, Vec<u64>) {
        let due = self.recovery.timer().expect("no timer is set");
        let (probe, lost) = self.expire_at(due);
        (due, probe, lost)
    }

    fn expire_at(&mut self, now: SimTime) -> (Option<Probe>, Vec<u64>) {
        let probe = self.recovery.on_timeout(now, &mut self.control, &mut self.out);
        (probe, numbers(&self.out.lost))
    }

    /// Kinds and details of the events since the last call.
    fn events(&mut self) -> Vec<(&'static str, String)> {
        let mut events = Vec::new();
        self.control.take_events(&mut events);
        events.into_iter().map(|event| (event.kind, event.detail)).collect()
    }
}

fn numbers(packets: &[SentPacket]) -> Vec<u64> {
    packets.iter().map(|packet| packet.number).collect()
}
