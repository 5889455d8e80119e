//! Connection IDs (RFC 9000 sections 5.1, 19.15 and 19.16).

use super::*;

/// RFC 9000 section 5.1.2: the peer retires an ID; this end moves on to the next and says so.
#[test]
fn an_id_is_retired_at_the_peers_request() {
    client(
        "0    < data: new-id 1
         1    < data: new-id 2 retire 1
         1    > data 0 to 1: ack 0-1, retire-id 0
         10   write 1000
         10   > data 1 to 1: stream 2 0-1000",
    );
}

/// RFC 9000 section 19.15: an ID that is retired before it comes is retired at once; the same frame twice is fine; a smaller
/// `retire_prior_to` changes nothing.
#[test]
fn late_and_repeated_announcements_are_harmless() {
    client(
        "0    < data: new-id 3 retire 2
         0    > data 0 to 3: ack 0, retire-id 0
         1    < data: new-id 1
         1    > data 1 to 3: ack 0-1, retire-id 1
         2    < data: new-id 3 retire 2
         3    < data: new-id 4 retire 1
         3    > data 2 to 3: ack 0-3
         10   write 1000
         10   > data 3 to 3: stream 2 0-1000",
    );
}

/// RFC 9000 section 5.1.1: retired IDs are replaced, and packets to any that was issued are taken.
#[test]
fn a_retired_id_of_this_end_is_replaced() {
    client(
        "0    < data to 1: ping
         1    < data to 1: retire-id 0
         1    > data 0: ack 0-1, new-id 2
         2    < data to 2: ping
         3    < data to 0: ping
         3    > reset x1
         27   > data 1: ack 0-2 delay 25",
    );
}

#[test]
fn violations_close() {
    let violation = Some("PROTOCOL_VIOLATION".to_owned());
    let limit = Some("CONNECTION_ID_LIMIT_ERROR".to_owned());
    let encoding = Some("FRAME_ENCODING_ERROR".to_owned());
    let closes = |frames: &str| answer(Role::Client, |_| (), &[&format!("data: {frames}")]);
    // Section 5.1.1: this end stores five.
    assert_eq!(closes("new-id 1, new-id 2, new-id 3, new-id 4"), None);
    assert_eq!(closes("new-id 1, new-id 2, new-id 3, new-id 4, new-id 5"), limit);
    assert_eq!(closes("new-id 1, new-id 2, new-id 3, new-id 4, new-id 5 retire 1"), None);
    // Section 19.15.
    assert_eq!(closes("new-id 1, new-id 1 as 7"), violation, "two IDs of one number");
    assert_eq!(closes("new-id 1 retire 2"), encoding, "it retires itself");
    // Section 19.16.
    assert_eq!(closes("retire-id 2"), violation, "never issued");
    assert_eq!(closes("retire-id 0"), violation, "the one that the packet came to");
    assert_eq!(closes("retire-id 1"), None);
}

/// RFC 9000 section 5.1.2: a peer that demands more retirements than it acknowledges is stopped.
#[test]
fn endless_retirements_close() {
    let demands: Vec<String> =
        (1..=21).map(|number| format!("data: new-id {number} retire {number}")).collect();
    let demands: Vec<&str> = demands.iter().map(String::as_str).collect();
    let close = |most: usize| answer(Role::Client, |_| (), &demands[..most]);
    assert_eq!(close(20), None);
    assert_eq!(close(21).as_deref(), Some("CONNECTION_ID_LIMIT_ERROR"));
}
