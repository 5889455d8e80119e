//! The states of RFC 9000 section 3.

use super::super::{ReceiveState, SendState};
use super::*;

/// A pair, and a stream that the client has opened.
fn open(kind: Directionality) -> (Pair, StreamId) {
    let mut pair = Pair::new(&Setup::default(), &Setup::default());
    let id = pair.ends[CLIENT].open(kind).unwrap();
    (pair, id)
}

/// Figure 2, without a reset.
#[test]
fn a_sending_part_passes_from_ready_to_data_recvd() {
    let (mut pair, id) = open(UNIDIRECTIONAL);
    let state = |pair: &mut Pair| pair.ends[CLIENT].send_state(id);
    assert_eq!(state(&mut pair), Some(SendState::Ready));
    assert!(pair.ends[CLIENT].write(id, 100));
    assert_eq!(state(&mut pair), Some(SendState::Ready));
    let first = pair.packet(CLIENT, 1_200).unwrap();
    assert_eq!(state(&mut pair), Some(SendState::Send));
    assert!(pair.ends[CLIENT].write(id, 100) && pair.ends[CLIENT].end(id));
    assert_eq!(state(&mut pair), Some(SendState::Send));
    assert!(!pair.ends[CLIENT].write(id, 1) && !pair.ends[CLIENT].end(id));
    let second = pair.packet(CLIENT, 1_200).unwrap();
    assert_eq!(state(&mut pair), Some(SendState::DataSent));
    pair.on_acked(CLIENT, &second);
    assert_eq!(state(&mut pair), Some(SendState::DataSent));
    pair.on_lost(CLIENT, &first);
    let again = pair.packet(CLIENT, 1_200).unwrap();
    assert_eq!(state(&mut pair), Some(SendState::DataSent));
    pair.on_acked(CLIENT, &again);
    assert_eq!(state(&mut pair), None, "Data Recvd");
    assert_eq!(pair.logs[CLIENT].acked, [id]);
    assert!(!pair.ends[CLIENT].reset(id, 1), "too late");
}

#[test]
fn a_sending_part_is_reset_from_every_state_but_the_final_ones() {
    for sent in 0..3 {
        let (mut pair, id) = open(UNIDIRECTIONAL);
        assert!(pair.ends[CLIENT].write(id, 10));
        if sent > 1 {
            assert!(pair.ends[CLIENT].end(id));
        }
        let before = (sent > 0).then(|| pair.packet(CLIENT, 1_200).unwrap());
        assert!(pair.ends[CLIENT].reset(id, 5) && !pair.ends[CLIENT].reset(id, 6));
        assert_eq!(pair.ends[CLIENT].send_state(id), Some(SendState::ResetSent));
        assert!(!pair.ends[CLIENT].has_data());
        let packet = pair.packet(CLIENT, 1_200).unwrap();
        let final_size = if sent > 0 { 10 } else { 0 };
        assert_eq!(packet.frames[..], [Frame::ResetStream { id, code: 5, final_size }]);
        // Section 3.1: after the reset no STREAM frame is sent any more.
        if let Some(before) = &before {
            pair.on_lost(CLIENT, before);
        }
        assert!(!pair.ends[CLIENT].has_pending());
        // Section 13.3: it is sent until acknowledged, with the same values.
        pair.on_lost(CLIENT, &packet);
        let again = pair.packet(CLIENT, 1_200).unwrap();
        assert_eq!(again.frames, packet.frames);
        pair.deliver(CLIENT, &again);
        pair.on_acked(CLIENT, &again);
        assert_eq!(pair.ends[CLIENT].send_state(id), None, "Reset Recvd");
        assert_eq!(pair.logs[SERVER].resets, [(id, 5)]);
        pair.on_lost(CLIENT, &packet);
        assert!(!pair.ends[CLIENT].has_pending());
    }
}

