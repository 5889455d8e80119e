//! Links served by a trace of delivery opportunities.

use std::sync::Arc;

use super::*;
use crate::channel::Service;
use crate::channel::trace::Opportunities;

/// Opportunities of 1500 bytes at 2 and 5 ms, then at 7, 10, 12, 15 ms, and so on.
fn trace() -> ChannelState {
    let opportunities = Opportunities::new(&[2, 5], Bytes::new(1500), 0);
    ChannelState { service: Service::Opportunities(Arc::new(opportunities)), ..mbps(0) }
}

#[test]
fn packets_leave_at_opportunities_and_propagate() {
    let config = LinkConfig { delay: SimDuration::from_millis(1), ..plain() };
    // 1000 bytes and half of the next packet at 2 ms, the other half and the third at 5 ms; the last came too late
    // for what was left at 7 ms by one nanosecond.
    let sent = [0, 0, 0, 6 * MS, 7 * MS + 1];
    let expected = [3 * MS, 6 * MS, 6 * MS, 8 * MS, 11 * MS];
    assert_eq!(arrivals(config, &trace(), 1000, &sent), expected);
}

#[test]
fn a_packet_that_comes_with_an_opportunity_is_served_by_it() {
    assert_eq!(
        arrivals(plain(), &trace(), 700, &[2 * MS, 2 * MS, 2 * MS]),
        [2 * MS, 2 * MS, 5 * MS]
    );
}

#[test]
fn saturation_delivers_every_byte_on_offer() {
    let mut bench = Bench::new(plain(), &trace());
    for id in 0..2_000 {
        bench.send(0, id, 1000);
    }
    for millis in 1..=1_000 {
        bench.run(millis * MS);
        let capacity = bench.link.counters(at(millis * MS)).capacity_bits;
        let offered = 1500 * 8 * u128::from(millis / 5 * 2 + u64::from(millis % 5 >= 2));
        assert_eq!(capacity, offered);
        // All of it was used, but for the part of a packet that is still on the wire.
        assert_eq!(bench.arrivals.len() as u128, offered / 8_000);
    }
}

#[test]
fn a_scaled_link_gets_scaled_opportunities() {
    let config = LinkConfig { rate_scale: 0.5, ..plain() };
    let mut bench = Bench::new(config, &trace());
    bench.send(0, 0, 1500);
    bench.run(9 * MS);
    assert_eq!(bench.arrivals, [(0, 5 * MS)]);
    assert_eq!(bench.link.counters(at(5 * MS)).capacity_bits, 12_000);
}

#[test]
fn a_change_of_delay_leaves_the_place_in_the_trace() {
    let state = trace();
    let mut bench = Bench::new(plain(), &state);
    bench.send(0, 0, 1600);
    bench.send(0, 1, 1500);
    bench.change(3 * MS, &ChannelState { delay: SimDuration::from_millis(4), ..state });
    bench.run(99 * MS);
    // The opportunity at 5 ms finishes the first packet and begins the second, which the one at 7 ms finishes.
    assert_eq!(bench.arrivals, [(0, 9 * MS), (1, 11 * MS)]);
    assert_eq!(bench.link.counters(at(7 * MS)).capacity_bits, 36_000);
}

#[test]
fn an_opportunity_at_a_change_belongs_to_the_new_state() {
    let mut bench = Bench::new(plain(), &mbps(0));
    bench.send(0, 0, 1000);
    bench.change(5 * MS, &trace());
    assert_eq!(bench.link.counters(at(7 * MS)).capacity_bits, 24_000);
    bench.change(10 * MS, &mbps(8));
    assert_eq!(bench.link.counters(at(11 * MS)).capacity_bits, 24_000 + 8_000);
    assert_eq!(bench.arrivals, [(0, 5 * MS)]);
}
