//! Limits (RFC 9000 section 4).

use leobench_base::StreamIndex;

use super::*;

/// Frames of a packet that are not STREAM frames.
fn control(packet: &Packet) -> Vec<Frame> {
    let is_control = |frame: &&Frame| !matches!(frame, Frame::Stream { .. });
    packet.frames.iter().filter(is_control).cloned().collect()
}

#[test]
fn the_connections_limit_is_shared_and_moves_on() {
    let flow = Setup { flow_streams: 2, scheduler: scheduler("fq"), ..Setup::default() };
    let server = Setup {
        stream_window: ReceiveWindow::Unlimited,
        connection_window: ReceiveWindow::Fixed(1_600),
        ..Setup::default()
    };
    let mut pair = Pair::new(&flow, &server);
    for stream in [0, 1] {
        pair.write(CLIENT, stream, 2_000);
    }
    let first = pair.packet(CLIENT, 1_000).unwrap();
    // 994 bytes, so that 606 are left, which both streams share.
    assert_eq!(data(&first), [(2, 0, 497, false), (6, 0, 497, false)]);
    let second = pair.packet(CLIENT, 1_000).unwrap();
    let sizes: Vec<_> = data(&second).iter().map(|frame| frame.2).collect();
    assert_eq!(sizes.iter().sum::<u64>(), 606);
    assert!(sizes[0].abs_diff(sizes[1]) < 20, "{sizes:?}");
    assert!(pair.ends[CLIENT].is_blocked() && !pair.ends[CLIENT].has_data());
    // Section 4.1: "A sender SHOULD send a STREAM_DATA_BLOCKED or DATA_BLOCKED frame". It goes with the last data.
    assert_eq!(control(&second), [Frame::DataBlocked(1_600)]);
    assert!(pair.packet(CLIENT, 1_000).is_none(), "once per limit");
    pair.ends[CLIENT].on_lost(&SentFrame::DataBlocked);
    let again = pair.packet(CLIENT, 1_000).unwrap();
    assert_eq!(control(&again), [Frame::DataBlocked(1_600)]);
    pair.deliver(CLIENT, &first);
    let limit = pair.packet(SERVER, 1_000).unwrap();
    assert_eq!(control(&limit), [Frame::MaxData(1_600 + 994)]);
    pair.deliver(CLIENT, &second);
    // What is lost is sent with the value of that time.
    pair.on_lost(SERVER, &limit);
    let later = pair.packet(SERVER, 1_000).unwrap();
    assert_eq!(control(&later), [Frame::MaxData(3_200)]);
    pair.deliver(SERVER, &later);
    pair.deliver(SERVER, &limit);
    pair.on_lost(CLIENT, &again);
    assert!(pair.ends[CLIENT].has_data() && !pair.ends[CLIENT].is_blocked());
    pair.settle(1_000);
    assert_eq!(pair.ends[SERVER].totals().received, 4_000);
}

#[test]
fn a_streams_limit_holds_it_alone() {
    let flow = Setup { flow_streams: 2, ..Setup::default() };
    let server = Setup { stream_window: ReceiveWindow::Fixed(300), ..Setup::default() };
    let mut pair = Pair::new(&flow, &server);
    pair.write(CLIENT, 0, 1_000);
    pair.write(CLIENT, 1, 200);
    // What the limit cuts from stream 0 goes to stream 1 in the same packet.
    let first = pair.packet(CLIENT, 900).unwrap();
    assert_eq!(data(&first), [(2, 0, 300, false), (6, 0, 200, false)]);
    let buffer = pair.ends[CLIENT].send_buffer().unwrap();
    assert!(!buffer.is_occupied(StreamIndex::FIRST) && buffer.backlog() == 700);
    assert_eq!(control(&first), [Frame::StreamDataBlocked { id: StreamId(2), limit: 300 }]);
    pair.deliver(CLIENT, &first);
    let limits = pair.packet(SERVER, 900).unwrap();
    let limit = |id, limit| Frame::MaxStreamData { id: StreamId(id), limit };
    assert_eq!(control(&limits), [limit(2, 600), limit(6, 500)]);
    pair.deliver(SERVER, &limits);
    assert_eq!(data(&pair.packet(CLIENT, 900).unwrap()), [(2, 300, 300, false)]);
}

#[test]
fn data_written_to_a_blocked_stream_is_announced() {
    let server = Setup { stream_window: ReceiveWindow::Fixed(100), ..Setup::default() };
    let mut pair = Pair::new(&Setup { flow_streams: 1, ..Setup::default() }, &server);
    pair.write(CLIENT, 0, 100);
    pair.packet(CLIENT, 900).unwrap();
    assert!(!pair.ends[CLIENT].has_pending() && !pair.ends[CLIENT].is_blocked());
    pair.write(CLIENT, 0, 1);
    assert!(pair.ends[CLIENT].is_blocked());
    let blocked = pair.packet(CLIENT, 900).unwrap();
    assert_eq!(control(&blocked), [Frame::StreamDataBlocked { id: StreamId(2), limit: 100 }]);
}

#[test]
fn no_limit_is_sent_where_none_matters_any_more() {
    let server = Setup::windows(1_000);
    let mut pair = Pair::new(&Setup::default(), &server);
    let id = pair.ends[CLIENT].open(UNIDIRECTIONAL).unwrap();
    assert!(pair.ends[CLIENT].write(id, 900));
    let first = pair.packet(CLIENT, 500).unwrap();
    assert!(pair.ends[CLIENT].end(id));
    let second = pair.packet(CLIENT, 1_000).unwrap();
    pair.deliver(CLIENT, &first);
    pair.deliver(CLIENT, &second);
    // Section 3.2: in "Size Known" there is no need for more credit. The connection's limit moves on.
    assert_eq!(control(&pair.packet(SERVER, 1_000).unwrap()), [Frame::MaxData(1_900)]);
    assert!(!pair.ends[SERVER].has_pending());
}

