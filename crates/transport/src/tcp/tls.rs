//! The handshake of TLS 1.3 (RFC 8446 section 2) as byte counts: how much each end writes, and when.

use super::Role;
use super::outgoing::{Outgoing, RECORD_HEADER, RECORD_OVERHEAD};
use crate::handshake_sizes::{CLIENT_FINISHED, CLIENT_HELLO, SERVER_FLIGHT, SERVER_HELLO};

/// `ClientHello` in a record.
const HELLO: u64 = RECORD_HEADER + CLIENT_HELLO as u64;
/// `ServerHello` in a record, and everything up to Finished in an encrypted one.
const ANSWER: u64 = RECORD_HEADER + SERVER_HELLO as u64 + RECORD_OVERHEAD + SERVER_FLIGHT as u64;
/// The client's Finished in an encrypted record.
const FINISHED: u64 = RECORD_OVERHEAD + CLIENT_FINISHED as u64;

/// Continues the handshake as far as the `received` bytes allow; returns whether it is complete, and application data
/// may follow.
pub(super) fn proceed(role: Role, received: u64, outgoing: &mut Outgoing) -> bool {
    match (role, outgoing.written()) {
        (Role::Client, 0) => outgoing.write(HELLO),
        (Role::Client, HELLO) if received >= ANSWER => {
            outgoing.write(FINISHED);
            return true;
        }
        (Role::Server, 0) if received >= HELLO => outgoing.write(ANSWER),
        (Role::Server, ANSWER) => return received >= HELLO + FINISHED,
        _ => {}
    }
    false
}

/// Bytes that an end receives in the handshake.
pub(super) fn incoming(role: Role) -> u64 {
    match role {
        Role::Client => ANSWER,
        Role::Server => HELLO + FINISHED,
    }
}
