//! Overlaps: a link has another way, and what was on it goes on over the former one.

use super::*;
use crate::access::MediumAccess;
use crate::link::{AfterOverlap, LinkCounters};

/// 1 Mbit/s: a packet of 1,000 B takes 8 ms. The way is 20 ms long, then another one of 5 ms and 8 Mbit/s.
fn handed_over(after: AfterOverlap, overlap_ms: u64) -> (Vec<(u64, u64)>, Vec<u64>, LinkCounters) {
    handed_over_with(None, after, overlap_ms)
}

fn handed_over_with(
    access: Option<Box<dyn MediumAccess>>,
    after: AfterOverlap,
    overlap_ms: u64,
) -> (Vec<(u64, u64)>, Vec<u64>, LinkCounters) {
    let state = |rate, delay| ChannelState {
        delay: SimDuration::from_millis(delay),
        ..ChannelState::at_rate(BitRate::from_bps(rate), "way")
    };
    let config = LinkConfig { overtaking: true, access, ..plain() };
    let mut link = Link::new(config, &state(1_000_000, 20));
    let mut out = LinkOutput::default();
    let ms = |millis: u64| SimTime::ZERO + SimDuration::from_millis(millis);
    // Packets 0 to 3 leave at 8, 16, 24 and 32 ms.
    for id in 0..4 {
        link.enqueue(ms(0), packet(id, 1_000), &mut out);
    }
    link.advance(ms(10), &mut out);
    link.begin_overlap(ms(10), &mut out);
    link.set_channel(ms(10), &state(8_000_000, 5), &mut out);
    // Packets 4 and 5 take the new way at once.
    for id in 4..6 {
        link.enqueue(ms(10), packet(id, 1_000), &mut out);
    }
    assert_eq!((link.backlog().packets, link.in_flight()), (3, 3));
    let (mut seen, mut ended) = (Vec::new(), false);
    for millis in 10..100 {
        if millis == 10 + overlap_ms && !ended {
            link.end_overlap(ms(millis), after, &mut out);
            ended = true;
        }
        link.advance(ms(millis), &mut out);
        seen.extend(out.arrivals.drain(..).map(|packet| (packet.meta.id, millis)));
    }
    let lost = out.fates.drops.iter().map(|drop| drop.packet.meta.id).collect();
    assert_eq!((link.backlog().packets, link.in_flight()), (0, 0));
    (seen, lost, link.counters(ms(100)))
}

/// Packet 0 is on its way at 10 ms, 1 on the wire, 2 and 3 wait: all go on as if nothing had happened, and 4 and 5, which take
/// 1 ms on the wire and 5 ms on the way, overtake them.
#[test]
fn what_is_on_the_link_goes_on_over_the_former_way() {
    let (seen, lost, counters) = handed_over(AfterOverlap::Drain, 50);
    assert_eq!(seen, [(4, 16), (5, 17), (0, 28), (1, 36), (2, 44), (3, 52)]);
    assert!(lost.is_empty());
    assert_eq!((counters.enqueued.packets, counters.delivered.packets), (6, 6));
    // 10 ms at 1 Mbit/s, 90 ms at 8 Mbit/s, and 50 ms more at 1 Mbit/s.
    assert_eq!(counters.capacity_bits, 10_000 + 720_000 + 50_000);
}

/// The overlap ends at 18 ms: 1 has left the wire, 2 is on it, 3 waits.
#[test]
fn at_its_end_what_is_left_takes_the_new_way_or_is_lost() {
    let (seen, lost, counters) = handed_over(AfterOverlap::Drain, 8);
    assert_eq!(seen, [(4, 16), (5, 17), (3, 24), (0, 28), (1, 36), (2, 44)]);
    assert!(lost.is_empty());
    assert_eq!((counters.sent.packets, counters.wire_bytes.get()), (6, 6_000));
    let (seen, lost, _) = handed_over(AfterOverlap::DropWaiting(Cause::HANDOVER), 8);
    assert_eq!(seen, [(4, 16), (5, 17), (0, 28), (1, 36), (2, 44)]);
    assert_eq!(lost, [3]);
    let (seen, lost, counters) = handed_over(AfterOverlap::DropAll(Cause::HANDOVER), 8);
    assert_eq!(seen, [(4, 16), (5, 17)]);
    assert_eq!(lost, [3, 0, 1, 2]);
    let (dropped, delivered) = (counters.dropped_packets(), counters.delivered.packets);
    assert_eq!((dropped, delivered), (4, 2));
}

/// Packets wait 3 ms for the medium before they leave, over either way.
#[test]
fn packets_wait_for_the_medium_of_either_way() {
    struct Later;
    impl MediumAccess for Later {
        fn leaves(&mut self, ready: SimTime) -> SimTime {
            ready + SimDuration::from_millis(3)
        }
    }
    let (seen, ..) = handed_over_with(Some(Box::new(Later)), AfterOverlap::Drain, 50);
    assert_eq!(seen, [(4, 19), (5, 20), (0, 31), (1, 39), (2, 47), (3, 55)]);
}