#[test]
fn discarded_data_returns_its_credit() {
    for resets in [false, true] {
        let mut pair = Pair::new(&Setup::default(), &Setup::windows(1_000));
        let id = pair.ends[CLIENT].open(UNIDIRECTIONAL).unwrap();
        assert!(pair.ends[CLIENT].write(id, 5_000));
        let first = pair.packet(CLIENT, 500).unwrap();
        let second = pair.packet(CLIENT, 500).unwrap();
        pair.deliver(CLIENT, &second);
        assert_eq!(pair.ends[SERVER].credit.consumed(), 0, "behind a gap");
        if resets {
            assert!(pair.ends[CLIENT].reset(id, 0));
            pair.settle(100);
        } else {
            let now = pair.now;
            assert!(pair.ends[SERVER].stop(now, id, 0));
        }
        assert_eq!(pair.ends[SERVER].credit.consumed(), pair.ends[SERVER].totals().received);
        pair.deliver(CLIENT, &first);
        pair.settle(1_000);
        let sent = pair.ends[CLIENT].totals().sent;
        assert_eq!(pair.ends[SERVER].totals().received, sent);
        assert_eq!(pair.ends[CLIENT].max_data, sent + 1_000);
        assert_eq!(pair.ends[SERVER].table.open_streams(), 0);
    }
}

#[test]
fn streams_beyond_the_peers_limit_wait_for_it() {
    let server = Setup { peer_streams: 2, ..Setup::default() };
    let mut pair = Pair::new(&Setup { flow_streams: 4, ..Setup::default() }, &server);
    assert_eq!(pair.ends[CLIENT].open(UNIDIRECTIONAL), None, "the flow goes first");
    for stream in 0..4 {
        pair.write(CLIENT, stream, 100);
    }
    let first = pair.packet(CLIENT, 1_000).unwrap();
    let blocked = Frame::StreamsBlocked { kind: UNIDIRECTIONAL, limit: 2 };
    assert_eq!((control(&first), data(&first).len()), (vec![blocked], 2));
    assert!(pair.ends[CLIENT].is_blocked());
    pair.deliver(CLIENT, &first);
    pair.on_acked(CLIENT, &first);
    assert!(!pair.ends[SERVER].has_pending(), "both are open");
    pair.ends[CLIENT].finish();
    pair.settle(1_000);
    assert_eq!(pair.logs[SERVER].finished.len(), 4);
    assert_eq!(pair.ends[CLIENT].table.open_streams(), 0);
    assert_eq!(pair.ends[CLIENT].may_open[1], 6, "as many again as were closed");
    assert_eq!(pair.ends[CLIENT].open(UNIDIRECTIONAL), Some(StreamId(18)));
}

#[test]
fn nothing_leaves_before_the_handshake_is_complete() {
    let flow = Setup { flow_streams: 1, ..Setup::default() };
    let mut pair = Pair::before_handshake(&flow, &Setup::default());
    pair.write(CLIENT, 0, 100);
    assert!(!pair.ends[CLIENT].has_pending());
    assert!(pair.packet(CLIENT, 1_200).is_none());
    assert_eq!(pair.ends[CLIENT].open(BIDIRECTIONAL), None);
    pair.connect();
    assert_eq!(data(&pair.packet(CLIENT, 1_200).unwrap()), [(2, 0, 100, false)]);
}

/// A transfer over a link with a round trip of 100 ms and no limit but the window: its rate is that of the window, and a tuned
/// window grows until the application is the limit.
#[test]
fn a_tuned_window_follows_the_rate() {
    let rate_per_round = 200_000;
    let auto = |initial| ReceiveWindow::Auto { initial, largest: 10_000_000 };
    let server =
        Setup { stream_window: auto(16_000), connection_window: auto(24_000), ..Setup::default() };
    let mut pair = Pair::new(&Setup { flow_streams: 1, ..Setup::default() }, &server);
    pair.ends[SERVER].set_rtt(SimDuration::from_millis(100));
    let mut sent = Vec::new();
    for round in 0..30 {
        pair.write(CLIENT, 0, rate_per_round);
        let before = pair.ends[CLIENT].totals().sent;
        let mut packets = Vec::new();
        while let Some(packet) = pair.packet(CLIENT, 1_200) {
            packets.push(packet);
        }
        sent.push(pair.ends[CLIENT].totals().sent - before);
        let spacing = 50_000 / (packets.len() as u64).max(1);
        for (index, packet) in packets.iter().enumerate() {
            pair.now = ms(100 * round + 50) + SimDuration::from_micros(index as u64 * spacing);
            pair.deliver(CLIENT, packet);
        }
        while let Some(packet) = pair.packet(SERVER, 1_200) {
            pair.deliver(SERVER, &packet);
        }
    }
    assert_eq!(sent[0], 16_000);
    assert!(sent[1] <= 2 * 16_000 && sent[2] > sent[1], "{sent:?}");
    assert!(sent[20..].iter().all(|bytes| *bytes >= rate_per_round), "{sent:?}");
    let window = pair.ends[SERVER].credit.window();
    assert!((rate_per_round..=10_000_000).contains(&window), "{window}");
}
