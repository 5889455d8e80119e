//! Shared helpers of the codec's tests: bytes in hexadecimal, and packets of any content.

mod examples;
mod malformed;
mod params;
mod rules;
mod whole;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Bytes from their hexadecimal digits; other characters are skipped.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// Integers of all four encoded sizes, equally often, and the borders between them.
fn varint() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..=0x3f_u64,
        0x40..=0x3fff_u64,
        0x4000..=0x3fff_ffff_u64,
        0x4000_0000..=MAX_VARINT,
        prop::sample::select(vec![
            0x3f,
            0x40,
            0x3fff,
            0x4000,
            0x3fff_ffff,
            0x4000_0000,
            MAX_VARINT
        ]),
    ]
}

fn content(longest: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..=longest).prop_map(Bytes::from)
}

fn connection_id(shortest: usize) -> impl Strategy<Value = ConnectionId> {
    vec(any::<u8>(), shortest..=20).prop_map(|bytes| ConnectionId::new(&bytes).unwrap())
}

fn direction() -> impl Strategy<Value = Directionality> {
    prop_oneof![Just(Directionality::Bidirectional), Just(Directionality::Unidirectional)]
}

/// Acknowledgements of any ranges, built from the lowest number upwards.
fn ack() -> impl Strategy<Value = Ack> {
    let ecn = (varint(), varint(), varint())
        .prop_map(|(ect0, ect1, ce)| Box::new(EcnCounts { ect0, ect1, ce }));
    let sizes = vec((0..200_000_u64, 2..200_000_u64), 1..40);
    (0..1_u64 << 60, sizes, varint(), prop::option::of(ecn)).prop_map(
        |(start, sizes, delay, ecn)| {
            let mut smallest = start;
            let mut ranges: Vec<_> = sizes
                .into_iter()
                .map(|(more, gap)| {
                    let range = AckRange { smallest, largest: smallest + more };
                    smallest = range.largest + gap;
                    range
                })
                .collect();
            ranges.reverse();
            Ack { ranges: ranges.into(), delay, ecn }
        },
    )
}

fn new_connection_id() -> impl Strategy<Value = NewConnectionId> {
    (varint(), varint(), connection_id(1), any::<[u8; 16]>()).prop_map(|(one, other, id, token)| {
        NewConnectionId {
            sequence: one.max(other),
            retire_prior_to: one.min(other),
            id,
            token: ResetToken(token),
        }
    })
}

fn path() -> impl Strategy<Value = u32> {
    varint().prop_map(|value| value as u32)
}

fn path_frame() -> impl Strategy<Value = PathFrame> {
    prop_oneof![
        (path(), varint()).prop_map(|(path, code)| PathFrame::Abandon { path, code }),
        (path(), varint(), any::<bool>()).prop_map(|(path, sequence, backup)| PathFrame::Status {
            path,
            sequence,
            backup
        }),
        (path(), new_connection_id())
            .prop_map(|(path, new)| PathFrame::NewConnectionId { path, new: Box::new(new) }),
        (path(), varint())
            .prop_map(|(path, sequence)| PathFrame::RetireConnectionId { path, sequence }),
        path().prop_map(PathFrame::MaxPathId),
        path().prop_map(PathFrame::PathsBlocked),
        (path(), varint()).prop_map(|(path, next)| PathFrame::CidsBlocked { path, next }),
    ]
}

/// Frames with content, whose fields depend on each other.
fn data_frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        (varint(), content(300)).prop_map(|(offset, data)| Frame::Crypto {
            offset: offset.min(MAX_VARINT - data.len() as u64),
            data
        }),
        (varint(), varint(), 0..3_000_u64, any::<bool>(), any::<bool>()).prop_map(
            |(id, offset, len, fin, explicit_len)| Frame::Stream {
                id: StreamId(id),
                offset: offset.min(MAX_VARINT - len),
                len,
                fin,
                explicit_len
            }
        ),
        (content(300), any::<bool>())
            .prop_map(|(data, explicit_len)| Frame::Datagram { data, explicit_len }),
        (any::<u8>(), content(300))
            .prop_map(|(first, rest)| { Frame::NewToken([&[first], &rest[..]].concat().into()) }),
        (varint(), prop::option::of(varint()), content(100)).prop_map(
            |(code, frame_type, reason)| {
                Frame::ConnectionClose(Box::new(Close { code, frame_type, reason }))
            }
        ),
    ]
}

