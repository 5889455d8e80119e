//! Packet numbers that arrive late.

use super::*;

/// The packet that is late, in the order in which the sender sends.
const LATE: usize = 200;

/// The sender's packet [`LATE`] is late by so many milliseconds at 10 Mbit/s: about one packet in a millisecond. Returns
/// whether the receiver acknowledges it at last, and how many bytes its number takes.
fn arrives(millis: u64) -> (bool, u8) {
    let mut pipe = connect(&spec(|_| ()), 1, Role::Client);
    pipe.rate = leobench_base::BitRate::from_bps(10_000_000);
    pipe.fate = Box::new(move |end, number, _| {
        let is_late = (end, number) == (SENDER, LATE);
        Some(SimDuration::from_millis(if is_late { millis } else { 0 }))
    });
    pipe.write(0, 1_500_000);
    pipe.deliver(1_500_000);
    let number = pipe.passed[SENDER][LATE].packets[0].header.number();
    let frames = pipe.passed[RECEIVER].iter().flat_map(|passed| &passed.packets[0].frames);
    let covers = |frame: &Frame| match frame {
        Frame::Ack(ack) => {
            ack.ranges.iter().any(|range| (range.smallest..=range.largest).contains(&number.value))
        }
        _ => false,
    };
    (frames.into_iter().any(covers), number.len)
}

/// RFC 9000 section 17.1: a number is expanded correctly unless many larger ones came first. RFC 9001 section 5.3: it is part
/// of the nonce, so a packet with another one is discarded.
#[test]
fn a_packet_behind_too_many_larger_numbers_is_discarded() {
    assert_eq!(arrives(50), (true, 1));
    assert_eq!(arrives(400), (false, 1));
}
