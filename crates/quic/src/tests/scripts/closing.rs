//! The end of a connection (RFC 9000 section 10).

use super::*;

/// RFC 9000 section 10.2.1: packets are answered with the reason, ever more rarely, for three probe timeouts (825 ms).
#[test]
fn a_closing_end_repeats_its_reason_ever_more_rarely() {
    client(
        "0    close 7
         0    ! lost closed by the application
         0    > data 0: app-close 7
         10   < data: ping
         10   > data 1: app-close 7
         20   < data: ping
         21   < data: ping
         21   > data 2: app-close 7
         30   < data x3: ping
         40   < data: ping
         40   > data 3: app-close 7
         825  < data x20: ping
         825  > reset x20",
    );
}

/// RFC 9000 section 10.2.2: nothing is sent any more.
#[test]
fn a_draining_end_is_silent() {
    client(
        "0    write 1000
         0    > data 0: stream 2 0-1000
         10   < data: app-close 7
         10   ! lost closed by the peer: application error 0x7
         20   < data x9: ping
         30   write 1000
         2000 < data: ping
         2000 > reset x1",
    );
}

/// RFC 9000 section 10.2.2: for three probe timeouts (825 ms), however often the peer repeats its close.
#[test]
fn further_closes_do_not_prolong_draining() {
    client(
        "10   < data: app-close 7
         10   ! lost closed by the peer: application error 0x7
         800  < data: app-close 7
         834  < data: ping
         836  < data: ping
         836  > reset x1",
    );
}

/// RFC 9000 section 10.2.2: a closing end that hears of the peer's close falls silent, too, "the draining state ends when the
/// closing state would have ended".
#[test]
fn a_closing_end_drains_when_the_peer_closes() {
    client(
        "0    close 7
         0    ! lost closed by the application
         0    > data 0: app-close 7
         10   < data: close NO_ERROR
         20   < data x9: ping
         824  < data: ping
         826  < data: ping
         826  > reset x1",
    );
}

/// RFC 9000 section 10.2.3: in both levels whose keys there are, as an error of the transport without its reason.
#[test]
fn an_application_that_closes_during_the_handshake_tells_nothing() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello
         100  > initial 1: ack 0 [1200]
         110  close 7
         110  ! lost closed by the application
         110  > initial 2: close APPLICATION_ERROR | handshake 0: close APPLICATION_ERROR [1200]",
    );
}

/// RFC 9000 section 10.3.1: the token of an ID that was announced and not used, or never announced, is none.
#[test]
fn a_stateless_reset_ends_the_connection() {
    client(
        "0    < data: new-id 1
         1    reset 1
         1    > reset x1
         2    reset 3
         2    > reset x1
         3    write 1000
         3    > data 0: ack 0 delay 3, stream 2 0-1000
         4    reset 0
         4    ! lost reset by the peer
         5    write 1000
         828  < data x9: ping
         999  < data: ping
         999  > reset x1",
    );
}

/// RFC 9000 section 10.3: whatever packet ends with the token, of another version even.
#[test]
fn a_reset_with_a_long_header_counts() {
    client(
        "1    reset 3 long
         4    reset 0 long
         4    ! lost reset by the peer
         5    write 1000
         828  < data x9: ping",
    );
}

/// RFC 9000 section 10.2.3.
#[test]
fn the_peer_may_close_in_any_level() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: close CONNECTION_REFUSED
         100  ! lost closed by the peer: error 0x2
         110  < initial: ack 0, hello
         5000 < initial: ping",
    );
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello | handshake: close INTERNAL_ERROR
         100  ! lost closed by the peer: error 0x1
         5000 < handshake: flight",
    );
}

/// RFC 9000 section 10.2.3: 0x1d reveals the application, and is a violation in these levels (section 12.5).
#[test]
fn an_application_close_before_one_rtt_is_a_violation() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: app-close 7
         100  ! lost
         100  > initial 1: close PROTOCOL_VIOLATION [1200]",
    );
}

/// RFC 9000 section 8.1: three times what arrived from an unvalidated address, which the challenge has used up. A close that
/// has to wait for more uses up no packet number.
#[test]
fn a_close_that_is_held_back_is_not_sent() {
    server(
        "0    < data elsewhere: ping
         0    ! path
         0    > data 0: challenge [1200]
         0    > elsewhere data 1: ack 0, challenge
         10   close 7
         10   ! lost closed by the application
         20   < data elsewhere: ping
         20   > elsewhere data 2: app-close 7",
    );
}
