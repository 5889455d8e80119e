//! When packets are sent and arrive, and what becomes of them as the channel changes; all by hand calculation.

use leobench_base::Header;
use leobench_base::spec::{Limit, Probability};

use super::*;
use crate::loss::bernoulli::BernoulliSpec;
use crate::loss::{LossModel, LossProcess};
use crate::queue::Backlog;

#[test]
fn one_packets_delay_is_serialisation_and_propagation_to_the_nanosecond() {
    // (1280 + 4) x 8 bit / 45 Mbit/s = 228,266.67 ns; 10 ms of the link's own delay and 3 ms of the channel's.
    let config = LinkConfig { delay: SimDuration::from_millis(10), overhead: 4, ..plain() };
    let state = ChannelState { delay: SimDuration::from_millis(3), ..mbps(45) };
    assert_eq!(arrivals(config, &state, 1280, &[7 * MS]), [7 * MS + 228_266 + 13 * MS]);
}

#[test]
fn back_to_back_packets_carry_the_remainder_and_idleness_forgets_it() {
    let config = || LinkConfig { overhead: 4, ..plain() };
    // Multiples of 228,266.67 ns, rounded down each, so that no rate is lost.
    let expected = [228_266, 456_533, 684_800, 913_066];
    assert_eq!(arrivals(config(), &mbps(45), 1280, &[0; 4]), expected);
    // A packet that comes after the line fell silent starts afresh.
    let sent = [0, 228_267, 228_267];
    assert_eq!(arrivals(config(), &mbps(45), 1280, &sent), [228_266, 456_533, 684_800]);
    // A packet that comes as the last one ends follows it without a gap.
    assert_eq!(arrivals(config(), &mbps(45), 1280, &[0, 228_266]), [228_266, 456_532]);
}

#[test]
fn overhead_may_be_negative_and_a_packet_takes_at_least_a_byte() {
    let config = |overhead| LinkConfig { overhead, ..plain() };
    assert_eq!(arrivals(config(-28), &mbps(8), 1028, &[0]), [MS]);
    assert_eq!(arrivals(config(-2000), &mbps(8), 1028, &[0]), [1_000]);
}

#[test]
fn a_scaled_link_takes_its_share_of_the_channel() {
    let config = LinkConfig { rate_scale: 0.25, ..plain() };
    assert_eq!(arrivals(config, &mbps(8), 1000, &[0]), [4 * MS]);
}

#[test]
fn larger_packets_than_the_mtu_are_dropped() {
    let mut bench = Bench::new(LinkConfig { mtu: Bytes::new(1500), ..plain() }, &mbps(8));
    bench.send(0, 0, 1500);
    bench.send(0, 1, 1501);
    bench.run(9 * MS);
    assert_eq!((bench.arrivals.len(), bench.drops), (1, vec![(1, Cause::MTU)]));
}

#[test]
fn the_queue_limit_leaves_out_the_packet_on_the_wire() {
    let mut bench = Bench::new(with_queue(&Limit::Packets(2)), &mbps(8));
    for id in 0..4 {
        bench.send(0, id, 1000);
    }
    assert_eq!(bench.drops, [(3, Cause::QUEUE)]);
    assert_eq!(bench.link.backlog(), Backlog { packets: 2, bytes: Bytes::new(2000) });
    assert_eq!(bench.link.in_flight(), 1);
    // As a transmission ends, the place it frees goes to a packet that comes at that instant.
    bench.send(MS, 4, 1000);
    bench.send(MS, 5, 1000);
    bench.run(9 * MS);
    let ids: Vec<u64> = bench.arrivals.iter().map(|(id, _)| *id).collect();
    assert_eq!((ids, bench.drops.len()), (vec![0, 1, 2, 4], 2));
}

#[test]
fn a_change_of_rate_does_not_preempt_the_packet_on_the_wire() {
    // 1000 bytes take 1 ms at 8 Mbit/s and 10 ms at 0.8.
    let slow = ChannelState::at_rate(BitRate::from_bps(800_000), "slow");
    let mut bench = Bench::new(plain(), &mbps(8));
    for id in 0..3 {
        bench.send(0, id, 1000);
    }
    bench.change(MS / 2, &slow);
    bench.change(2 * MS, &mbps(8));
    bench.run(99 * MS);
    assert_eq!(bench.arrivals, [(0, MS), (1, 11 * MS), (2, 12 * MS)]);
}

