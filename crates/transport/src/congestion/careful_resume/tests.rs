//! Careful Resume on packets of 1,000 bytes with a round trip of 100 ms, worked by hand from the rules and examples of RFC 9959.
//! The algorithm inside is `NewReno`, whose initial window is ten packets.

use super::*;
use crate::congestion::tests::{acked, context};
use crate::congestion::{CongestionModel, NewRenoSpec};

const PATH: PathId = PathId(0);
const PACKET: u64 = 1_000;

fn remote(last: u8) -> Remote {
    Remote { local: [10, 0, 0, last].into(), remote: [10, 0, 0, 9].into() }
}

fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}

fn saved(packets: u64, rtt: u64) -> Saved {
    Saved { cwnd: Bytes::new(packets * PACKET), rtt: ms(rtt) }
}

/// A sender whose packets have the numbers 0, 1, 2, …
struct Sender {
    careful: CarefulResume,
    now: SimTime,
    sent: u64,
    flight: u64,
    rtt: SimDuration,
}

impl Sender {
    fn new(store: Store) -> Self {
        let inner = NewRenoSpec::default().build(&context());
        let mut careful = CarefulResume::new(inner, store);
        let now = SimTime::ZERO + ms(1_000);
        careful.open(PATH, now, Bytes::new(PACKET));
        Self { careful, now, sent: 0, flight: 0, rtt: ms(100) }
    }

    /// One that resumes 300 packets, observed with a round trip of `rtt` ms.
    fn resuming(rtt: u64) -> Self {
        let mut sender = Self::new(Store::new(Some(saved(300, rtt)), None, ms(10_000)));
        assert!(sender.careful.resume(PATH, sender.now, remote(1)));
        sender
    }

    fn send(&mut self, packets: u64) {
        for _ in 0..packets {
            self.flight += 1;
            let in_flight = Bytes::new(self.flight * PACKET);
            self.careful
                .on_sent(PATH, &Sent::new(self.now, Bytes::new(PACKET), in_flight, self.sent));
            self.sent += 1;
        }
    }

    /// Fills the window.
    fn fill(&mut self) {
        self.send(self.window() - self.flight);
    }

    fn ack(&mut self, numbers: impl IntoIterator<Item = u64>) {
        self.ack_limited(numbers, true);
    }

    /// An acknowledgement for each packet; whether the window limited the sender before.
    fn ack_limited(&mut self, numbers: impl IntoIterator<Item = u64>, cwnd_limited: bool) {
        for packet_number in numbers {
            let in_flight = Bytes::new(self.flight * PACKET);
            let size = Bytes::new(PACKET);
            let sample = acked(self.now, self.rtt);
            self.careful
                .on_ack(PATH, &Acked { size, packet_number, in_flight, cwnd_limited, ..sample });
            self.flight -= 1;
            let end = AckEnd::new(self.now, Bytes::new(self.flight * PACKET));
            self.careful.on_ack_end(PATH, &end);
        }
    }

    fn congestion(&mut self, lost: u64, persistent: bool) -> Congestion {
        self.flight -= lost;
        Congestion::new(self.now, self.now, Bytes::new(lost * PACKET), persistent)
    }

    fn lose(&mut self, lost: u64) {
        let congestion = self.congestion(lost, false);
        self.careful.on_loss(PATH, &congestion);
    }

    fn window(&self) -> u64 {
        self.careful.window(PATH).get() / PACKET
    }

    fn pipe(&self) -> u64 {
        match self.careful.paths[0].phase {
            Phase::Unvalidated { pipe, .. }
            | Phase::Validating { pipe, .. }
            | Phase::Retreat { pipe, .. } => pipe.size / PACKET,
            Phase::Normal | Phase::Reconnaissance { .. } => 0,
        }
    }

    fn is_in(&self, phase: &str) {
        assert_eq!(self.careful.phase(PATH), phase, "{:?}", self.careful.events);
    }

    fn said(&mut self) -> String {
        let mut events = Vec::new();
        self.careful.take_events(&mut events);
        events.into_iter().map(|event| event.detail).collect::<Vec<_>>().join("\n")
    }
}

/// Sends and acknowledges as in the RFC's examples until 29 packets are in flight, and the path is confirmed: ten packets leave,
/// and each acknowledgement lets two follow. Packet 9, of the initial data, is acknowledged only after packets 10 to 20. The window
/// is then 10 + 9 + 11 + 1 packets, and of 30 packets in flight before 29 are left.
fn confirmed() -> Sender {
    let mut sender = Sender::resuming(100);
    sender.fill();
    for number in (0..9).chain(10..21) {
        sender.ack([number]);
        sender.is_in("reconnaissance");
        sender.fill();
    }
    assert_eq!((sender.window(), sender.flight), (30, 30));
    sender.ack([9]);
    assert_eq!(sender.flight, 29);
    sender.is_in("unvalidated");
    sender
}

