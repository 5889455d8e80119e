//! Packets carry exactly the scheduler's choice, to the last byte.

use leobench_base::StreamIndex;
use leobench_base::varint::varint_size;
use leobench_transport::scheduler::{Multiplexer, Share, stream_header};
use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// As long as enough waits, packets are full, whatever their room; and they carry what a scheduler of their own chooses.
    #[test]
    fn packets_are_full_and_carry_the_schedulers_choice(
        name in prop::sample::select(vec!["rr", "fq", "bp", "stbp", "max_delay", "priority", "edf"]),
        streams in 1usize..20,
        rooms in prop::collection::vec(18u64..1_400, 1..60),
        sizes in prop::collection::vec(1u64..20_000, 1..60),
    ) {
        let setup = Setup { flow_streams: streams, scheduler: scheduler(name), ..Setup::default() };
        let mut pair = Pair::new(&setup, &Setup::default());
        let attributes = vec![Attributes::default(); streams];
        let rng = RngTree::new(1).child("scheduler");
        let mut plain = Multiplexer::new(&setup.scheduler, &attributes, &rng, Plugins::NONE).unwrap();
        for stream in (0..streams).map(StreamIndex::from) {
            plain.hold(stream, true);
        }
        for stream in (0..streams).map(StreamIndex::from) {
            plain.hold(stream, false);
        }
        for (stream, size) in sizes.into_iter().enumerate() {
            let message = Message { size: Bytes::new(size), created: pair.now };
            let stream = StreamIndex::from(stream % streams);
            pair.ends[CLIENT].push(stream, message);
            plain.push(stream, message);
        }
        for room in rooms {
            if plain.buffer().backlog() == 0 {
                break;
            }
            plain.schedule(pair.now, room).unwrap();
            let chosen: Vec<Share> = plain.shares().to_vec();
            let packet = pair.packet(CLIENT, room).unwrap();
            let sent: Vec<_> = data(&packet).iter().map(|frame| (frame.0 / 4, frame.2)).collect();
            let expected: Vec<_> =
                chosen.iter().map(|share| (share.stream.index() as u64, share.bytes)).collect();
            prop_assert_eq!(&sent, &expected);
            for share in chosen {
                plain.take(share.stream, share.bytes);
            }
            // Less room than the next stream's frame needs.
            let used: u64 = packet.frames.iter().map(Frame::size).sum();
            let next = (0..streams).map(StreamIndex::from).filter(|stream| plain.buffer().is_occupied(*stream));
            let next = next.map(|stream| {
                let offset = plain.buffer().streams()[stream].taken();
                stream_header(4 * stream.index() as u64 + 2, offset)
            });
            let least = next.max().map_or(room, |header| header.max(1));
            prop_assert!(room - used <= least, "{} left of {room}", room - used);
        }
    }
}

#[test]
fn a_single_stream_fills_every_packet_to_the_last_byte() {
    let mut pair = Pair::new(&Setup { flow_streams: 1, ..Setup::default() }, &Setup::default());
    pair.write(CLIENT, 0, 3_000_000);
    for room in (3..2_000).rev() {
        let offset = pair.ends[CLIENT].totals().sent;
        if room <= 2 + varint_size(offset) {
            break;
        }
        let packet = pair.packet(CLIENT, room).unwrap();
        assert_eq!(packet.frames.iter().map(Frame::size).sum::<u64>(), room);
    }
}

/// Beside a retransmission, the rest of the packet goes to new data.
#[test]
fn the_room_beside_a_retransmission_is_used() {
    for room in [1_100, 107, 111] {
        let mut pair = Pair::new(&Setup { flow_streams: 2, ..Setup::default() }, &Setup::default());
        pair.write(CLIENT, 0, 100);
        let lost = pair.packet(CLIENT, 1_200).unwrap();
        pair.write(CLIENT, 1, 10_000);
        pair.on_lost(CLIENT, &lost);
        let packet = pair.packet(CLIENT, room).unwrap();
        assert_eq!(packet.frames.iter().map(Frame::size).sum::<u64>(), room);
        assert_eq!(data(&packet), [(2, 0, 100, false), (6, 0, room - 106, false)]);
    }
}

/// A stream of the flow and others: the others take turns behind it.
#[test]
fn other_streams_take_turns() {
    let mut pair = Pair::new(&Setup::default(), &Setup::default());
    let ids: Vec<_> = (0..3).map(|_| pair.ends[CLIENT].open(BIDIRECTIONAL).unwrap()).collect();
    for id in &ids {
        assert!(pair.ends[CLIENT].write(*id, 1_500));
    }
    let first: Vec<_> = (0..6).map(|_| data(&pair.packet(CLIENT, 500).unwrap())[0].0).collect();
    assert_eq!(first, [0, 4, 8, 0, 4, 8]);
}
