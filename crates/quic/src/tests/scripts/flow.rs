//! Flow control (RFC 9000 section 4).

use leobench_base::spec::Window;

use super::*;

fn windows(setup: &mut Setup) {
    setup.spec.stream_window = Window::Bytes(Bytes::new(3_000));
    setup.spec.connection_window = Window::Bytes(Bytes::new(4_000));
}

/// RFC 9000 section 4.1: a sender stays within the limits, and ignores those that do not grow.
#[test]
fn a_stream_waits_for_its_limit() {
    connected(
        Role::Client,
        |setup| setup.params.initial_max_stream_data_uni = 3_000,
        "0    write 1000 x5
         0    > data 0-2: stream 2 0-3000
         0    > data 3: stream-data-blocked 2 3000
         100  < data: ack 0-3, max-stream-data 2 2000
         101  < data: max-stream-data 2 4000
         101  > data 4: ack 0-1, stream 2 3000-4000, stream-data-blocked 2 4000",
    );
}

/// RFC 9000 section 4.1, for the connection.
#[test]
fn the_connection_waits_for_its_limit() {
    connected(
        Role::Client,
        |setup| setup.params.initial_max_data = 3_000,
        "0    write 1000 x5
         0    > data 0-2: stream 2 0-3000
         0    > data 3: data-blocked 3000
         100  < data: ack 0-3, max-data 2999
         101  < data: max-data 5000
         101  > data 4: ack 0-1, stream 2 3000-4165
         101  > data 5: stream 2 4165-5000",
    );
}

/// RFC 9000 section 4.6: a stream waits until the peer allows it; a limit that does not grow changes nothing.
#[test]
fn streams_wait_for_their_number() {
    connected(
        Role::Client,
        |setup| setup.params.initial_max_streams_uni = 0,
        "0    write 1000
         10   < data: max-streams uni 0
         20   < data: max-streams uni 1
         20   > data 0: ack 0-1, stream 2 0-1000",
    );
}

/// RFC 9000 section 4.2: credit returns without being asked for, once an eighth of the window is read (ours).
#[test]
fn credit_returns_unasked() {
    connected(
        Role::Server,
        windows,
        "0    < data: stream 2 0-1000
         0    > data 0: ack 0, max-data 5000, max-stream-data 2 4000",
    );
}

/// RFC 9000 section 4.1, to the byte.
#[test]
fn data_beyond_a_limit_closes() {
    let closes = |datagrams: &[&str]| answer(Role::Server, windows, datagrams);
    let error = Some("FLOW_CONTROL_ERROR".to_owned());
    assert_eq!(closes(&["data: stream 2 1-3000"]), None);
    assert_eq!(closes(&["data: stream 2 2999-3001"]), error, "of the stream");
    assert_eq!(closes(&["data: stream 2 1-3000", "data: stream 6 999-1000"]), None);
    assert_eq!(closes(&["data: stream 2 1-3000", "data: stream 6 1000-1001"]), error, "of all");
    assert_eq!(closes(&["data: reset 2 0 3001"]), error, "by the final size of a reset");
    assert_eq!(closes(&["data: stream 2 1-3000", "data: reset 6 0 1001"]), error);
}

/// RFC 9000 section 4.6 and 19.11: two unidirectional streams are allowed, and no bidirectional one.
#[test]
fn a_stream_beyond_the_limit_closes() {
    let closes = |datagrams: &[&str]| answer(Role::Server, |_| (), datagrams);
    let error = Some("STREAM_LIMIT_ERROR".to_owned());
    assert_eq!(closes(&["data: stream 6 0-10"]), None);
    for frame in ["stream 10 0-10", "stream 0 0-10", "reset 10 0 0", "stream-data-blocked 10 0"] {
        assert_eq!(closes(&[&format!("data: {frame}")]), error, "{frame}");
    }
}

/// RFC 9000 section 4.6: when a stream is done, the peer may open another, without asking.
#[test]
fn a_closed_stream_makes_room_for_another() {
    server(
        "0    < data: stream 2 0-10 fin
         0    > data 0: ack 0, max-streams uni 3",
    );
}

/// RFC 9000 section 4.5.
#[test]
fn a_final_size_that_changes_closes() {
    let closes = |datagrams: &[&str]| answer(Role::Server, |_| (), datagrams);
    let error = Some("FINAL_SIZE_ERROR".to_owned());
    let end = "data: stream 2 10-20 fin";
    for frame in ["stream 2 20-21", "stream 2 0-19 fin", "stream 2 10-21 fin", "reset 2 0 19"] {
        assert_eq!(closes(&[end, &format!("data: {frame}")]), error, "{frame}");
    }
    assert_eq!(closes(&["data: stream 2 10-20", "data: stream 2 0-19 fin"]), error);
    assert_eq!(closes(&["data: stream 2 10-20", "data: reset 2 0 19"]), error);
    assert_eq!(closes(&[end, "data: stream 2 5-20 fin", "data: reset 2 0 20"]), None);
}

/// RFC 9000 sections 3.5 and 13.3: a stream that the peer stops is reset, with the final size so far, and with the same
/// content when the reset is lost.
#[test]
fn a_stopped_stream_is_reset() {
    client(
        "0     write 1000
         0     > data 0: stream 2 0-1000
         50    < data: stop 2 7
         50    > data 1: ack 0, reset 2 7 1000
         100   < data: ack 0
         287.5 ! timeout
         287.5 > data 2: reset 2 7 1000
         287.5 > data 3: ping
         400   write 1000
         400   < data: ack 0 2-3
         400   ! congestion",
    );
}
