//! Violations by the peer, and the codes of RFC 9000 section 20.1 that answer them.

use super::*;
use crate::wire::{ErrorCode, MAX_STREAMS, MAX_VARINT};

/// A server that allows two streams of each kind, 100 bytes on each and 150 in all.
fn server() -> Streams {
    let setup = Setup {
        stream_window: ReceiveWindow::Fixed(100),
        connection_window: ReceiveWindow::Fixed(150),
        peer_streams: 2,
        ..Setup::default()
    };
    let mut streams = setup.build(Role::Server);
    let limits = TransportParameters {
        initial_max_data: 1_000,
        initial_max_stream_data_bidi_local: 1_000,
        initial_max_stream_data_bidi_remote: 1_000,
        initial_max_stream_data_uni: 1_000,
        initial_max_streams_bidi: 5,
        initial_max_streams_uni: 5,
        ..TransportParameters::default()
    };
    streams.on_peer_params(&limits);
    streams.on_established(ms(1));
    streams
}

fn stream(id: u64, offset: u64, len: u64, fin: bool) -> Frame {
    Frame::Stream { id: StreamId(id), offset, len, fin, explicit_len: true }
}

fn reset(id: u64, final_size: u64) -> Frame {
    Frame::ResetStream { id: StreamId(id), code: 0, final_size }
}

/// The code and the frame type with which the last of these frames is answered; the others are fine.
fn answer(frames: &[Frame]) -> Option<(ErrorCode, u64)> {
    let mut streams = server();
    let (last, before) = frames.split_last().unwrap();
    for frame in before {
        assert_eq!(streams.on_frame(ms(2), frame), Ok(()), "{frame:?}");
    }
    let error = streams.on_frame(ms(2), last).err()?;
    assert_eq!(error.frame_type, Some(last.frame_type()));
    Some((error.code, last.frame_type()))
}

fn code(frames: &[Frame]) -> Option<ErrorCode> {
    answer(frames).map(|(code, _)| code)
}

// The client opens streams 0, 4, ... (bidirectional) and 2, 6, ...; the server 1, 5, ... and 3, 7, ...

/// RFC 9000 section 4.1.
#[test]
fn data_beyond_a_limit_is_a_flow_control_error() {
    let error = Some(ErrorCode::FLOW_CONTROL_ERROR);
    assert_eq!(code(&[stream(2, 0, 100, false)]), None);
    assert_eq!(code(&[stream(2, 0, 101, false)]), error);
    assert_eq!(code(&[stream(2, 100, 1, false)]), error, "one byte, far off");
    assert_eq!(code(&[stream(2, 20, 80, false), stream(0, 60, 11, false)]), error, "151 in all");
    assert_eq!(code(&[stream(2, 50, 50, false), stream(0, 40, 10, false)]), None);
    // A reset counts with its final size (section 4.5).
    assert_eq!(code(&[reset(2, 101)]), error);
    assert_eq!(code(&[stream(2, 99, 1, false), reset(0, 51)]), error);
    assert_eq!(code(&[stream(2, 99, 1, false), reset(0, 50)]), None);
    // The same bytes twice count once.
    let twice = [stream(2, 20, 80, false), stream(2, 20, 80, false), stream(0, 0, 50, false)];
    assert_eq!(code(&twice), None);
}

/// RFC 9000 section 4.6.
#[test]
fn a_stream_beyond_the_limit_is_a_stream_limit_error() {
    let error = Some(ErrorCode::STREAM_LIMIT_ERROR);
    assert_eq!(code(&[stream(6, 0, 1, false)]), None);
    for id in [8, 10] {
        assert_eq!(code(&[stream(id, 0, 1, false)]), error);
        assert_eq!(code(&[reset(id, 0)]), error);
        assert_eq!(code(&[Frame::StreamDataBlocked { id: StreamId(id), limit: 0 }]), error);
    }
    assert_eq!(code(&[Frame::StopSending { id: StreamId(8), code: 0 }]), error);
    assert_eq!(code(&[Frame::MaxStreamData { id: StreamId(8), limit: 0 }]), error);
    // Section 19.14.
    let blocked = |kind, limit| [Frame::StreamsBlocked { kind, limit }];
    for kind in [BIDIRECTIONAL, UNIDIRECTIONAL] {
        assert_eq!(code(&blocked(kind, MAX_STREAMS + 1)), error);
        assert_eq!(code(&blocked(kind, MAX_STREAMS)), None);
    }
}

