//! The exchange with which two applications resume a transfer over a new connection: a request of the client and an
//! answer of the server, before any data. The one of the receiving end says how much has been delivered.
//!
//! A segment has no content. Its [`Mark`](leobench_base::segment::Mark) says that it ends such a message, and holds the
//! offset. A first connection carries no exchange. Each end sends a message only if an earlier connection of its own
//! opened. That of the server opens only after the client's, so the client may expect an answer that does not come: it
//! learns so from the data, which starts at byte 0, as nothing was ever sent before. A receiving server answers every request.

use super::outgoing::{Outgoing, RECORD_OVERHEAD};
use super::receiver::Receiver;
use super::{Role, tls};

/// Bytes of the request and of the answer: a line of text with the name of a transfer and an offset, in the manner of HTTP.
const MESSAGE: u64 = 100;

/// One end's part in the exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    role: Role,
    tls: bool,
    sends: bool,
    /// If this end resumes a transfer: application data that was delivered over earlier connections.
    resumes: Option<u64>,
    /// Whether this end has sent its message.
    told: bool,
}

impl Exchange {
    pub(super) fn new(role: Role, tls: bool, sends: bool) -> Self {
        Self { role, tls, sends, resumes: None, told: false }
    }

    /// This end resumes a transfer, of which `delivered` bytes have been delivered as far as it knows.
    pub(super) fn resume(&mut self, delivered: u64) {
        self.resumes = Some(delivered);
    }

    /// Continues the exchange once the connection is secure; opens the stream to application data when that may follow.
    pub(super) fn proceed(&mut self, receiver: &Receiver, outgoing: &mut Outgoing) {
        let heard = self.heard(receiver);
        let may_tell = match self.role {
            Role::Client => self.resumes.is_some(),
            Role::Server => heard.is_some() && (self.resumes.is_some() || !self.sends),
        };
        if may_tell && !self.told {
            self.told = true;
            outgoing.tell(MESSAGE, self.resumes.unwrap_or(0));
        }
        if outgoing.is_open() {
            return;
        }
        match heard {
            _ if self.resumes.is_none() => outgoing.open(),
            Some(delivered) if self.sends => {
                outgoing.start_at(delivered);
                outgoing.open();
            }
            None if self.sends => {}
            _ => outgoing.open(),
        }
    }

    /// The offset in the other end's message, once that has arrived.
    fn heard(&self, receiver: &Receiver) -> Option<u64> {
        let overhead = if self.tls { RECORD_OVERHEAD } else { 0 };
        let end = self.handshake() + MESSAGE + overhead;
        receiver.resumed().filter(|_| receiver.complete() >= end)
    }

    /// Bytes of the other end's part of the TLS handshake.
    fn handshake(&self) -> u64 {
        if self.tls { tls::incoming(self.role) } else { 0 }
    }

    /// Whether this end waits for an answer.
    pub(super) fn awaits(&self, receiver: &Receiver) -> bool {
        let client = self.resumes.is_some() && self.role == Role::Client;
        client && receiver.complete() <= self.handshake()
    }

    /// Application data delivered so far, if the `read` bytes of a stream without records have arrived.
    pub(super) fn delivered(&self, receiver: &Receiver) -> u64 {
        if receiver.resumed().is_some() {
            self.resumes.unwrap_or(0) + receiver.read().saturating_sub(MESSAGE)
        } else {
            receiver.read()
        }
    }
}
