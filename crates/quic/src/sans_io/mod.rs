//! A QUIC connection for programs: datagrams and stream data are bytes, and the time is an argument.
//!
//! Order of calls: [`ByteConnection::on_timer`] when [`ByteConnection::timer`] says so, and [`ByteConnection::receive`] for
//! every datagram; after either, and after any call of the application, [`ByteConnection::transmit`] until it returns none.

mod config;
mod content;

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Body, Bytes as Size, Meta, Packet, Protocol, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::{EndpointError, Outbox};

pub use self::config::ByteConfig;
use self::content::Contents;
use super::connection::{Connection, Output};
use super::datagrams::{DatagramError, DatagramEvent};
use super::endpoint::Listener;
use super::streams::{SendState, StreamEvent};
use crate::paths::FourTuple;
use crate::wire::{Directionality, StreamId};

/// Something that happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByteEvent {
    /// The handshake is complete: streams may be opened.
    Established,
    /// The next bytes of a stream, in order. The first such event of a stream of the peer's shows that it was opened.
    Data {
        /// The stream.
        id: u64,
        /// The bytes.
        data: Bytes,
    },
    /// A stream ended, after all its bytes.
    Finished {
        /// The stream.
        id: u64,
    },
    /// The peer abandoned a stream (`RESET_STREAM`).
    Reset {
        /// The stream.
        id: u64,
        /// Its error code.
        code: u64,
    },
    /// The peer wants no more of a stream (`STOP_SENDING`).
    Stopped {
        /// The stream.
        id: u64,
        /// Its error code.
        code: u64,
    },
    /// The peer has acknowledged a stream up to its end.
    Acked {
        /// The stream.
        id: u64,
    },
    /// The peer sent an unreliable datagram (RFC 9221).
    DatagramReceived {
        /// Its content.
        data: Bytes,
    },
    /// The unreliable datagram of this number was acknowledged.
    DatagramAcked {
        /// Its number.
        number: u64,
    },
    /// The unreliable datagram of this number was lost, unless an acknowledgement follows.
    DatagramLost {
        /// Its number.
        number: u64,
    },
    /// The connection is over.
    Lost {
        /// Why, for people.
        reason: String,
        /// The peer's error code and reason, if the peer closed it.
        close: Option<PeerClose>,
    },
}

/// How the peer closed a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerClose {
    /// Error code.
    pub code: u64,
    /// Whether the application closed it, and not the stack (RFC 9000 section 10.2.3).
    pub by_application: bool,
    /// Reason phrase.
    pub reason: Bytes,
}

/// One end of a QUIC connection.
///
/// Received data counts as read when it is complete up to there, whether the application has taken it or not.
pub struct ByteConnection {
    listener: Listener,
    /// The datagram that is being made.
    outgoing: Vec<Packet>,
    contents: Contents,
    events: VecDeque<ByteEvent>,
    role: Role,
    established: bool,
    lost: bool,
}

