//! The first datagram of a client.

use bytes::BytesMut;
use leobench_base::{SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::stateless::First;
use crate::MINIMUM_DATAGRAM;
use crate::cids::ID_SIZE;
use crate::connection::Parts;
use crate::crypto::{Cipher, Opened, Protection, Receive};
use crate::wire::{ConnectionId, Header, Incoming, Level, LongHeader, ProtectedHeader, Zeros};

/// The destination of a datagram whose first packet has a long header.
pub(super) fn long_destination(datagram: &[u8]) -> Option<ConnectionId> {
    let (first, rest) = datagram.split_first()?;
    let size = usize::from(*rest.get(4)?);
    let id = rest.get(5..5 + size).filter(|_| first & 0x80 != 0)?;
    ConnectionId::new(id)
}

/// The fields of a client's first packet that arrived as a struct, if the header is that of one.
pub(super) fn first_in(header: &Header) -> Option<First> {
    let Header::Initial(long) = header else { return None };
    let LongHeader { destination, source, token, .. } = (**long).clone();
    Some(First { destination, source, token })
}

/// The fields of a client's first packet, if `parts` are those of a server. None if the datagram was damaged or forged: its
/// destination would yield keys that no other packet has.
pub(crate) fn client_of(parts: &Parts, datagram: &[u8]) -> Option<First> {
    if parts.role == Role::Client { None } else { first_of(parts.crypto.cipher(), datagram) }
}

/// The same, for a server.
pub(super) fn first_of(cipher: Cipher, datagram: &[u8]) -> Option<First> {
    let Some(Incoming::Packet(header)) = Incoming::decode(datagram, ID_SIZE) else { return None };
    let initial = header.level == Level::Initial && datagram.len() as u64 >= MINIMUM_DATAGRAM;
    if !initial {
        return None;
    }
    let ProtectedHeader { destination, source, token, .. } = header;
    let mut keys = Protection::new(cipher, Role::Server, destination);
    let receive = Receive {
        path: PathId(0),
        now: SimTime::ZERO,
        pto: SimDuration::ZERO,
        id_len: ID_SIZE,
        largest: [None; 3],
        content: &Zeros,
    };
    // Authentic packets with malformed content are answered by the connection.
    let opened = keys.open(&mut BytesMut::from(datagram), &receive);
    let is_authentic = matches!(opened, Ok(Some(Opened::Packet(_))) | Err(_));
    is_authentic.then_some(First { destination, source, token })
}
