//! Lost and reordered packets, probes and silence (RFC 9002 sections 6 and 7, RFC 9000 section 10.1).
//!
//! Packets have 1,030 bytes or a little more, and the window is 12,000. A further sample of 100 ms lowers the variation to
//! 28.125 ms and the probe timeout to 237.5 ms.

use super::*;

/// RFC 9002 section 6.1.1: fewer than three later packets are no evidence.
#[test]
fn a_packet_that_two_overtake_is_not_lost() {
    client(
        "0    write 1000 x6
         0    > data 0-5: stream 2 0-6000
         100  < data: ack 1
         101  < data: ack 1-2
         102  < data: ack 0-2
         103  < data: ack 0-5
         103  = window 12000
         103  = in-flight 0",
    );
}

/// RFC 9002 section 6.1.1: three are. Section 7.3.2: the window is halved.
#[test]
fn a_packet_that_three_overtake_is_lost() {
    client(
        "0    write 1000 x6
         0    > data 0-5: stream 2 0-6000
         100  < data: ack 1
         101  < data: ack 1-2
         102  < data: ack 1-3
         102  ! congestion
         102  > data 6: stream 2 0-1000
         103  = window 6000
         202  < data: ack 1-6
         202  = in-flight 0",
    );
}

/// RFC 9002 section 6.1.1 at four: the loss was found with the third. The late packet shows that it was none, so it is not
/// sent a third time, and the window comes back (RFC 9002 leaves that to the sender).
#[test]
fn a_packet_that_four_overtake_was_declared_lost_in_vain() {
    client(
        "0    write 1000 x6
         0    > data 0-5: stream 2 0-6000
         100  < data: ack 1-3
         100  ! congestion
         100  > data 6: stream 2 0-1000
         101  < data: ack 1-4
         102  < data: ack 0-4
         102  ! undo
         102  = window 12000
         200  < data: ack 0-6
         200  = in-flight 0",
    );
}

/// RFC 9002 section 6.1.2: 9/8 of a round trip after it was sent, 112.5 ms.
#[test]
fn a_packet_is_lost_an_eighth_of_a_round_trip_after_a_later_one_arrived() {
    client(
        "0     write 1000 x2
         0     > data 0-1: stream 2 0-2000
         100   < data: ack 1
         112.5 ! congestion
         112.5 > data 2: stream 2 0-1000
         213   < data: ack 1-2
         213   = in-flight 0",
    );
}

/// RFC 9002 sections 6.2.1 and 6.2.4: a probe 237.5 ms after the last packet left. Its acknowledgement shows what was lost;
/// what the probe has brought is not sent again.
#[test]
fn a_lost_tail_is_found_by_a_probe() {
    client(
        "0     write 1000 x3
         0     > data 0-2: stream 2 0-3000
         100   < data: ack 0
         237.5 ! timeout
         237.5 > data 3: stream 2 1000-2000
         237.5 > data 4: ping
         337.5 < data: ack 0 3-4
         337.5 ! congestion
         337.5 > data 5: stream 2 2000-3000
         440   < data: ack 0 3-5
         440   = in-flight 0",
    );
}

/// RFC 9002 section 7: five packets of 1,200 bytes fill the halved window of 6,000.
#[test]
fn a_lost_flight_is_sent_again_within_the_halved_window() {
    client(
        "0    write 1000 x10
         0    > data 0-9: stream 2 0-10000
         275  ! timeout
         275  > data 10: stream 2 0-1000
         275  > data 11: ping
         375  < data: ack 10-11
         375  ! congestion
         375  = window 6000
         375  > data 12-16: stream 2 1000-6850
         375  = in-flight 6000",
    );
}

/// RFC 9002 section 7: the packet that would exceed the window waits.
#[test]
fn nothing_is_sent_beyond_the_window() {
    client(
        "0    write 1000 x20
         0    > data 0-10: stream 2 0-11000
         0    = in-flight 11350
         0    = window 12000",
    );
}

/// RFC 9002 section 6.2: an expired timer is no evidence of loss.
#[test]
fn a_probe_alone_marks_nothing_as_lost() {
    client(
        "0    write 1000
         0    > data 0: stream 2 0-1000
         275  ! timeout
         275  > data 1: stream 2 0-1000
         275  > data 2: ping
         300  < data: ack 0
         300  = window 12000
         375  < data: ack 0-2
         375  = window 12000
         375  = in-flight 0",
    );
}

