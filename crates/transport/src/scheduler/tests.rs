//! What every stream scheduler must do, run on all of them.

use leobench_base::spec::{At, Spec};
use proptest::prelude::*;

use super::*;
use crate::buffer::{Attributes, Message};

/// A packet's room and its shares.
type Packet = (u64, Vec<Share>);

#[derive(Clone, Debug)]
enum Operation {
    Write(usize, u64),
    Send(u64),
}

fn any_operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (0usize..70, 1u64..4_000).prop_map(|(stream, size)| Operation::Write(stream, size)),
        (100u64..1_500).prop_map(Operation::Send),
    ]
}

/// Serves packets as the operations say, and checks each against what waits.
fn serve(spec: &SchedulerSpec, streams: usize, operations: &[Operation]) -> Vec<Packet> {
    let attributes = vec![Attributes::default(); streams];
    let mut streams = Multiplexer::new(spec, &attributes, &RngTree::new(1)).unwrap();
    let mut packets = Vec::new();
    for (now, operation) in (0..).map(SimTime::from_nanos).zip(operations) {
        match operation {
            Operation::Write(stream, size) => {
                let stream = stream % attributes.len();
                streams.push(stream, Message { size: *size, created: now });
            }
            Operation::Send(_) if streams.buffer().backlog() == 0 => {}
            Operation::Send(room) => {
                streams.schedule(now, *room).unwrap();
                check(streams.buffer(), *room, streams.shares());
                let shares = streams.shares().to_vec();
                for share in &shares {
                    streams.take(share.stream, share.bytes);
                }
                packets.push((*room, shares));
            }
        }
    }
    packets
}

/// Bytes of the frames of a packet, the last without a length if it fills the packet (RFC 9000 section 19.8).
fn frames(buffer: &SendBuffer, room: u64, shares: &[Share]) -> u64 {
    let mut used = 0;
    for share in shares {
        let offset = buffer.streams()[share.stream].taken();
        let header = frame_header(share.stream, offset);
        let fills = used + header + share.bytes == room;
        used += header + share.bytes + if fills { 0 } else { varint_size(share.bytes) };
    }
    used
}

fn check(buffer: &SendBuffer, room: u64, shares: &[Share]) {
    assert!(!shares.is_empty(), "a packet leaves empty with {} bytes waiting", buffer.backlog());
    let mut served = 0;
    for (index, share) in shares.iter().enumerate() {
        let waiting = buffer.streams()[share.stream].backlog();
        assert!((1..=waiting).contains(&share.bytes), "{share:?} of {waiting} waiting");
        assert!(shares[..index].iter().all(|other| other.stream != share.stream), "{shares:?}");
        served += share.bytes;
    }
    let used = frames(buffer, room, shares);
    assert!(used <= room, "{used} bytes in a packet of {room}: {shares:?}");
    // Work-conserving: only what no frame fits into stays empty while something waits.
    let empty = room - used;
    assert!(served == buffer.backlog() || empty <= SMALLEST_ROOM + LENGTH_RESERVE, "{empty} empty");
}

proptest! {
    #[test]
    fn every_scheduler_fills_packets_with_what_waits(
        streams in 1usize..70,
        operations in prop::collection::vec(any_operation(), 1..120),
    ) {
        for spec in SchedulerSpec::examples() {
            let packets = serve(&spec, streams, &operations);
            prop_assert_eq!(&packets, &serve(&spec, streams, &operations), "{}", spec.kind());
        }
    }
}

#[test]
fn every_scheduler_reads_back_what_it_writes() {
    for spec in SchedulerSpec::examples() {
        assert_eq!(SchedulerSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}

#[test]
fn round_robin_goes_around_and_passes_over_the_idle() {
    let mut operations: Vec<_> = [0, 1, 3].map(|stream| Operation::Write(stream, 10_000)).to_vec();
    operations.extend([const { Operation::Send(1_000) }; 7]);
    let packets = serve(&SchedulerSpec::default(), 5, &operations);
    let served: Vec<_> = packets.iter().map(|(_, shares)| shares[0].stream).collect();
    assert_eq!(served, [0, 1, 3, 0, 1, 3, 0]);
    assert!(packets.iter().all(|(_, shares)| shares.len() == 1));
}

#[test]
fn what_one_stream_leaves_goes_to_the_next() {
    let write = |(stream, size)| Operation::Write(stream, size);
    let mut operations: Vec<_> = [(0, 100), (1, 200), (2, 5_000)].map(write).to_vec();
    operations.push(Operation::Send(1_000));
    let packets = serve(&SchedulerSpec::default(), 3, &operations);
    // 2 + 2 bytes of header with a length of two bytes (at offset 0), 2 + 2 again, 2 for the frame that fills.
    let shares = [(0, 100), (1, 200), (2, 1_000 - 104 - 204 - 2)];
    assert_eq!(packets[0].1, shares.map(|(stream, bytes)| Share { stream, bytes }));
}
