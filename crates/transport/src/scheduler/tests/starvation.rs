//! Tests which schedulers never starve a stream.

use super::*;

/// Packets until a message of stream 0 has left, while two other streams are written more than the link can carry (or
/// as much as it carries, once they have `ahead` messages waiting); `None` if that takes more than 2,000.
fn packets_until_served(text: &str, ahead: u64, arrivals: u64) -> Option<usize> {
    let stream = |index| Attributes {
        urgency: if index == 0 { 5 } else { 3 },
        deadline: Some(SimDuration::from_nanos(5_000)),
        ..Attributes::default()
    };
    let attributes: Vec<_> = (0..3).map(stream).collect();
    let mut harness = Harness::new(&spec(text), &attributes, 3);
    for message in 0..ahead {
        harness.write(1 + message as usize % 2, 1_000);
    }
    harness.write(0, 1_000);
    (1..=2_000).find(|packet| {
        for message in 0..arrivals {
            harness.write(1 + (message + *packet as u64) as usize % 2, 1_000);
        }
        harness.send(1_012);
        harness.follow(&Operation::Wait(1_000), |_, _, _| ());
        harness.streams.buffer().streams()[StreamIndex::FIRST].backlog() == 0
    })
}

#[test]
fn some_serve_every_stream_even_in_overload() {
    for (text, most) in [
        ("rr", 3),
        ("fq", 4),
        ("fq surplus=none", 4),
        ("wfq weights=1,1,1", 4),
        ("wfq weights=1,4,4", 10),
        // First come, first served: the 20 messages ahead.
        ("max_delay", 21),
        ("edf", 21),
    ] {
        let packets = packets_until_served(text, 20, 3);
        assert!(packets.is_some_and(|packets| packets <= most), "{text}: {packets:?}");
    }
}

#[test]
fn sojourn_times_serve_every_stream_while_the_others_are_stable() {
    // The sums of the others stay where they are, that of the one message grows.
    for text in ["stbp", "stbp per=batch"] {
        assert!(packets_until_served(text, 20, 1).is_some(), "{text}");
    }
    // In overload, they grow faster than its own.
    assert_eq!(packets_until_served("stbp", 20, 3), None);
}

#[test]
fn back_pressure_and_priority_let_streams_starve() {
    for text in ["bp", "priority"] {
        assert_eq!(packets_until_served(text, 20, 1), None, "{text}");
    }
    // They serve the remaining capacity.
    for text in ["bp", "priority"] {
        assert!(packets_until_served(text, 20, 0).is_some(), "{text}");
    }
}

#[test]
fn back_pressure_keeps_draining_buffers_together() {
    let mut harness = Harness::new(&spec("bp"), &[Attributes::default(); 2], 1);
    harness.write(0, 300_000);
    harness.write(1, 200_000);
    let mut difference = 100_000;
    while harness.streams.buffer().backlog() > 0 {
        harness.send(1_200);
        let [one, other] = [0, 1]
            .map(|stream| harness.streams.buffer().streams()[StreamIndex::from(stream)].backlog());
        assert!(one.abs_diff(other) <= difference.max(1_200), "{one} and {other}");
        difference = one.abs_diff(other);
    }
    assert!(difference <= 1_200);
}

#[test]
fn back_pressure_keeps_equal_buffers_equal() {
    let mut harness = Harness::new(&spec("bp"), &[Attributes::default(); 2], 1);
    harness.write(0, 500_000);
    harness.write(1, 500_000);
    while harness.streams.buffer().backlog() > 0 {
        harness.send(1_200);
        let [one, other] = [0, 1]
            .map(|stream| harness.streams.buffer().streams()[StreamIndex::from(stream)].backlog());
        assert!(one.abs_diff(other) <= 1_200, "{one} and {other}");
    }
}