/// RFC 9000 sections 19.4, 19.5, 19.8, 19.10 and 19.13.
#[test]
fn a_frame_for_the_wrong_part_is_a_stream_state_error() {
    let error = Some(ErrorCode::STREAM_STATE_ERROR);
    let receiving = |id| {
        let blocked = Frame::StreamDataBlocked { id: StreamId(id), limit: 0 };
        [stream(id, 0, 1, false), reset(id, 0), blocked]
    };
    let sending = |id| {
        let stop = Frame::StopSending { id: StreamId(id), code: 0 };
        [stop, Frame::MaxStreamData { id: StreamId(id), limit: 2_000 }]
    };
    // Only the server sends on stream 3, and only the client on stream 2.
    for frame in receiving(3).into_iter().chain(sending(2)) {
        assert_eq!(code(std::slice::from_ref(&frame)), error, "{frame:?}");
    }
    // Streams 1 and 3 have not been opened by the server.
    for frame in receiving(1).into_iter().chain(sending(1)).chain(sending(3)) {
        assert_eq!(code(std::slice::from_ref(&frame)), error, "{frame:?}");
    }
    // Stream 0 may be opened by any of them.
    for frame in receiving(0).into_iter().chain(sending(0)) {
        assert_eq!(code(std::slice::from_ref(&frame)), None, "{frame:?}");
    }
    // Stream 1 may carry them once the server has opened it.
    for frame in receiving(1).into_iter().chain(sending(1)) {
        let mut streams = server();
        assert_eq!(streams.open(BIDIRECTIONAL), Some(StreamId(1)));
        assert_eq!(streams.on_frame(ms(2), &frame), Ok(()));
    }
}

/// RFC 9000 section 4.5.
#[test]
fn a_final_size_that_changes_is_a_final_size_error() {
    let error = Some(ErrorCode::FINAL_SIZE_ERROR);
    let known = stream(2, 20, 10, true);
    assert_eq!(code(&[known.clone(), stream(2, 30, 1, false)]), error, "data beyond it");
    assert_eq!(code(&[known.clone(), stream(2, 30, 1, true)]), error, "a larger one");
    assert_eq!(code(&[known.clone(), stream(2, 10, 10, true)]), error, "a smaller one");
    assert_eq!(code(&[known.clone(), reset(2, 29)]), error);
    assert_eq!(code(&[known.clone(), reset(2, 31)]), error);
    assert_eq!(code(&[stream(2, 20, 10, false), stream(2, 0, 29, true)]), error, "below data");
    assert_eq!(code(&[stream(2, 20, 10, false), reset(2, 29)]), error);
    assert_eq!(code(&[known.clone(), known.clone()]), None);
    assert_eq!(code(&[known.clone(), stream(2, 5, 25, false)]), None);
    assert_eq!(code(&[known, reset(2, 30)]), None);
}

/// RFC 9000 sections 19.8 and 19.11.
#[test]
fn an_impossible_number_is_a_frame_encoding_error() {
    let error = Some(ErrorCode::FRAME_ENCODING_ERROR);
    assert_eq!(code(&[stream(2, MAX_VARINT, 1, false)]), error);
    assert_eq!(code(&[stream(2, u64::MAX, 1, false)]), error, "no overflow");
    for kind in [BIDIRECTIONAL, UNIDIRECTIONAL] {
        assert_eq!(code(&[Frame::MaxStreams { kind, limit: MAX_STREAMS + 1 }]), error);
        assert_eq!(code(&[Frame::MaxStreams { kind, limit: MAX_STREAMS }]), None);
    }
}

#[test]
fn frames_for_closed_streams_are_ignored() {
    let mut streams = server();
    for frame in [stream(2, 0, 10, true), stream(6, 0, 10, true)] {
        assert_eq!(streams.on_frame(ms(2), &frame), Ok(()));
    }
    assert_eq!(streams.table.open_streams(), 0);
    for frame in [stream(2, 0, 10, true), reset(6, 10), stream(2, 90, 10, false)] {
        assert_eq!(streams.on_frame(ms(2), &frame), Ok(()));
    }
    assert_eq!((streams.table.open_streams(), streams.totals().received), (0, 20));
}
