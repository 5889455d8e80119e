//! The handshake, and its packets lost, corrupted and repeated (RFC 9000 sections 7, 8.1 and 14.1, RFC 9002 section 6.2.2).
//!
//! Without a sample the probe timeout is 333 + 4 * 166.5 = 999 ms (RFC 9002 section 6.2.2). With one of 100 ms it is 300 ms.

use super::*;

#[test]
fn a_client_shakes_hands() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello | handshake: crypto 0-1000
         100  > initial 1: ack 0 | handshake 0: ack 0 [1200]
         100  < handshake: crypto 1000-2400
         100  ! established
         100  > handshake 1: ack 0-1, finished | data 0: new-id 1
         200  < data: ack 0, handshake-done
         225  > data 1: ack 0 delay 25",
    );
}

#[test]
fn a_server_shakes_hands() {
    opening(
        Role::Server,
        |_| (),
        "0    < initial: hello
         0    > initial 0: ack 0, hello | handshake 0: crypto 0-1012 [1200]
         0    > handshake 1: crypto 1012-2165
         0    > handshake 2: crypto 2165-2400
         100  < initial: ack 0 | handshake: ack 0-2, finished
         100  ! established
         100  > data 0: handshake-done, new-id 1",
    );
}

/// RFC 9002 sections 6.2.2 and 6.2.1; RFC 9000 section 14.1: all datagrams have 1,200 bytes.
#[test]
fn a_lost_client_hello_is_sent_again() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         999  ! timeout
         999  > initial 1: hello [1200]
         999  > initial 2: hello [1200]
         2997 ! timeout
         2997 > initial 3: hello [1200]
         2997 > initial 4: hello [1200]
         3097 < initial: ack 3, hello
         3097 ! congestion
         3097 > initial 5: ack 0 [1200]",
    );
}

/// RFC 9002 section 6.2.2.1: the client has nothing in flight but is not known to be validated. It has Handshake keys, so it
/// probes with a Handshake packet. Its Initial keys go with that (RFC 9001 section 4.9.1), and the backoff (RFC 9002 appendix
/// A.11).
#[test]
fn a_client_without_the_servers_handshake_packets_probes() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello
         100  > initial 1: ack 0 [1200]
         400  ! timeout
         400  > handshake 0: ping
         700  ! timeout
         700  > handshake 1: ping
         700  > handshake 2: ping
         1300 ! timeout
         1300 > handshake 3: ping
         1300 > handshake 4: ping",
    );
}

/// RFC 9002 section 6.2.2.1: without Handshake keys it is an Initial packet in 1,200 bytes. An acknowledgement in an Initial
/// packet does not end the backoff (section 6.2.1).
#[test]
fn a_client_without_the_server_hello_probes() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0
         400  ! timeout
         400  > initial 1: ping [1200]
         500  < initial: ack 0-1
         1000 ! timeout
         1000 > initial 2: ping [1200]",
    );
}

/// RFC 9002 section 6.2.4: Finished is lost; only the confirmation ends the probing.
#[test]
fn a_lost_finished_is_sent_again() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello | handshake: flight
         100  ! established
         100  > initial 1: ack 0 | handshake 0: ack 0, finished | data 0: new-id 1 [1200]
         400  ! timeout
         400  > handshake 1: finished | data 1: new-id 1, ping
         400  > handshake 2: ping
         500  < data: ack 0, handshake-done
         525  > data 2: ack 0 delay 25",
    );
}

/// RFC 9000 section 8.1: three times what arrived. RFC 9002 section 6.2.2.1: no probe is due before the client sends more,
/// and then at once if its time has come (appendix A.6), for the earlier of both levels (section 6.2.1). Of 3 * 2,400 bytes,
/// 6,185 are used by then; the rest is too little for an Initial packet of 1,200 bytes (RFC 9000 section 14.1).
#[test]
fn a_server_whose_flight_is_lost_stays_within_three_times_what_it_received() {
    opening(
        Role::Server,
        |_| (),
        "0    < initial: hello
         0    > initial 0: ack 0, hello | handshake 0: crypto 0-1012 [1200]
         0    > handshake 1: crypto 1012-2165
         0    > handshake 2: crypto 2165-2400
         1100 < initial: hello
         1100 ! timeout
         1100 > initial 1: ack 0-1, hello [1200]
         1100 > initial 2: ping [1200]
         1998 ! timeout
         1998 > handshake 3: crypto 0-1012
         1998 > handshake 4: ping
         9999 = in-flight 6185",
    );
}

