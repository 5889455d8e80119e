//! A packet costs the same however many streams are idle and however much is in flight: by the number of streams that are
//! looked up for it, and of ranges that are kept.

use super::super::table::lookups;
use super::*;

/// Look-ups for a packet sent, received and acknowledged, with a flow of `streams`, of which two are busy, and `in_flight` packets
/// unacknowledged.
fn cost(streams: usize, in_flight: usize) -> f64 {
    let client = Setup { flow_streams: streams, ..Setup::default() };
    let server = Setup { peer_streams: streams as u64, ..Setup::default() };
    let mut pair = Pair::new(&client, &server);
    let mut flight = std::collections::VecDeque::new();
    let send = |pair: &mut Pair, flight: &mut std::collections::VecDeque<Packet>| {
        for stream in [0, streams - 1] {
            pair.write(CLIENT, stream, 1_000);
        }
        for _ in 0..2 {
            let packet = pair.packet(CLIENT, 1_200).unwrap();
            pair.deliver(CLIENT, &packet);
            flight.push_back(packet);
        }
    };
    while flight.len() < in_flight {
        send(&mut pair, &mut flight);
    }
    let before = lookups();
    for step in 0..500 {
        send(&mut pair, &mut flight);
        for _ in 0..2 {
            let packet = flight.pop_front().unwrap();
            // Every fiftieth is lost.
            if step % 50 == 0 {
                pair.on_lost(CLIENT, &packet);
            } else {
                pair.on_acked(CLIENT, &packet);
            }
        }
    }
    (lookups() - before) as f64 / 1_000.0
}

#[test]
fn idle_streams_and_bytes_in_flight_cost_nothing() {
    let least = cost(2, 10);
    assert!(least > 1.0, "the count counts");
    for (streams, in_flight) in [(1_000, 10), (20_000, 10), (2, 10_000), (1_000, 10_000)] {
        let cost = cost(streams, in_flight);
        assert!(cost <= least + 0.5, "{streams} streams, {in_flight} packets: {cost}, not {least}");
    }
}

/// Acknowledgements in order leave nothing behind, and behind a loss one range per gap.
#[test]
fn ranges_are_kept_for_gaps_only() {
    let mut pair = Pair::new(&Setup { flow_streams: 1, ..Setup::default() }, &Setup::default());
    pair.write(CLIENT, 0, 10_000_000);
    let packets: Vec<_> = (0..5_000).map(|_| pair.packet(CLIENT, 1_200).unwrap()).collect();
    for (number, packet) in packets.iter().enumerate() {
        if number % 1_000 != 0 {
            pair.deliver(CLIENT, packet);
            pair.on_acked(CLIENT, packet);
        }
    }
    let id = StreamId(2);
    assert_eq!(pair.ends[CLIENT].table.send(id).unwrap().ranges(), 5);
    assert_eq!(pair.ends[SERVER].table.receive(id).unwrap().ranges(), 5);
    for packet in packets.iter().step_by(1_000) {
        pair.deliver(CLIENT, packet);
        pair.on_acked(CLIENT, packet);
    }
    assert_eq!(pair.ends[CLIENT].table.send(id).unwrap().ranges(), 0);
    assert_eq!(pair.ends[SERVER].table.receive(id).unwrap().ranges(), 0);
}