/// RFC 9002 section 6.2.1: the timeout doubles with every expiry. Section 7.6: lost packets 1,925 ms apart, more than three
/// timeouts of 237.5 ms, are persistent congestion, and the window falls to two packets. Section 6.2.1 again: an
/// acknowledgement ends the backoff.
#[test]
fn probes_back_off_and_persistent_congestion_follows() {
    client(
        "0      write 1000
         0      > data 0: stream 2 0-1000
         275    ! timeout
         275    > data 1: stream 2 0-1000
         275    > data 2: ping
         825    ! timeout
         825    > data 3: stream 2 0-1000
         825    > data 4: ping
         1925   ! timeout
         1925   > data 5: stream 2 0-1000
         1925   > data 6: ping
         4125   ! timeout
         4125   > data 7: stream 2 0-1000
         4125   > data 8: ping
         4225   < data: ack 7-8
         4225   ! persistent-congestion
         4225   = window 2400
         4225   = in-flight 0
         5000   write 1000
         5000   > data 9: stream 2 1000-2000
         5237.5 ! timeout
         5237.5 > data 10: stream 2 1000-2000
         5237.5 > data 11: ping",
    );
}

/// RFC 9002 section 7.6.2: an acknowledged packet in between refutes persistent congestion.
#[test]
fn a_delivered_packet_refutes_persistent_congestion() {
    client(
        "0      write 1000
         0      > data 0: stream 2 0-1000
         275    ! timeout
         275    > data 1: stream 2 0-1000
         275    > data 2: ping
         825    ! timeout
         825    > data 3: stream 2 0-1000
         825    > data 4: ping
         1925   ! timeout
         1925   > data 5: stream 2 0-1000
         1925   > data 6: ping
         2025   < data: ack 2 5-6
         2025   ! congestion
         2025   = window 6000",
    );
}

/// RFC 9000 section 10.1: the connection ends in silence, one second after the first packet without an answer.
#[test]
fn an_outage_longer_than_the_idle_timeout_ends_the_connection() {
    let change = |setup: &mut Setup| setup.spec.idle_timeout = Some(SimDuration::from_secs(1));
    connected(
        Role::Client,
        change,
        "0    write 1000
         0    > data 0: stream 2 0-1000
         275  ! timeout
         275  > data 1: stream 2 0-1000
         275  > data 2: ping
         825  ! timeout
         825  > data 3: stream 2 0-1000
         825  > data 4: ping
         1000 ! lost timed out
         1001 < data: ack 0-4
         1001 > reset x1
         9999 write 1000",
    );
}

/// RFC 9000 section 10.1: it lasts three probe timeouts at least, 825 ms.
#[test]
fn the_idle_timeout_is_at_least_three_probe_timeouts() {
    let change = |setup: &mut Setup| setup.params.max_idle_timeout = 600;
    connected(
        Role::Client,
        change,
        "0    write 1000
         0    > data 0: stream 2 0-1000
         275  ! timeout
         275  > data 1: stream 2 0-1000
         275  > data 2: ping
         825  ! lost timed out",
    );
}

/// RFC 9000 section 10.1: arrivals restart the idle timer, and so does the first packet sent after one.
#[test]
fn the_idle_timer_restarts_with_packets() {
    let change = |setup: &mut Setup| setup.spec.idle_timeout = Some(SimDuration::from_secs(2));
    connected(
        Role::Server,
        change,
        "1000 < data: ping
         1025 > data 0: ack 0 delay 25
         2500 write 1000
         2500 > data 1: stream 3 0-1000
         2600 < data: ack 0-1
         4599 = in-flight 0
         4600 ! lost timed out",
    );
}

/// RFC 9002 section 7.3.1 and RFC 9000 section 13.4.1: a mark that the peer reports halves the window.
#[test]
fn marks_end_slow_start() {
    connected(
        Role::Client,
        |setup| setup.spec.ecn = true,
        "0    write 1000 x2
         0    > data 0-1: stream 2 0-2000
         100  < data: ack 0-1 ect 1 ce 2
         100  ! congestion
         100  = window 6000",
    );
}

/// RFC 9002 section 7.5: the window of 12,000 bytes is full with eleven packets. Section 6.2.4: probes carry new data if there
/// is some.
#[test]
fn a_probe_passes_a_full_window() {
    client(
        "0    write 1000 x20
         0    > data 0-10: stream 2 0-11000
         275  ! timeout
         275  > data 11-12: stream 2 11000-13340
         275  = in-flight 13750",
    );
}

/// RFC 9000 section 19.21: acknowledgements are asked for sooner if the peer has announced `min_ack_delay`.
#[test]
fn extensions_are_used_with_peers_that_know_them() {
    for (known, frame) in [(Some(1_000), "ack-frequency 1, "), (None, "")] {
        let change = |setup: &mut Setup| {
            setup.spec.max_ack_delay = SimDuration::from_millis(5);
            setup.params.min_ack_delay = known;
        };
        let script = format!(
            "0    > initial 0: hello [1200]
             100  < initial: ack 0, hello
             100  > initial 1: ack 0 [1200]
             110  < handshake: flight
             110  ! established
             {}
             110  > handshake 0: ack 0, finished | data 0: {frame}new-id 1",
            if known.is_some() { "110  ! ack-frequency" } else { "" }
        );
        opening(Role::Client, change, &script);
    }
}