#[test]
fn a_packet_that_starts_as_the_rate_changes_sees_the_new_rate() {
    let mut bench = Bench::new(plain(), &mbps(8));
    bench.send(0, 0, 1000);
    bench.send(0, 1, 1000);
    bench.change(MS, &mbps(80));
    bench.run(99 * MS);
    assert_eq!(bench.arrivals, [(0, MS), (1, MS + MS / 10)]);
}

#[test]
fn a_rate_of_zero_holds_packets_and_resumes_by_itself() {
    let mut bench =
        Bench::new(LinkConfig { delay: SimDuration::from_millis(5), ..plain() }, &mbps(8));
    bench.send(0, 0, 1000);
    bench.send(0, 1, 1000);
    bench.change(MS / 2, &mbps(0));
    bench.send(2 * MS, 2, 1000);
    bench.run(50 * MS);
    assert_eq!(bench.arrivals, [(0, 6 * MS)]);
    assert_eq!((bench.link.next_wake(), bench.link.backlog().packets), (None, 2));
    bench.change(100 * MS, &mbps(8));
    bench.run(200 * MS);
    assert_eq!(bench.arrivals[1..], [(1, 106 * MS), (2, 107 * MS)]);
    assert!(bench.drops.is_empty());
}

#[test]
fn a_link_that_is_down_drops_what_arrives_and_keeps_what_waits() {
    let down = ChannelState { up: false, ..mbps(8) };
    let mut bench =
        Bench::new(LinkConfig { delay: SimDuration::from_millis(5), ..plain() }, &mbps(8));
    for id in 0..3 {
        bench.send(0, id, 1000);
    }
    bench.change(MS + MS / 2, &down);
    bench.send(2 * MS, 3, 1000);
    bench.run(50 * MS);
    // 0 propagates and 1 is on the wire as the link goes down; both arrive. 2 waits; 3 came too late.
    assert_eq!(bench.arrivals, [(0, 6 * MS), (1, 7 * MS)]);
    assert_eq!(bench.drops, [(3, Cause::DOWN)]);
    bench.change(100 * MS, &mbps(8));
    bench.run(200 * MS);
    assert_eq!(bench.arrivals[2..], [(2, 106 * MS)]);
}

#[test]
fn packets_overtake_only_where_asked_to() {
    let delays = |bench: &mut Bench| {
        for id in 0..3 {
            bench.send(0, id, 1000);
        }
        // Sent at 1, 2 and 3 ms, with 20, 20 and 10 ms to go; another at 30 ms.
        bench.change(2 * MS + 1, &ChannelState { delay: SimDuration::from_millis(10), ..mbps(8) });
        bench.send(29 * MS, 3, 1000);
        bench.run(99 * MS);
    };
    let state = ChannelState { delay: SimDuration::from_millis(20), ..mbps(8) };
    let mut bench = Bench::new(plain(), &state);
    delays(&mut bench);
    assert_eq!(bench.arrivals, [(0, 21 * MS), (1, 22 * MS), (2, 22 * MS), (3, 40 * MS)]);
    let mut bench = Bench::new(LinkConfig { overtaking: true, ..plain() }, &state);
    delays(&mut bench);
    assert_eq!(bench.arrivals, [(2, 13 * MS), (0, 21 * MS), (1, 22 * MS), (3, 40 * MS)]);
}

#[test]
fn packets_that_arrive_together_stay_in_order() {
    // Sent at 1, 2 and 3 ms, with 20, 20 and 18 ms to go: the third arrives with the first.
    let state = |millis| ChannelState { delay: SimDuration::from_millis(millis), ..mbps(8) };
    let mut bench = Bench::new(LinkConfig { overtaking: true, ..plain() }, &state(20));
    for id in 0..3 {
        bench.send(0, id, 1000);
    }
    bench.change(2 * MS + 1, &state(18));
    bench.run(99 * MS);
    assert_eq!(bench.arrivals, [(0, 21 * MS), (2, 21 * MS), (1, 22 * MS)]);
}

#[test]
fn a_late_driver_sees_the_same_packets() {
    let mut bench =
        Bench::new(LinkConfig { delay: SimDuration::from_millis(5), ..plain() }, &mbps(8));
    for id in 0..3 {
        bench.link.enqueue(at(0), packet(id, 1000), &mut bench.out);
    }
    // Not woken at 1 and 2 ms, the link still starts the second packet at 1 ms and the third at 2 ms.
    bench.link.set_channel(at(2 * MS + 1), &mbps(0), &mut bench.out);
    bench.link.advance(at(8 * MS), &mut bench.out);
    assert_eq!(bench.out.arrivals.len(), 3);
    assert_eq!(bench.link.queue_delay().max(), Some(2 * MS));
}

