//! Other addresses of the peer (RFC 9000 sections 8.2 and 9).

use super::*;

/// RFC 9000 section 8.2.2: a challenge is answered where it came from, and the connection stays where it is. The answer takes
/// three times what came from there at most, so it is not expanded.
#[test]
fn a_challenge_from_elsewhere_is_answered_there() {
    server(
        "0    < data elsewhere: challenge 5
         0    > elsewhere data 0: response 5
         25   > data 1: ack 0 delay 25
         30   write 1000
         30   > data 2: stream 3 0-1000",
    );
}

/// RFC 9000 section 9.3: any other packet takes the server along, which validates both addresses; section 8.2.1: in 1,200 bytes
/// unless three times what arrived is less. Section 9.3.2: without an answer for three probe timeouts (of a path of which
/// nothing is known, 333 + 4 * 166.5 + 25 ms), it goes back.
#[test]
fn a_server_goes_back_if_nobody_answers() {
    server(
        "0    < data elsewhere: ping
         0    ! path
         0    > data 0: challenge [1200]
         0    > elsewhere data 1: ack 0, challenge
         1024 > data 2: challenge [1200]
         3072 ! path
         3072 ! timeout
         3072 > data 3: ping
         3072 > data 4: ping",
    );
}