/// Figure 3.
#[test]
fn a_receiving_part_passes_from_recv_to_data_read_or_reset_read() {
    for (resets, is_known) in [(false, true), (true, false), (true, true)] {
        let (mut pair, id) = open(UNIDIRECTIONAL);
        let state = |pair: &mut Pair| pair.ends[SERVER].receive_state(id);
        assert_eq!(state(&mut pair), None, "not known yet");
        assert!(pair.ends[CLIENT].write(id, 2_000));
        let first = pair.packet(CLIENT, 1_000).unwrap();
        if is_known {
            assert!(pair.ends[CLIENT].end(id));
        }
        let second = pair.packet(CLIENT, 1_200).unwrap();
        pair.deliver(CLIENT, &second);
        let expected = if is_known { ReceiveState::SizeKnown } else { ReceiveState::Recv };
        assert_eq!(state(&mut pair), Some(expected));
        assert_eq!(pair.logs[SERVER].opened, [id]);
        if resets {
            assert!(pair.ends[CLIENT].reset(id, 8));
            let reset = pair.packet(CLIENT, 1_200).unwrap();
            pair.deliver(CLIENT, &reset);
            assert_eq!((pair.logs[SERVER].finished.len(), state(&mut pair)), (0, None));
        }
        pair.deliver(CLIENT, &first);
        assert_eq!(state(&mut pair), None, "Data Read or Reset Read");
        let read = pair.logs[SERVER].read.get(&id).copied();
        assert_eq!(read, if resets { None } else { Some(2_000) });
        assert_eq!(pair.logs[SERVER].finished.len(), usize::from(!resets));
    }
}

/// Section 3.2: "Opening a stream with a given ID opens all lower-numbered streams of that type".
#[test]
fn a_stream_opens_those_before_it() {
    let mut pair = Pair::new(&Setup::default(), &Setup::default());
    let ids: Vec<_> = (0..3).map(|_| pair.ends[CLIENT].open(BIDIRECTIONAL).unwrap()).collect();
    assert!(pair.ends[CLIENT].write(ids[2], 1));
    pair.pass(CLIENT, 1_200).unwrap();
    assert_eq!(pair.logs[SERVER].opened, [StreamId(0), StreamId(4), StreamId(8)]);
    assert_eq!(pair.ends[SERVER].send_state(ids[0]), Some(SendState::Ready));
    assert_eq!(pair.ends[SERVER].receive_state(ids[0]), Some(ReceiveState::Recv));
    // Both ends may write; the stream is closed when both parts are.
    assert!(pair.ends[SERVER].write(ids[0], 50) && pair.ends[SERVER].end(ids[0]));
    pair.settle(1_200);
    assert_eq!(pair.logs[CLIENT].finished, [ids[0]]);
    assert_eq!(pair.ends[SERVER].send_state(ids[0]), None);
    assert_eq!(pair.ends[SERVER].receive_state(ids[0]), Some(ReceiveState::Recv));
    assert!(pair.ends[CLIENT].end(ids[0]));
    pair.settle(1_200);
    assert_eq!(pair.ends[SERVER].receive_state(ids[0]), None);
    assert_eq!([CLIENT, SERVER].map(|end| pair.ends[end].table.open_streams()), [2, 2]);
}

/// Section 3.5.
#[test]
fn a_stop_is_answered_by_a_reset_with_its_code() {
    for has_sent in [false, true] {
        let (mut pair, id) = open(BIDIRECTIONAL);
        assert!(pair.ends[CLIENT].write(id, 1));
        pair.pass(CLIENT, 1_200).unwrap();
        assert!(pair.ends[SERVER].write(id, 500));
        if has_sent {
            pair.packet(SERVER, 300).unwrap();
        }
        assert!(pair.ends[CLIENT].stop(pair.now, id, 77));
        assert!(!pair.ends[CLIENT].stop(pair.now, id, 78), "once");
        let lost = pair.packet(CLIENT, 1_200).unwrap();
        assert_eq!(lost.frames[..], [Frame::StopSending { id, code: 77 }]);
        pair.on_lost(CLIENT, &lost);
        let stop = pair.packet(CLIENT, 1_200).unwrap();
        assert_eq!(stop.frames, lost.frames);
        pair.deliver(CLIENT, &stop);
        pair.deliver(CLIENT, &lost);
        assert_eq!(pair.logs[SERVER].stopped, [(id, 77)]);
        assert!(!pair.ends[SERVER].has_data() && !pair.ends[SERVER].is_blocked());
        let reset = pair.packet(SERVER, 1_200).unwrap();
        let final_size = pair.logs[SERVER].sent.get(&id).copied().unwrap_or(0);
        assert_eq!(reset.frames[..], [Frame::ResetStream { id, code: 77, final_size }]);
        pair.deliver(SERVER, &reset);
        pair.on_lost(CLIENT, &stop);
        assert!(!pair.ends[CLIENT].has_pending(), "Reset Read: the stop is moot");
    }
}

