//! Random meetings of our stack with `noq-proto`, which we did not write: bytes in virtual time through a link that loses,
//! reorders, repeats and damages datagrams. Both applications do what a plan says, and every byte is checked.
//!
//! A failure names the seed of its meeting; `MEETING=<seed> cargo test ... one_meeting -- --ignored --nocapture` repeats it
//! and shows every datagram.

mod application;
mod early;
mod link;
mod noq;
mod own;
mod plan;
mod play;
mod tally;

use bytes::{Bytes, BytesMut};
use leobench_base::SimTime;

pub(super) use self::own::tls;
use self::plan::Plan;
use self::play::Play;
use self::tally::Tally;
use crate::wire::Directionality;

/// Indices of the ends.
const OWN: usize = 0;
const NOQ: usize = 1;

/// How a connection was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lost {
    /// The peer's application closed it.
    Application {
        code: u64,
        reason: Bytes,
    },
    /// The peer's stack did.
    Transport {
        code: u64,
        reason: String,
    },
    TimedOut,
    /// This end closed it.
    Closed,
    Other(String),
}

/// An event that an end reports to its application.
#[derive(Clone, Debug)]
enum Happened {
    Established,
    /// The streams that it opened are gone, with the 0-RTT data on them.
    EarlyRejected,
    Data {
        id: u64,
        data: Bytes,
    },
    Finished {
        id: u64,
    },
    Reset {
        id: u64,
        code: u64,
    },
    Stopped {
        id: u64,
        code: u64,
    },
    Datagram {
        data: Bytes,
    },
    /// A finished stream is of no more interest to its sender.
    Done {
        id: u64,
    },
    Lost(Lost),
}

/// One end, of either stack.
trait Party {
    fn receive(&mut self, now: SimTime, datagram: BytesMut);
    fn on_timer(&mut self, now: SimTime);
    fn transmit(&mut self, now: SimTime, out: &mut Vec<BytesMut>);
    fn timer(&mut self, now: SimTime) -> Option<SimTime>;
    fn events(&mut self, out: &mut Vec<Happened>);
    fn open(&mut self, direction: Directionality) -> Option<u64>;
    /// How many of the bytes it takes.
    fn write(&mut self, id: u64, data: &[u8]) -> usize;
    fn finish(&mut self, id: u64);
    fn reset(&mut self, id: u64, code: u64);
    /// Whether it is possible: the stream has not ended.
    fn stop(&mut self, now: SimTime, id: u64, code: u64) -> bool;
    /// Sends an unreliable datagram; whether it is taken.
    fn send_datagram(&mut self, data: Bytes) -> bool;
    fn close(&mut self, now: SimTime, code: u64, reason: &str);
    fn update_keys(&mut self, now: SimTime);
    /// Whether it is a client that may send 0-RTT data now.
    fn sends_early(&mut self) -> bool;
    /// Whether datagrams to it must not overtake each other now, for a reason that its implementation names.
    fn needs_order(&self) -> bool {
        false
    }
}

/// Holds meetings with these seeds, and counts what happened.
fn hold(seeds: impl Iterator<Item = u64>, tls: bool) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        Play::new(Plan::draw(seed, tls)).hold(&mut tally);
    }
    tally
}

#[test]
fn meetings_with_null_protection() {
    hold(0..60, false).check(false);
}

#[test]
fn meetings_with_tls() {
    hold(0..60, true).check(true);
}

#[test]
#[ignore = "the long form of the tests above"]
fn five_hundred_meetings_with_either_protection() {
    let count = std::env::var("MEETINGS").map_or(500, |count| count.parse().unwrap());
    for tls in [false, true] {
        let tally = hold(1_000..1_000 + count, tls);
        tally.print(tls);
        tally.check(tls);
    }
}

#[test]
#[ignore = "repeats the meeting that MEETING names"]
fn one_meeting() {
    let Ok(seed) = std::env::var("MEETING") else { return };
    let tls = std::env::var("NULL").is_err();
    let mut play = Play::new(Plan::draw(seed.parse().unwrap(), tls));
    play.is_verbose = true;
    play.hold(&mut Tally::default());
}
