//! Packets become protected bytes.

use bytes::BytesMut;
use leobench_base::SimTime;
use leobench_transport::endpoint::PathId;

use super::Connection;
use crate::wire::{Content, Datagram};

/// Bytes that are allocated at once for the next datagrams: an allocation is shared by about ten of them.
const SEALED_CHUNK: usize = 16 * 1024;

impl Connection {
    /// The bytes of a datagram that leaves on a path; none if the keys are used up, which closes the connection.
    #[inline(never)]
    pub(crate) fn seal_datagram(
        &mut self,
        now: SimTime,
        id: PathId,
        datagram: &Datagram,
        content: &dyn Content,
    ) -> Option<BytesMut> {
        let Datagram::Packets(packets) = datagram else { return None };
        let mtu = self.paths[id].mtu as usize;
        let bytes = &mut self.buffers.sealed;
        if bytes.capacity() < mtu {
            *bytes = BytesMut::with_capacity(mtu.max(SEALED_CHUNK));
        }
        for packet in packets {
            if let Err(error) = self.keys.protection.seal(id, packet, content, bytes) {
                bytes.clear();
                self.fail(now, id, &error);
                return None;
            }
        }
        Some(bytes.split())
    }
}