impl ByteConnection {
    /// A client that is about to send its first packet, or a server that waits for it.
    ///
    /// # Errors
    /// If TLS cannot be set up so.
    pub fn new(config: &ByteConfig, now: SimTime) -> Result<Self, EndpointError> {
        let mut listener = Listener::new(config.parts()?, config.spec.retry, false);
        if config.role == Role::Client {
            listener.connect(now, |_| ())?;
            if let Some(connection) = listener.connection_mut() {
                connection.start(now);
            }
        }
        Ok(Self {
            listener,
            outgoing: Vec::new(),
            contents: Contents::default(),
            events: VecDeque::new(),
            role: config.role,
            established: false,
            lost: false,
        })
    }

    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.listener.connection_mut()
    }

    /// A datagram arrived, from where the peer is known to be.
    ///
    /// # Errors
    /// If TLS cannot start.
    pub fn receive(&mut self, now: SimTime, datagram: BytesMut) -> Result<(), EndpointError> {
        let source = match self.connection() {
            Some(connection) => connection.peer_address(),
            None => FourTuple::UNKNOWN.remote,
        };
        self.receive_from(now, source, datagram)
    }

    /// A datagram arrived from an address. A server follows its client to another one (RFC 9000 section 9.3); a client's server has
    /// one address.
    ///
    /// # Errors
    /// If TLS cannot start.
    pub fn receive_from(
        &mut self,
        now: SimTime,
        source: SocketAddr,
        datagram: BytesMut,
    ) -> Result<(), EndpointError> {
        let remote = if self.role == Role::Server { source } else { FourTuple::UNKNOWN.remote };
        let size = IPV4_UDP_HEADER + Size::new(datagram.len() as u64);
        let meta = Meta::new(now, Protocol::Udp, remote, FourTuple::UNKNOWN.local, size);
        self.listener.receive_bytes(now, &meta, datagram, &self.contents)?;
        if let Some(connection) = self.listener.connection() {
            self.contents.settle(connection.is_open());
            self.collect();
        }
        Ok(())
    }

    /// The latest time that programs give: 2^63 - 1 ns, the largest of a signed clock.
    pub const LATEST: SimTime = SimTime::from_nanos(u64::MAX >> 1);

    /// Does what is due.
    pub fn on_timer(&mut self, now: SimTime) {
        let Some(connection) = self.connection() else { return };
        if connection.timer(now).is_some_and(|timer| timer <= now) {
            connection.on_timer(now);
            self.collect();
        }
    }

    /// When [`Self::on_timer`] and [`Self::transmit`] are to be called next if nothing arrives before; later than `now`.
    /// None if that is later than [`Self::LATEST`].
    pub fn timer(&mut self, now: SimTime) -> Option<SimTime> {
        // A timer may lie at this very instant if what it waited for cannot be sent; time must move.
        let next = now + SimDuration::from_nanos(1);
        let timer = self.connection()?.timer(now)?.max(next);
        (timer <= Self::LATEST).then_some(timer)
    }

    /// The next datagram to send now.
    ///
    /// # Errors
    /// If the congestion controller cannot go on.
    pub fn transmit(&mut self, now: SimTime) -> Result<Option<BytesMut>, EndpointError> {
        Ok(self.transmit_to(now)?.map(|(datagram, _)| datagram))
    }

    /// The next datagram to send now, and the address of the peer to send it to, if that is known.
    ///
    /// # Errors
    /// If the congestion controller cannot go on.
    pub fn transmit_to(
        &mut self,
        now: SimTime,
    ) -> Result<Option<(BytesMut, SocketAddr)>, EndpointError> {
        let mut out = Output { content: &self.contents, packets: &mut self.outgoing };
        if !self.listener.answers.is_empty() {
            out.packets.push(self.listener.answers.remove(0));
        } else if let Some(connection) = self.listener.connection_mut() {
            // Keys that are used up close the connection, which is the next to be sent.
            while out.packets.is_empty() && connection.transmit(now, &mut out)? {}
            connection.check(now)?;
            self.collect();
        }
        Ok(self.outgoing.pop().and_then(|Packet { meta, body }| match body {
            Body::UdpBytes(bytes) => Some((bytes, meta.destination)),
            _ => None,
        }))
    }

    /// The next event.
    pub fn next_event(&mut self) -> Option<ByteEvent> {
        self.events.pop_front()
    }

    /// Opens a stream, if the handshake is complete or 0-RTT data may be sent, and the peer allows another one.
    pub fn open(&mut self, direction: Directionality) -> Option<u64> {
        self.live()?.streams_mut().open(direction).map(|id| id.0)
    }

    /// Writes to a stream; whether it takes the bytes.
    pub fn write(&mut self, id: u64, data: &[u8]) -> bool {
        let Some(connection) = self.live() else { return false };
        if !connection.streams_mut().write(StreamId(id), data.len() as u64) {
            return false;
        }
        let acked = connection.streams_mut().acked(StreamId(id)).unwrap_or(0);
        self.contents.write(id, data, acked);
        true
    }

    /// Ends a stream; whether that is possible.
    pub fn finish(&mut self, id: u64) -> bool {
        self.live().is_some_and(|connection| connection.streams_mut().end(StreamId(id)))
    }

    /// Abandons a stream (`RESET_STREAM`); whether that is possible.
    pub fn reset(&mut self, id: u64, code: u64) -> bool {
        let done = self
            .live()
            .is_some_and(|connection| connection.streams_mut().reset(StreamId(id), code));
        if done {
            self.contents.forget_sent(id);
        }
        done
    }

    /// Asks the peer to send no more on a stream (`STOP_SENDING`), and drops what arrives; whether that is possible.
    pub fn stop(&mut self, now: SimTime, id: u64, code: u64) -> bool {
        let done = self
            .live()
            .is_some_and(|connection| connection.streams_mut().stop(now, StreamId(id), code));
        if done {
            self.contents.forget_received(id);
        }
        done
    }

    /// Sends an unreliable datagram as soon as window and pacing let it; the number by which events name it.
    ///
    /// # Errors
    /// A message for people if the peer takes none now or none so large, or too many wait.
    pub fn send_datagram(&mut self, data: &[u8]) -> Result<u64, String> {
        let Some(connection) = self.live() else {
            return Err(DatagramError::Unsupported.to_string());
        };
        let sent = connection.send_datagram(Bytes::copy_from_slice(data));
        sent.map_err(|error| error.to_string())
    }

    /// Bytes of the largest unreliable datagram that can be sent; none if the peer takes none.
    pub fn largest_datagram(&mut self) -> Option<u64> {
        self.live().filter(|connection| connection.handshake().complete)?.largest_datagram()
    }

    /// Closes the connection with an error code of the application and a reason.
    pub fn close(&mut self, now: SimTime, code: u64, reason: &str) {
        if let Some(connection) = self.live() {
            connection.close(now, code, reason);
            self.collect();
        }
    }

    /// Starts a key update (RFC 9001 section 6); whether the handshake is confirmed and the last update settled.
    pub fn update_keys(&mut self, now: SimTime) -> bool {
        self.live().is_some_and(|connection| connection.update_keys(now))
    }

    /// Whether the server has accepted 0-RTT data; none if there was none, or a client does not know yet.
    pub fn early_data(&self) -> Option<bool> {
        self.listener.connection()?.handshake().early_data()
    }

    /// Whether nothing is left of the connection: it was closed and no packet will be sent any more.
    pub fn is_closed(&self) -> bool {
        self.listener.connection().is_some_and(Connection::is_closed)
    }

    /// The connection, unless it is closing.
    fn live(&mut self) -> Option<&mut Connection> {
        self.connection().filter(|connection| connection.lost().is_none())
    }

    /// Takes the events of the connection.
    fn collect(&mut self) {
        let Some(connection) = self.listener.connection_mut() else { return };
        if !self.established && connection.handshake().complete {
            self.established = true;
            self.events.push_back(ByteEvent::Established);
        }
        while let Some(event) = connection.streams_mut().next_event() {
            let event = match event {
                StreamEvent::Opened(_) => continue,
                StreamEvent::Readable { id: StreamId(id), start, end } => {
                    ByteEvent::Data { id, data: self.contents.read(id, start, end) }
                }
                StreamEvent::Finished(StreamId(id)) => ByteEvent::Finished { id },
                StreamEvent::Reset { id: StreamId(id), code } => ByteEvent::Reset { id, code },
                StreamEvent::Stopped { id: StreamId(id), code } => {
                    self.contents.watch_sent(id);
                    ByteEvent::Stopped { id, code }
                }
                StreamEvent::Acked(StreamId(id)) => {
                    self.contents.forget_sent(id);
                    ByteEvent::Acked { id }
                }
            };
            self.events.push_back(event);
        }
        while let Some(event) = connection.next_datagram_event() {
            self.events.push_back(match event {
                DatagramEvent::Received(data) => ByteEvent::DatagramReceived { data },
                DatagramEvent::Acked(number) => ByteEvent::DatagramAcked { number },
                DatagramEvent::Lost(number) => ByteEvent::DatagramLost { number },
            });
        }
        let streams = connection.streams_mut();
        self.contents.prune_received(|id| streams.receive_state(StreamId(id)).is_some());
        self.contents
            .prune_sent(|id| streams.send_state(StreamId(id)) == Some(SendState::DataSent));
        let (lost, close) = (connection.lost(), connection.peer_close());
        if let Some(loss) = lost.filter(|_| !self.lost) {
            let close = close.map(|close| PeerClose {
                code: close.code,
                by_application: close.frame_type.is_none(),
                reason: close.reason.clone(),
            });
            self.events.push_back(ByteEvent::Lost { reason: loss.reason.clone(), close });
            self.lost = true;
        }
        // Diagnostics of a run, which nobody asks for here.
        connection.take_reports(&mut Outbox::default());
    }
}

#[cfg(test)]
mod tests;