/// The example "No Loss": the window becomes half of 300 packets, and 121 unvalidated packets leave.
#[test]
fn a_jump_without_loss_is_validated() {
    let mut sender = confirmed();
    assert_eq!((sender.window(), sender.pipe()), (150, 29));
    let (first, recon) = (sender.sent, sender.sent - 29);
    // "ITT = (current_rtt x MPS) / jump_cwnd": 1,000 bytes every 100 ms / 150.
    let rate = sender.careful.pacing_rate(PATH).unwrap();
    assert_eq!(rate.bps(), 150 * 8_000 * 10);
    sender.send(120);
    sender.is_in("unvalidated");
    sender.send(1);
    sender.is_in("validating");
    assert_eq!((sender.window(), sender.flight), (150, 150));
    assert_eq!(sender.careful.pacing_rate(PATH), None);
    // The window grows by slow start, and the "PipeSize" by unvalidated packets only.
    sender.ack(recon..first);
    assert_eq!((sender.window(), sender.pipe()), (150 + 29, 29));
    sender.ack(first..first + 120);
    sender.is_in("validating");
    assert_eq!((sender.window(), sender.pipe()), (150 + 149, 29 + 120));
    sender.ack([first + 120]);
    sender.is_in("slow-start");
    assert_eq!((sender.window(), sender.careful.ssthresh(PATH)), (300, None));
    assert!(sender.said().contains("ends (last_unvalidated_packet_acknowledged)"));
}

/// The window does not grow in the unvalidated phase.
#[test]
fn acknowledgements_of_what_was_sent_before_the_jump_do_not_move_it() {
    let mut sender = confirmed();
    let recon = sender.sent - 29;
    sender.ack(recon..recon + 29);
    sender.is_in("unvalidated");
    assert_eq!((sender.window(), sender.pipe(), sender.flight), (150, 29, 0));
}

/// The example "No Loss, Rate-Limited": 50 of 121 unvalidated packets leave. The first of them is acknowledged when all before
/// were, and the window becomes what is in flight.
#[test]
fn a_jump_that_is_not_used_up_is_cut_to_what_was_used() {
    let mut sender = confirmed();
    let (first, recon) = (sender.sent, sender.sent - 29);
    sender.send(50);
    sender.ack(recon..first);
    assert_eq!(sender.flight, 50);
    sender.ack([first]);
    // One of the 50 is acknowledged by now, which the RFC's example leaves out.
    sender.is_in("validating");
    assert_eq!((sender.window(), sender.pipe()), (49, 30));
    assert!(sender.said().contains("first_unvalidated_packet_acknowledged"));
}

/// "If more than one RTT has elapsed": with 51 packets in flight the phase goes on to validation; with fewer than before the jump
/// the sender was `rate_limited`, and keeps what was in flight then.
#[test]
fn a_round_trip_ends_the_unvalidated_phase() {
    let mut sender = confirmed();
    sender.send(20);
    sender.now += ms(100);
    sender.send(1);
    sender.is_in("unvalidated");
    sender.now += ms(1);
    sender.send(1);
    sender.is_in("validating");
    assert_eq!(sender.window(), 51);

    for (left, window) in [(20, 29), (9, 29)] {
        let mut sender = confirmed();
        let (recon, last) = (sender.sent - 29, sender.sent - 1 - left);
        sender.ack(recon..last);
        sender.is_in("unvalidated");
        sender.now += ms(101);
        sender.ack([last]);
        assert_eq!(sender.flight, left);
        sender.is_in("slow-start");
        assert_eq!(sender.window(), window, "{left} packets are in flight");
        assert!(sender.said().contains("ends (rate_limited)"));
    }
}

/// The example "Loss detected in the Validating Phase": the 35th of 121 unvalidated packets is lost. When 34 are acknowledged the
/// `PipeSize` is 29 + 34 = 63 packets, and the window 31. The other 86 are acknowledged: the `PipeSize` is 149, and half of it the
/// threshold. (The example in the RFC says 120 there, and so leaves out the 29; its rule does not.)
#[test]
fn a_loss_makes_it_retreat() {
    let mut sender = confirmed();
    let (first, recon) = (sender.sent, sender.sent - 29);
    sender.send(121);
    sender.ack(recon..first + 34);
    assert_eq!((sender.pipe(), sender.window()), (63, 150 + 29 + 34));
    sender.lose(1);
    sender.is_in("safe-retreat");
    assert_eq!(sender.careful.window(PATH).get(), 63 * PACKET / 2);
    sender.ack(first + 35..first + 120);
    assert_eq!((sender.pipe(), sender.window()), (148, 31), "it is not increased");
    sender.ack([first + 120]);
    assert_eq!(sender.careful.ssthresh(PATH).unwrap().get(), 149 * PACKET / 2);
    assert_eq!(sender.window(), 31);
    let said = sender.said();
    assert!(said.contains("safe-retreat (packet_loss)") && said.contains("ends (exit_recovery)"));
    // The parameters are deleted, and the next move there is a reset.
    assert!(!sender.careful.resume(PATH, sender.now, remote(1)));
    assert!(sender.careful.resume(PATH, sender.now, remote(2)));
}