/// RFC 9000 section 8.1: a Handshake packet validates the address, and nothing limits the server.
#[test]
fn a_handshake_packet_validates_the_client() {
    opening(
        Role::Server,
        |_| (),
        "0    < initial: hello
         0    > initial 0: ack 0, hello | handshake 0: crypto 0-1012 [1200]
         0    > handshake 1: crypto 1012-2165
         0    > handshake 2: crypto 2165-2400
         100  < handshake: ack 0
         100  = in-flight 1482
         300  ! timeout
         300  > handshake 3: crypto 1012-2165
         300  > handshake 4: ping
         900  ! timeout
         900  > handshake 5: crypto 1012-2165
         900  > handshake 6: ping
         975  < handshake: ack 0 5-6
         975  ! congestion
         975  > handshake 7: crypto 2165-2400",
    );
}

/// RFC 9000 section 12.2: each packet of a datagram stands for itself.
#[test]
fn a_corrupt_packet_spoils_no_other() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial corrupt: ack 0, hello | handshake: crypto 0-1000
         110  < initial 1: ack 0, hello | handshake corrupt: crypto 0-1000
         110  > initial 1: ack 1 [1200]
         120  < initial corrupt: ping | handshake 2: crypto 0-1000
         120  > handshake 0: ack 2",
    );
}

/// RFC 9000 section 12.3, and CRYPTO data that is known already.
#[test]
fn repeated_packets_of_the_handshake_change_nothing() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0, hello
         100  > initial 1: ack 0 [1200]
         101  again
         102  < initial: hello
         102  > initial 2: ack 0-1 [1200]
         103  < handshake: crypto 1000-2400
         103  > handshake 0: ack 0
         104  again
         105  < handshake: crypto 0-1000
         105  ! established
         105  > handshake 1: ack 0-1, finished | data 0: new-id 1",
    );
}

/// RFC 9000 section 14.1: a server discards Initial packets in datagrams below 1,200 bytes, the first and later ones.
#[test]
fn small_datagrams_with_initial_packets_are_discarded() {
    opening(
        Role::Server,
        |_| (),
        "0    < initial: hello [1199]
         10   < initial: hello
         10   > initial 0: ack 1, hello | handshake 0: crypto 0-1012 [1200]
         10   > handshake 1: crypto 1012-2165
         10   > handshake 2: crypto 2165-2400
         20   < initial: ping [1199]
         30   < initial: ping
         30   > initial 1: ack 1 3",
    );
}

/// RFC 9000 section 7.2: the first packet fixes the peer's connection ID until the handshake is over.
#[test]
fn another_source_connection_id_is_discarded() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0
         110  < initial from 7: hello
         120  < initial: ping
         120  > initial 1: ack 0 2 [1200]",
    );
    opening(
        Role::Server,
        |_| (),
        "0    < initial: crypto 0-100
         0    > initial 0: ack 0
         1    < initial from 7: crypto 100-300
         2    < initial: ping
         2    > initial 1: ack 0 2",
    );
}

/// RFC 9000 section 17.2.2: a server's Initial packet has no token; one that does is discarded.
#[test]
fn a_token_from_a_server_is_discarded() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial token: ack 0, hello
         110  < initial: ack 0, hello
         110  > initial 1: ack 1 [1200]",
    );
}

/// RFC 9000 sections 5.2.1 and 17.2: packets of another version, or without the fixed bit, are discarded.
#[test]
fn packets_of_another_version_are_discarded() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial version: ack 0, hello
         110  < initial unfixed: ack 0, hello
         120  < initial: ack 0, hello
         120  > initial 1: ack 2 [1200]",
    );
}

