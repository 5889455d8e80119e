//! The order in which every transport tells its controller what an acknowledgement shows (RFC 9002 appendix A.7).

use std::sync::{Arc, Mutex};

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};

use super::{Controlled, SENDER, ms, newreno};
use crate::congestion::{AckEnd, Acked, Congestion, CongestionControl, Lost, Sent};
use crate::endpoint::PathId;

const BYTES: u64 = 2_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Acked(u64),
    AckEnd,
    Lost(u64),
    Loss,
    Mark,
}

#[derive(Default)]
struct Told {
    calls: Vec<(SimTime, Call)>,
    /// Bytes in flight by the calls alone.
    in_flight: u64,
}

/// NewReno, which notes what it is told, and whether the bytes in flight agree.
struct Noting {
    inner: Box<dyn CongestionControl>,
    told: Arc<Mutex<Told>>,
}

impl Noting {
    fn note(&self, now: SimTime, call: Call) {
        self.told.lock().unwrap().calls.push((now, call));
    }
}

impl CongestionControl for Noting {
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes) {
        self.inner.open(path, now, datagram);
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        self.told.lock().unwrap().in_flight = sent.in_flight.get();
        self.inner.on_sent(path, sent);
    }

    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        self.note(acked.now, Call::Acked(acked.packet_number));
        let told = &mut *self.told.lock().unwrap();
        // Less by what left with the keys of the handshake, which no controller is told.
        assert!(acked.in_flight.get() <= told.in_flight, "{acked:?}");
        told.in_flight = acked.in_flight.get() - acked.size.get();
        self.inner.on_ack(path, acked);
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        self.note(end.now, Call::AckEnd);
        assert_eq!(end.in_flight.get(), self.told.lock().unwrap().in_flight, "{end:?}");
        self.inner.on_ack_end(path, end);
    }

    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        self.note(lost.now, Call::Lost(lost.packet_number));
        self.told.lock().unwrap().in_flight -= lost.size.get();
        self.inner.on_packet_lost(path, lost);
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        self.note(congestion.now, Call::Loss);
        self.inner.on_loss(path, congestion);
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        self.note(congestion.now, Call::Mark);
        self.inner.on_ecn(path, congestion);
    }

    fn window(&self, path: PathId) -> Bytes {
        self.inner.window(path)
    }

    fn phase(&self, path: PathId) -> &'static str {
        self.inner.phase(path)
    }
}

/// The calls that a controller receives during a transfer through a link that marks, or one that loses every hundredth
/// packet.
fn told<E: Controlled>(marks: bool) -> Vec<(SimTime, Call)> {
    let mut pipe = E::connect(marks);
    let told = Arc::new(Mutex::new(Told::default()));
    let inner = newreno();
    pipe.ends[SENDER].set_controller(Box::new(Noting { inner, told: Arc::clone(&told) }));
    pipe.rate = BitRate::from_bps(20_000_000);
    if marks {
        pipe.mark_after = Some(SimDuration::from_millis(10));
    } else {
        pipe.fate = Box::new(|end, number, _| {
            (end != SENDER || number % 100 != 99).then_some(SimDuration::ZERO)
        });
    }
    pipe.write(0, BYTES);
    pipe.run(ms(60_000), |pipe| pipe.delivered[0] >= BYTES);
    assert_eq!(pipe.delivered, [BYTES]);
    std::mem::take(&mut told.lock().unwrap().calls)
}

/// Losses and marks that come with an acknowledgement precede it; within each, numbers rise.
///
/// # Panics
/// If they do not.
pub fn congestion_precedes_growth<E: Controlled>() {
    for marks in [false, true] {
        let calls = told::<E>(marks);
        let mut with_ack = 0;
        for (before, (now, call)) in calls.iter().zip(&calls[1..]) {
            let congestion = matches!(call, Call::Lost(_) | Call::Loss | Call::Mark);
            let at_once = before.0 == *now;
            assert!(!(congestion && at_once && before.1 == Call::AckEnd), "{call:?} at {now}");
            match (before.1, *call) {
                (Call::Acked(_), call) => assert!(matches!(call, Call::Acked(_) | Call::AckEnd)),
                (Call::Lost(_), call) => assert!(matches!(call, Call::Lost(_) | Call::Loss)),
                (Call::Loss | Call::Mark, Call::Acked(_)) if at_once => with_ack += 1,
                _ => {}
            }
            if let (Call::Acked(first), Call::Acked(second))
            | (Call::Lost(first), Call::Lost(second)) = (before.1, *call)
            {
                assert!(first < second, "{first} before {second} at {now}");
            }
        }
        assert!(with_ack > 0, "marks {marks}: no acknowledgement reveals congestion");
    }
}
