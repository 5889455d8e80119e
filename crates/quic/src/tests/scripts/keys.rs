//! Key phases (RFC 9001 section 6).

use super::*;

/// RFC 9001 section 6.2: a peer that updates its keys is answered under new ones. Packets of the old phase that come late are
/// read (section 6.5).
#[test]
fn an_update_is_answered() {
    client(
        "0    < data 0: ping
         1    < data 2 phase: ping
         1    ! key-update
         1    > data 0 phase: ack 0 2
         2    < data 1: ping
         2    > data 1 phase: ack 0-2 delay 1
         3    < data 3 phase: ack 0-1",
    );
}

/// RFC 9001 section 6.2: what was sent under new keys cannot be acknowledged under old ones.
#[test]
fn an_acknowledgement_under_old_keys_closes() {
    client(
        "0    < data 1 phase: ping
         0    ! key-update
         0    > data 0 phase: ack 1
         1    write 1000
         1    > data 1 phase: stream 2 0-1000
         2    < data 0: ack 0-1
         2    ! lost
         2    > data 2 phase: close KEY_UPDATE_ERROR",
    );
}

/// RFC 9001 section 6.5: three probe timeouts (825 ms) after the update, packets of the old phase cannot be read any more.
#[test]
fn old_keys_are_dropped() {
    client(
        "0    < data 1 phase: ping
         0    ! key-update
         0    > data 0 phase: ack 1
         900  < data 0: ping
         901  < data 2 phase: ping
         926  > data 1 phase: ack 1-2 delay 25",
    );
}