/// RFC 9001 sections 4.1.4 and 5.7: what comes before its keys is lost, and sent again by the peer.
#[test]
fn packets_before_their_keys_are_lost() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < handshake: flight
         101  < data: ping
         110  < initial: ack 0, hello
         110  > initial 1: ack 0 [1200]
         120  < data: ping
         130  < handshake: flight
         130  ! established
         130  > handshake 0: ack 1, finished | data 0: new-id 1",
    );
}

/// RFC 9000 section 7.2: eight bytes or more, and the same until the server answers.
#[test]
fn the_first_destination_is_long_and_kept() {
    let mut player = Player::new(&Setup::new(Role::Client));
    player.run(ms(10_000));
    let [first, others @ ..] = &player.peer.destinations[..] else { panic!("nothing sent") };
    assert!(first.size() >= 8 && others.len() >= 4, "{first:?} {others:?}");
    assert!(others.iter().all(|other| other == first), "{first:?} {others:?}");
}

/// RFC 9000 section 18.2.
#[test]
fn a_client_sends_no_parameters_of_servers() {
    let player = Player::new(&Setup::new(Role::Client));
    let (size, params) = player.peer.hello[4..].split_first_chunk().unwrap();
    let params = TransportParameters::of_client(&params[..u32::from_be_bytes(*size) as usize]);
    assert_eq!(params.map(|params| params.initial_source.is_some()), Ok(true));
}

/// RFC 9000 section 8.1: datagrams count that hold nothing readable. The probe that was held back leaves at once.
#[test]
fn discarded_packets_raise_what_a_server_may_send() {
    opening(
        Role::Server,
        |_| (),
        "0    < initial: hello
         0    > initial 0: ack 0, hello | handshake 0: crypto 0-1012 [1200]
         0    > handshake 1: crypto 1012-2165
         0    > handshake 2: crypto 2165-2400
         1100 < initial corrupt: ping
         1100 ! timeout
         1100 > initial 1: hello [1200]
         1100 > initial 2: ping [1200]",
    );
}

/// RFC 9000 section 9: a server does not change its address.
#[test]
fn packets_from_elsewhere_are_discarded() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial elsewhere: ack 0, hello
         110  < initial: ack 0, hello
         110  > initial 1: ack 1 [1200]",
    );
}

/// RFC 9000 section 10.3, RFC 9001 section 5.4.2: without a sample for header protection there is no packet.
#[test]
fn packets_too_small_are_discarded() {
    server(
        "0    < data cut:
         1    < data 0: ping
         26   > data 0: ack 0 delay 25",
    );
}

/// RFC 9000 section 13.3: a timeout of 275 ms after the server sent it.
#[test]
fn a_lost_confirmation_is_sent_again() {
    opening(
        Role::Server,
        |_| (),
        "0    < initial: hello
         0    > initial 0: ack 0, hello | handshake 0: crypto 0-1012 [1200]
         0    > handshake 1: crypto 1012-2165
         0    > handshake 2: crypto 2165-2400
         100  < initial: ack 0 | handshake: ack 0-2, finished
         100  ! established
         100  > data 0: handshake-done, new-id 1
         375  ! timeout
         375  > data 1: handshake-done, new-id 1
         375  > data 2: ping",
    );
}

/// RFC 9000 sections 8.1.2 and 17.2.5: one Retry is taken, before any packet of the server, and only with the right tag.
/// Numbers go on, the message stays (the peer checks that), and the token is in all later Initial packets.
#[test]
fn retries_are_taken_as_the_rules_say() {
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         50   retry 4 corrupt
         100  retry 5
         100  > initial 1 to 5 token: hello [1200]
         110  retry 6
         200  < initial: ack 1, hello
         200  > initial 2 token: ack 0 [1200]
         210  retry 6
         220  < initial: ping
         220  > initial 3 token: ack 0-1 [1200]",
    );
    opening(
        Role::Client,
        |_| (),
        "0    > initial 0: hello [1200]
         100  < initial: ack 0
         110  retry 5
         120  < initial: hello
         120  > initial 1: ack 0-1 [1200]",
    );
}
