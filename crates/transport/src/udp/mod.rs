//! Datagrams without a transport protocol: background traffic, measurement of links, and media. No congestion control, no
//! pacing, no retransmission: messages leave at once, and losses stay.

use std::collections::VecDeque;
use std::net::SocketAddr;

use leobench_base::packet::{Datagram, IPV4_UDP_HEADER};
use leobench_base::spec::Fault;
use leobench_base::{Body, Bytes, Ecn, End, Meta, Packet, Protocol, SimTime, StreamIndex};
use typed_index_collections::{TiVec, ti_vec};

use crate::buffer::{Attributes, Message, SendBuffer};
use crate::endpoint::{Endpoint, EndpointError, Input, Outbox, PathSample, Report, Totals};

/// Maximum payload of a datagram over IPv4 (RFC 791, RFC 768).
const MAX_PAYLOAD: u64 = 65_535 - IPV4_UDP_HEADER.get();

/// Most datagrams handed over in one poll: a message has up to a petabyte. The rest follow in further polls at the same
/// instant, between which a run can be interrupted and its memory looked after.
const MOST_AT_ONCE: usize = 100;

leobench_base::spec! {
    /// Messages as datagrams, sent immediately and never retransmitted.
    pub struct UdpSpec: Default check = UdpSpec::check {
        /// Maximum bytes of a message in a datagram.
        pub payload: Bytes = Bytes::new(1_252),
        /// Whether packets are ECN-capable (ECT(0), RFC 3168): queues with ECN mark them instead of dropping them. `scream` in a
        /// call answers marks.
        pub ecn: bool = false,
    }
}

impl UdpSpec {
    /// Checks that the payload is valid.
    ///
    /// # Errors
    /// If it is zero or too large.
    pub fn check(&self) -> Result<(), Fault> {
        if (1..=MAX_PAYLOAD).contains(&self.payload.get()) {
            return Ok(());
        }
        let allowed = format!("from 1 B to {MAX_PAYLOAD} B");
        Err(Fault::new("payload", "does not fit in a datagram", allowed))
    }
}

/// One end of a datagram flow.
pub struct UdpEndpoint {
    local: SocketAddr,
    /// The other end's address. The receiving end takes it from the last packet: a translator may have changed it.
    remote: SocketAddr,
    end: End,
    spec: UdpSpec,
    buffer: SendBuffer,
    /// Messages and datagrams that have not left yet.
    written: VecDeque<Written>,
    /// The number of the next message to leave on each stream.
    next_message: TiVec<StreamIndex, u64>,
    reports: Vec<Report>,
    totals: Totals,
}

/// Something that the application wrote.
#[derive(Clone, Copy, Debug)]
enum Written {
    /// A message to cut into datagrams: how many have left, and how many bytes remain.
    Message { stream: StreamIndex, parts: u64, left: Bytes },
    /// A datagram.
    Datagram(Datagram),
}

impl UdpEndpoint {
    /// An end of `streams` streams.
    ///
    /// # Panics
    /// If the payload is zero (see [`UdpSpec::check`]).
    pub fn new(end: End, [local, remote]: [SocketAddr; 2], streams: usize, spec: UdpSpec) -> Self {
        assert!(!spec.payload.is_zero(), "a datagram without payload carries no message");
        Self {
            local,
            remote,
            end,
            spec,
            buffer: SendBuffer::new(&vec![Attributes::default(); streams]),
            written: VecDeque::new(),
            next_message: ti_vec![0; streams],
            reports: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Sends what was written first, as far as there is `room` for more datagrams.
    fn send(&mut self, now: SimTime, room: &mut usize, outbox: &mut Outbox) {
        let (stream, taken) = match self.written.pop_front() {
            None => return,
            Some(Written::Datagram(datagram)) => {
                *room -= 1;
                self.send_datagram(now, datagram, outbox);
                (datagram.stream, u64::from(datagram.payload))
            }
            Some(Written::Message { stream, mut parts, left: before }) => {
                let message = self.next_message[stream];
                let mut left = before;
                while !left.is_zero() && *room > 0 {
                    *room -= 1;
                    let payload = left.min(self.spec.payload);
                    left -= payload;
                    let payload = payload.get() as u32;
                    let datagram = Datagram { message, id: parts, stream, payload };
                    self.send_datagram(now, datagram, outbox);
                    parts += 1;
                }
                if left.is_zero() {
                    self.next_message[stream] += 1;
                } else {
                    self.written.push_front(Written::Message { stream, parts, left });
                }
                (stream, (before - left).get())
            }
        };
        self.buffer.take(stream, taken);
        let offset = self.buffer.streams()[stream].taken();
        outbox.reports.push(Report::Sent { stream, offset });
    }

    fn send_datagram(&mut self, now: SimTime, datagram: Datagram, outbox: &mut Outbox) {
        let payload = Bytes::new(datagram.payload.into());
        self.totals.sent_packets += 1;
        self.totals.sent_bytes += payload;
        let size = payload + IPV4_UDP_HEADER;
        let mut meta = Meta::new(now, Protocol::Udp, self.local, self.remote, size);
        meta.ecn = if self.spec.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        outbox.packets.push(Packet { meta, body: Body::Datagram(datagram) });
    }
}

impl Endpoint for UdpEndpoint {
    /// # Panics
    /// If a datagram is larger than the payload.
    fn input(&mut self, _now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Message { stream, message } => {
                self.buffer.push(stream, message);
                self.written.push_back(Written::Message { stream, parts: 0, left: message.size });
            }
            Input::Datagram { datagram, created } => {
                let size = Bytes::new(datagram.payload.into());
                assert!(
                    size <= self.spec.payload,
                    "{datagram:?} in {} of payload",
                    self.spec.payload
                );
                self.buffer.push(datagram.stream, Message { size, created });
                self.written.push_back(Written::Datagram(datagram));
            }
            Input::Packet(packet) => {
                self.totals.received_packets += 1;
                if let Body::Datagram(datagram) = packet.body {
                    let is_marked = packet.meta.ecn == Ecn::Ce;
                    self.reports.push(Report::Datagram { datagram, is_marked });
                    if self.end == End::Receiver {
                        self.remote = packet.meta.source;
                    }
                }
            }
            Input::Open { .. }
            | Input::Finish
            | Input::Interface(_)
            | Input::Carrier(_)
            | Input::Forecast(_)
            | Input::InterfaceForecast(_)
            | Input::Access(_) => {}
        }
        Ok(())
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        outbox.reports.append(&mut self.reports);
        let mut room = MOST_AT_ONCE;
        while room > 0 && !self.written.is_empty() {
            self.send(now, &mut room, outbox);
        }
        Ok((!self.written.is_empty()).then_some(now))
    }

    fn sample_paths(&self, _now: SimTime, _samples: &mut Vec<PathSample>) {}

    fn send_buffer(&self) -> Option<&SendBuffer> {
        (self.end == End::Sender).then_some(&self.buffer)
    }

    fn totals(&self) -> Totals {
        self.totals
    }
}

#[cfg(test)]
mod tests;
