//! Datagrams without a transport protocol: background traffic, and measurement of links. No congestion control, no
//! pacing, no retransmission: messages leave at once, and losses stay.

use std::collections::VecDeque;
use std::net::SocketAddr;

use leobench_base::packet::{Datagram, IPV4_UDP_HEADER};
use leobench_base::spec::Fault;
use leobench_base::{Body, Bytes, Meta, Packet, Protocol, SimTime};

use crate::buffer::{Attributes, SendBuffer};
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

/// The sending end of a datagram flow.
pub struct UdpSender {
    local: SocketAddr,
    remote: SocketAddr,
    payload: Bytes,
    buffer: SendBuffer,
    /// Messages that have not left yet: the stream and the bytes that remain of each.
    written: VecDeque<(usize, Bytes)>,
    /// The number of the next message to leave on each stream.
    next_message: Vec<u64>,
    totals: Totals,
}

impl UdpSender {
    /// A sender of `streams` streams, with at most `payload` bytes of a message in a datagram.
    ///
    /// # Panics
    /// If the payload is zero (see [`UdpSpec::check`]).
    pub fn new(local: SocketAddr, remote: SocketAddr, streams: usize, payload: Bytes) -> Self {
        assert!(!payload.is_zero(), "a datagram without payload carries no message");
        Self {
            local,
            remote,
            payload,
            buffer: SendBuffer::new(&vec![Attributes::default(); streams]),
            written: VecDeque::new(),
            next_message: vec![0; streams],
            totals: Totals::default(),
        }
    }

    /// Cuts the first message written into datagrams and sends them, as far as there is `room` for more.
    fn send(&mut self, now: SimTime, room: &mut usize, outbox: &mut Outbox) {
        let Some((stream, before)) = self.written.pop_front() else { return };
        let message = self.next_message[stream];
        let mut left = before;
        while !left.is_zero() && *room > 0 {
            *room -= 1;
            let payload = left.min(self.payload);
            left -= payload;
            self.totals.sent_packets += 1;
            self.totals.sent_bytes += payload;
            outbox.packets.push(Packet {
                meta: self.header(now, payload),
                body: Body::Datagram(Datagram { stream, message, payload }),
            });
        }
        if left.is_zero() {
            self.next_message[stream] += 1;
        } else {
            self.written.push_front((stream, left));
        }
        self.buffer.take(stream, (before - left).get());
        let offset = self.buffer.streams()[stream].taken();
        outbox.reports.push(Report::Sent { stream, offset });
    }

    fn header(&self, now: SimTime, payload: Bytes) -> Meta {
        let size = payload + IPV4_UDP_HEADER;
        Meta::new(now, Protocol::Udp, self.local, self.remote, size)
    }
}

impl Endpoint for UdpSender {
    fn input(&mut self, _now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Message { stream, message } => {
                self.buffer.push(stream, message);
                self.written.push_back((stream, message.size));
            }
            Input::Packet(_) => self.totals.received_packets += 1,
            Input::Finish
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
        let mut room = MOST_AT_ONCE;
        while room > 0 && !self.written.is_empty() {
            self.send(now, &mut room, outbox);
        }
        Ok((!self.written.is_empty()).then_some(now))
    }

    fn sample_paths(&self, _now: SimTime, _samples: &mut Vec<PathSample>) {}

    fn send_buffer(&self) -> Option<&SendBuffer> {
        Some(&self.buffer)
    }

    fn totals(&self) -> Totals {
        self.totals
    }
}

/// The receiving end of a datagram flow.
#[derive(Default)]
pub struct UdpReceiver {
    reports: Vec<Report>,
    totals: Totals,
}

impl UdpReceiver {
    /// A receiver of datagrams of any flow.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Endpoint for UdpReceiver {
    /// # Panics
    /// If the application writes at this end.
    fn input(&mut self, _now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Packet(packet) => {
                self.totals.received_packets += 1;
                if let Body::Datagram(Datagram { stream, message, payload }) = packet.body {
                    self.reports.push(Report::Datagram { stream, message, payload });
                }
            }
            Input::Message { message, .. } => {
                panic!("the receiving end of a datagram flow was given {message:?} to send")
            }
            Input::Finish
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
        _now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        outbox.reports.append(&mut self.reports);
        Ok(None)
    }

    fn sample_paths(&self, _now: SimTime, _samples: &mut Vec<PathSample>) {}

    fn send_buffer(&self) -> Option<&SendBuffer> {
        None
    }

    fn totals(&self) -> Totals {
        self.totals
    }
}

#[cfg(test)]
mod tests;