/// Frames that carry only numbers.
fn number_frame() -> impl Strategy<Value = Frame> {
    let id = || varint().prop_map(StreamId);
    let streams = || varint().prop_map(|limit| limit.min(MAX_STREAMS));
    prop_oneof![
        (1..1_500_u64).prop_map(Frame::Padding),
        Just(Frame::Ping),
        Just(Frame::HandshakeDone),
        Just(Frame::ImmediateAck),
        (id(), varint(), varint()).prop_map(|(id, code, final_size)| Frame::ResetStream {
            id,
            code,
            final_size
        }),
        (id(), varint()).prop_map(|(id, code)| Frame::StopSending { id, code }),
        varint().prop_map(Frame::MaxData),
        (id(), varint()).prop_map(|(id, limit)| Frame::MaxStreamData { id, limit }),
        (direction(), streams()).prop_map(|(kind, limit)| Frame::MaxStreams { kind, limit }),
        varint().prop_map(Frame::DataBlocked),
        (id(), varint()).prop_map(|(id, limit)| Frame::StreamDataBlocked { id, limit }),
        (direction(), streams()).prop_map(|(kind, limit)| Frame::StreamsBlocked { kind, limit }),
        varint().prop_map(Frame::RetireConnectionId),
        any::<u64>().prop_map(Frame::PathChallenge),
        any::<u64>().prop_map(Frame::PathResponse),
        [varint(), varint(), varint(), varint()].prop_map(
            |[sequence, threshold, max_ack_delay, reordering]| Frame::AckFrequency {
                sequence,
                threshold,
                max_ack_delay,
                reordering
            }
        ),
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![
        number_frame(),
        data_frame(),
        ack().prop_map(Frame::Ack),
        (path(), ack()).prop_map(|(path, ack)| Frame::PathAck { path, ack }),
        new_connection_id().prop_map(|new| Frame::NewConnectionId(Box::new(new))),
        path_frame().prop_map(Frame::Path),
    ]
}

/// Frames that packets of this level may carry, in a sequence that has only one encoding: frames without a length stand
/// last, and no padding follows padding.
fn frames(level: Level) -> impl Strategy<Value = Frames> {
    vec(frame(), 1..8).prop_map(move |frames| {
        let mut kept = Frames::new();
        for frame in frames.into_iter().filter(|frame| frame.is_allowed_in(level)) {
            if let Some(Frame::Stream { explicit_len, .. } | Frame::Datagram { explicit_len, .. }) =
                kept.last_mut()
            {
                *explicit_len = true;
            }
            let doubles =
                matches!((kept.last(), &frame), (Some(Frame::Padding(_)), Frame::Padding(_)));
            if !doubles {
                kept.push(frame);
            }
        }
        if kept.is_empty() {
            kept.push(Frame::Ping);
        }
        kept
    })
}

fn number() -> impl Strategy<Value = Number> {
    (varint(), 1..=4_u8).prop_map(|(value, len)| Number { value, len })
}

/// Packets of all levels.
fn packet() -> impl Strategy<Value = Packet> {
    let ids = || (connection_id(0), connection_id(0));
    let initial = (ids(), content(100), number(), frames(Level::Initial)).prop_map(
        |((destination, source), token, number, frames)| Packet {
            header: Header::Initial(Box::new(LongHeader { destination, source, token, number })),
            frames,
        },
    );
    let handshake = (ids(), number(), frames(Level::Handshake)).prop_map(
        |((destination, source), number, frames)| {
            let token = Bytes::new();
            let header =
                Header::Handshake(Box::new(LongHeader { destination, source, token, number }));
            Packet { header, frames }
        },
    );
    let one_rtt = (connection_id(0), any::<[bool; 2]>(), number(), frames(Level::OneRtt)).prop_map(
        |(destination, [spin, key_phase], number, frames)| Packet {
            header: Header::OneRtt { destination, spin, key_phase, number },
            frames,
        },
    );
    let zero_rtt = (ids(), number(), frames(Level::ZeroRtt)).prop_map(
        |((destination, source), number, frames)| {
            let token = Bytes::new();
            let header =
                Header::ZeroRtt(Box::new(LongHeader { destination, source, token, number }));
            Packet { header, frames }
        },
    );
    prop_oneof![initial, handshake, one_rtt, zero_rtt]
}