/// Congestion in the unvalidated phase comes of what was sent before, and ends in a retreat, too; marks count as losses do.
#[test]
fn congestion_before_an_answer_makes_it_retreat() {
    let mut sender = confirmed();
    sender.send(10);
    let congestion = sender.congestion(0, false);
    sender.careful.on_ecn(PATH, &congestion);
    sender.is_in("safe-retreat");
    assert_eq!(sender.careful.window(PATH).get(), 29 * PACKET / 2);
    let last = sender.sent - 1;
    sender.ack([last]);
    assert_eq!(sender.careful.ssthresh(PATH).unwrap().get(), 30 * PACKET / 2);
    assert!(sender.said().contains("safe-retreat (ECN_CE)"));
}

/// "Example with Loss detected in the Reconnaissance Phase": no change to the congestion control.
#[test]
fn a_loss_in_the_reconnaissance_ends_it() {
    let mut sender = Sender::resuming(100);
    sender.fill();
    sender.ack(0..4);
    sender.lose(1);
    assert_eq!((sender.window(), sender.careful.ssthresh(PATH)), (7, Some(Bytes::new(7 * PACKET))));
    sender.is_in("recovery");
    assert!(sender.said().contains("ends (packet_loss)"));
}

#[test]
fn persistent_congestion_ends_it_in_any_phase() {
    for jumps in [false, true] {
        let mut sender = if jumps { confirmed() } else { Sender::resuming(100) };
        sender.send(4);
        let congestion = sender.congestion(4, true);
        sender.careful.on_loss(PATH, &congestion);
        assert_eq!(sender.window(), 2);
        assert!(sender.said().contains("ends (persistent congestion)"));
    }
}

/// "Minimum RTT too small": at most half of the saved one. More than ten times it is another path as well (section 4.2.1).
#[test]
fn another_round_trip_is_another_path() {
    for (saved, resumes) in [(200, false), (199, true), (10, true), (9, false)] {
        let mut sender = Sender::resuming(saved);
        sender.fill();
        sender.ack(0..10);
        let said = sender.said();
        assert_eq!(said.contains("unvalidated"), resumes, "{saved}: {said}");
        assert_eq!(said.contains("ends (rtt_not_validated)"), !resumes, "{saved}: {said}");
        assert_eq!(sender.window(), if resumes { 150 } else { 20 });
    }
}

/// A shorter round trip after the jump is a path that has changed.
#[test]
fn a_change_of_the_path_makes_it_retreat() {
    let mut sender = confirmed();
    let recon = sender.sent - 29;
    sender.rtt = ms(50);
    sender.ack([recon]);
    sender.is_in("safe-retreat");
    assert!(sender.said().contains("safe-retreat (path_changed)"));
}

/// A sender that does not fill its window stays in the reconnaissance until it does.
#[test]
fn a_jump_waits_for_data() {
    let mut sender = Sender::resuming(100);
    sender.fill();
    sender.ack_limited(0..10, false);
    sender.is_in("reconnaissance");
    sender.fill();
    sender.ack([10]);
    sender.is_in("unvalidated");
}

/// `jump_cwnd` is at most `max_jump`, and a window that has grown as far needs none.
#[test]
fn the_jump_is_limited() {
    for (most, window, jumps) in [(40, 40, true), (20, 20, false)] {
        let most = Some(Bytes::new(most * PACKET));
        let mut sender = Sender::new(Store::new(Some(saved(300, 100)), most, ms(10_000)));
        assert!(sender.careful.resume(PATH, sender.now, remote(1)));
        sender.fill();
        sender.ack(0..10);
        assert_eq!(sender.window(), window);
        assert_eq!(sender.said().contains("unvalidated"), jumps);
    }
}

/// The saved window is the bytes acknowledged in a round trip. It applies to the same path only, and expires.
#[test]
fn what_was_observed_is_found_again() {
    let mut sender = Sender::new(Store::new(None, None, ms(10_000)));
    assert!(!sender.careful.resume(PATH, sender.now, remote(1)));
    assert!(sender.said().contains("acts as `reset`: nothing is saved of 10.0.0.1 to 10.0.0.9"));
    // Rounds of 10, 20 and 40 packets; the one that goes on when the path is left does not count.
    let mut first = 0;
    for packets in [10, 20, 40] {
        sender.fill();
        assert_eq!(sender.flight, packets);
        sender.ack(first..first + packets);
        first += packets;
    }
    sender.fill();
    sender.ack([first]);
    sender.careful.save(PATH, sender.now, remote(1));
    assert!(!sender.careful.resume(PATH, sender.now, remote(2)));
    sender.now += ms(10_000);
    assert!(sender.careful.resume(PATH, sender.now, remote(1)));
    let expected = format!("resumes {} and {} of {}", Bytes::new(40_000), ms(100), remote(1));
    let said = sender.said();
    assert!(said.ends_with(&expected), "{said}");
    sender.now += ms(1);
    assert!(!sender.careful.resume(PATH, sender.now, remote(1)));
    assert!(sender.said().contains("is too old"));
}
