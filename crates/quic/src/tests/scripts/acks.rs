//! When packets are acknowledged (RFC 9000 section 13.2).

use std::fmt::Write as _;

use super::*;

/// RFC 9000 section 13.2.2: after two ack-eliciting packets, or after `max_ack_delay` of 25 ms.
#[test]
fn every_second_packet_or_after_the_delay() {
    server(
        "0    < data: ping
         5    < data: ping
         5    > data 0: ack 0-1
         10   < data: ping
         35   > data 1: ack 0-2 delay 25",
    );
}

/// RFC 9000 section 13.2.1: at once if a packet is out of order.
#[test]
fn a_gap_is_reported_at_once() {
    server(
        "0    < data 0: ping
         1    < data 2: ping
         1    > data 0: ack 0 2
         2    < data 1: ping
         2    > data 1: ack 0-2 delay 1",
    );
}

/// RFC 9000 section 13.2.1: packets without ack-eliciting frames cause no packet, gaps or not.
#[test]
fn packets_that_ask_for_nothing_get_nothing() {
    server(
        "0    < data: pad 10
         1    < data 5: pad 10
         2    < data 3: pad 10
         900  < data 9: pad 10",
    );
}

/// RFC 9000 section 12.3: a number that was processed is discarded; section 13.2.1: one packet with an ACK for each.
#[test]
fn duplicates_are_discarded() {
    server(
        "0    < data: stream 2 0-100
         1    again
         2    again
         25   > data 0: ack 0 delay 25
         30   again
         40   < data 1: ping
         65   > data 1: ack 0-1 delay 25",
    );
}

/// RFC 9000 section 13.1: a packet that is not authentic is not acknowledged, nor is one for another connection ID.
#[test]
fn unreadable_packets_are_not_acknowledged() {
    server(
        "0    < data corrupt: ping
         1    < data 0 unfixed: ping
         2    < data 1: ping
         2    > data 0: ack 1",
    );
}

/// RFC 9000 section 13.2.1: Handshake packets at once, in packets of their level (section 13.2.6).
#[test]
fn packets_of_the_handshake_are_acknowledged_at_once_in_their_level() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello
         100  > initial 1: ack 0 [1200]
         110  < handshake: crypto 0-1000
         110  > handshake 0: ack 0
         120  < handshake: ping
         120  > handshake 1: ack 0-1",
    );
}

/// RFC 9000 section 13.2.1: an acknowledgement goes with whatever is sent.
#[test]
fn acknowledgements_go_with_data() {
    client(
        "0    < data: ping
         10   write 1000
         10   > data 0: ack 0 delay 10, stream 2 0-1000",
    );
}

/// RFC 9000 sections 13.4.1 and 13.2.1: marks are counted and reported at once, though this end sends none.
#[test]
fn marks_are_reported_at_once() {
    client(
        "0    < data marked: ping
         0    > data 0: ack 0 ect 0 ce 1
         10   < data: ping
         35   > data 1: ack 0-1 delay 25 ect 0 ce 1",
    );
}

/// RFC 9000 sections 13.2.1 and 13.2.4: with 16 ranges or more (ours), a packet asks for an acknowledgement, but once a round
/// trip of 100 ms only.
#[test]
fn long_acknowledgements_ask_for_one_once_a_round_trip() {
    let mut script = String::new();
    let mut ranges: Vec<String> = Vec::new();
    for packet in 0..120_usize {
        ranges.push((2 * packet).to_string());
        writeln!(script, "{packet} < data {}: ping", 2 * packet).unwrap();
        // The first packet waits: nothing is missing before it.
        if packet > 0 {
            // 64 ranges are reported at most (ours).
            let list = ranges[ranges.len().saturating_sub(64)..].join(" ");
            let ping = if packet == 15 || packet == 115 { ", ping" } else { "" };
            writeln!(script, "{packet} > data {}: ack {list}{ping}", packet - 1).unwrap();
        }
    }
    server(&script);
}