#[test]
fn the_counters_add_up() {
    let config =
        LinkConfig { overhead: 10, mtu: Bytes::new(2000), ..with_queue(&Limit::Packets(1)) };
    let mut bench = Bench::new(config, &mbps(8));
    for id in 0..3 {
        bench.send(0, id, 990);
    }
    bench.send(0, 3, 3000);
    bench.change(2 * MS, &ChannelState { up: false, ..mbps(8) });
    bench.send(3 * MS, 4, 500);
    let counters = bench.link.counters(at(3 * MS));
    let tally = |packets, bytes| crate::Tally { packets, bytes: Bytes::new(bytes) };
    assert_eq!(counters.enqueued, tally(5, 3 * 990 + 3500));
    assert_eq!(counters.sent, tally(2, 2 * 990));
    assert_eq!(counters.delivered, tally(2, 2 * 990));
    assert_eq!(counters.wire_bytes, Bytes::new(2000));
    assert_eq!(counters.capacity_bits, 16_000);
    let dropped: Vec<u64> =
        Cause::OF_LINKS.into_iter().map(|cause| counters.dropped.of(cause).bytes.get()).collect();
    assert_eq!((dropped, counters.dropped_packets()), (vec![990, 0, 500, 3000], 3));
    assert_eq!(bench.link.queue_delay().mean(), Some(0.5 * MS as f64));
}

#[test]
fn capacity_is_the_rate_over_the_time_the_link_is_up() {
    let mut bench = Bench::new(plain(), &mbps(10));
    let second = 1000 * MS;
    bench.change(second, &mbps(0));
    bench.change(2 * second, &ChannelState { up: false, ..mbps(20) });
    bench.change(3 * second, &mbps(5));
    // A change of delay alone is no change of rate.
    bench.change(3 * second + 1, &ChannelState { delay: SimDuration::from_millis(1), ..mbps(5) });
    assert_eq!(bench.link.counters(at(4 * second)).capacity_bits, 15_000_000);
    assert_eq!(bench.link.counters(at(4 * second + second / 2)).capacity_bits, 17_500_000);
}

/// The packets of 1000 that a link loses.
fn lost(loss: Option<f64>, state_loss: f64) -> Vec<u64> {
    let rng = RngTree::new(3);
    let process = |probability| {
        BernoulliSpec { probability: Probability::new(probability).unwrap() }.build(&rng)
    };
    let config = LinkConfig { loss: loss.map(process), ..plain() };
    let mut bench = Bench::new(config, &ChannelState { loss: state_loss, ..mbps(8) });
    for id in 0..1000 {
        bench.send(0, id, 1000);
    }
    bench.run(2000 * MS);
    assert_eq!(bench.arrivals.len() + bench.drops.len(), 1000);
    assert!(bench.drops.iter().all(|(_, cause)| *cause == Cause::CHANNEL));
    bench.drops.into_iter().map(|(id, _)| id).collect()
}

#[test]
fn loss_of_the_state_and_of_the_process_are_independent() {
    assert_eq!(lost(None, 0.0).len(), 0);
    assert_eq!(lost(None, 1.0).len(), 1000);
    assert_eq!(lost(Some(1.0), 0.0).len(), 1000);
    let (process, state, both) = (lost(Some(0.1), 0.0), lost(None, 0.1), lost(Some(0.1), 0.1));
    assert_ne!(process, state);
    let mut union: Vec<u64> = process.into_iter().chain(state).collect();
    union.sort_unstable();
    union.dedup();
    assert_eq!(both, union);
}

#[test]
fn the_loss_process_is_told_when_the_transmission_ends() {
    /// Loses what ends between 1.5 and 2.5 ms.
    struct Window;
    impl LossProcess for Window {
        fn lost(&mut self, now: SimTime, _packet: &Header) -> bool {
            (1_500_000..2_500_000).contains(&now.as_nanos())
        }
    }
    // All three come at once, take 1 ms each, and propagate for 10 ms.
    let config =
        LinkConfig { loss: Some(Box::new(Window)), delay: SimDuration::from_millis(10), ..plain() };
    let mut bench = Bench::new(config, &mbps(8));
    for id in 0..3 {
        bench.send(0, id, 1000);
    }
    // Looked at long afterwards, so that the time of the call is not the time of the loss.
    bench.link.advance(at(100 * MS), &mut bench.out);
    bench.collect(at(100 * MS));
    assert_eq!(bench.drops, [(1, Cause::CHANNEL)]);
}