/// Section 3.5: in "Data Sent", a reset is sent "instead of retransmitting the data".
#[test]
fn a_stream_sent_in_full_is_reset_only_if_something_is_lost() {
    for is_lost in [false, true] {
        let (mut pair, id) = open(UNIDIRECTIONAL);
        assert!(pair.ends[CLIENT].write(id, 100) && pair.ends[CLIENT].end(id));
        let packet = pair.packet(CLIENT, 1_200).unwrap();
        assert_eq!(
            pair.ends[CLIENT].on_frame(pair.now, &Frame::StopSending { id, code: 3 }),
            Ok(())
        );
        assert_eq!(pair.ends[CLIENT].send_state(id), Some(SendState::DataSent));
        assert!(!pair.ends[CLIENT].has_pending());
        if is_lost {
            pair.on_lost(CLIENT, &packet);
            let reset = pair.packet(CLIENT, 1_200).unwrap();
            assert_eq!(reset.frames[..], [Frame::ResetStream { id, code: 3, final_size: 100 }]);
        } else {
            pair.on_acked(CLIENT, &packet);
            assert_eq!(pair.ends[CLIENT].send_state(id), None);
        }
        pair.listen(CLIENT);
        assert_eq!(pair.logs[CLIENT].stopped, [(id, 3)]);
    }
}

/// Section 3.5: an end that has stopped a stream drops what comes of it, so that no end of it is told as if all had been read.
#[test]
fn a_stopped_stream_tells_its_receiver_nothing_more() {
    for resets in [false, true] {
        let (mut pair, id) = open(UNIDIRECTIONAL);
        assert!(pair.ends[CLIENT].write(id, 3_000));
        pair.pass(CLIENT, 1_000).unwrap();
        let read = pair.logs[SERVER].read[&id];
        assert!(pair.ends[SERVER].stop(pair.now, id, 3));
        if resets {
            assert!(pair.ends[CLIENT].reset(id, 4));
        } else {
            assert!(pair.ends[CLIENT].end(id));
        }
        while pair.pass(CLIENT, 1_000).is_some() {}
        assert_eq!(pair.ends[SERVER].receive_state(id), None, "the size is known");
        let log = &pair.logs[SERVER];
        assert_eq!((log.read[&id], log.finished.len(), log.resets.len()), (read, 0, 0));
    }
}

/// A stream of the flow that the peer stops: what waits for it waits no more, and blocks nothing.
#[test]
fn a_stopped_stream_of_the_flow_is_left_out() {
    let flow = Setup { flow_streams: 2, ..Setup::default() };
    let mut pair = Pair::new(&flow, &Setup::default());
    for stream in [0, 1] {
        pair.write(CLIENT, stream, 5_000);
    }
    pair.packet(CLIENT, 1_000).unwrap();
    let stop = Frame::StopSending { id: StreamId(2), code: 1 };
    assert_eq!(pair.ends[CLIENT].on_frame(pair.now, &stop), Ok(()));
    pair.write(CLIENT, 0, 100);
    let mut sent = 0;
    while let Some(packet) = pair.packet(CLIENT, 1_000) {
        let frames = data(&packet);
        assert!(frames.iter().all(|frame| frame.0 == 6), "{frames:?}");
        sent += frames.iter().map(|frame| frame.2).sum::<u64>();
    }
    assert_eq!(sent, 5_000);
    assert!(!pair.ends[CLIENT].is_blocked() && !pair.ends[CLIENT].has_pending());
}
