//! The outgoing datagrams of a connection: what may leave, and when.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use bytes::BytesMut;
use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{BitRate, Body, Bytes, Ecn, Meta, Packet, Protocol, SimTime};
use leobench_transport::endpoint::{EndpointError, Event, Outbox, Report};
use leobench_transport::pacing::window_rate;
use noq_proto::{Connection, PathId as StackPathId};

use super::super::clock::span;
use super::super::control::Control;
use super::super::ecn::ecn;
use super::super::sender::Sender;
use super::super::tap::MALFORMED;
use super::NoqEndpoint;

/// Datagrams that carry path challenges are padded to at least this (RFC 9000 section 8.2.1), whatever follows them.
const SMALLEST_PADDED: u64 = 1_200;

impl NoqEndpoint {
    /// Lets probes out that a timeout asked for: what passes a shut gate and counts towards the window is a loss probe
    /// (RFC 9002 section 6.2.4).
    pub(super) fn expire(&mut self, now: SimTime, outbox: &mut Outbox) {
        let instant = self.clock.instant(now);
        let Some((_, connection)) = &mut self.connection else { return };
        connection.handle_timeout(instant);
        let before = self.control.sent_packets();
        let first = self.tap.sent().next_packet;
        self.control.set_gate(false);
        while self.transmit(now, outbox) > 0 {}
        if self.control.sent_packets() > before {
            self.control.probed(first);
            self.timeouts += 1;
            outbox.events.push(Event { kind: "timeout", detail: String::new() });
        }
    }

    /// Sends what may be sent, feeding the stack as it goes; when pacing lets the next packet go, if that is what
    /// holds it back.
    ///
    /// Asking the stack for a packet costs almost as much when it has none, so it is not asked where that is known.
    pub(super) fn send(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        if self.control.take_losses()
            && let Some(sender) = &mut self.sender
        {
            sender.repeat();
        }
        let mut ready = self.ready();
        loop {
            let open = ready <= now;
            self.control.set_gate(open);
            if open {
                self.feed(now)?;
            }
            let sent = self.transmit(now, outbox);
            ready = self.ready();
            let may_feed = open && sent == 0 && self.has_window();
            if may_feed && self.sender.as_mut().is_some_and(Sender::has_repeated) {
                continue;
            }
            if sent == 0 || self.established && self.is_last(now, sent, ready) {
                break;
            }
        }
        let idle = self.is_idle();
        // The window is underutilised for want of data or of flow-control credit (RFC 9002 section 7.8), of which only the
        // former is the application's doing. Waiting for the pacer does not count, unless it hides want: pacing spreads a
        // window over a round trip, and so leaves more than half of it in flight. A rate of the algorithm's own says nothing
        // of the kind.
        let sparse = self.control.pacing_rate().is_none()
            && 2 * self.control.in_flight().get() < self.control.window().get();
        let blocked = self.sender.as_ref().is_some_and(Sender::is_blocked);
        let has_window = self.has_window();
        let app_limited = (idle && !blocked || sparse) && has_window;
        self.control.set_limits(app_limited, !((idle || sparse) && has_window));
        Ok((ready > now && !idle).then_some(ready))
    }

    /// When the pacer lets the next packet go.
    fn ready(&self) -> SimTime {
        match (&self.pacer, &self.connection) {
            (Some(pacer), Some((_, connection))) => {
                pacer.ready(pacing_rate(&self.control, connection))
            }
            _ => SimTime::ZERO,
        }
    }

    /// Whether nothing can follow a datagram of `size` bytes: pacing or the window holds all else back (what needs
    /// neither went with it), or it had room left, as only the end of all there was leaves.
    fn is_last(&self, now: SimTime, size: u64, ready: SimTime) -> bool {
        let held = self.sender.is_some() && (ready > now || !self.has_window());
        held || size < SMALLEST_PADDED && self.is_idle()
    }

    /// Whether the window has room for a full packet.
    fn has_window(&self) -> bool {
        self.control.in_flight() + self.payload <= self.control.window()
    }

    /// Whether there is nothing to send now: nothing new that flow control lets go, and nothing lost.
    fn is_idle(&self) -> bool {
        let retransmits =
            self.connection.as_ref().is_some_and(|(_, c)| c.has_pending_retransmits());
        let sender_idle =
            self.sender.as_ref().is_none_or(|sender| sender.is_idle(&self.tap.sent()));
        sender_idle && !retransmits
    }

    fn feed(&mut self, now: SimTime) -> Result<(), EndpointError> {
        if !self.established || !self.has_window() {
            return Ok(());
        }
        let (Some(sender), Some((_, connection))) = (&mut self.sender, &mut self.connection) else {
            return Ok(());
        };
        let sent = self.tap.sent();
        let largest_acked = self.control.largest_acked();
        sender.feed(now, connection, self.payload.get(), &sent, largest_acked)
    }

    /// Takes one datagram out of the stack, if it has one, and returns its size.
    fn transmit(&mut self, now: SimTime, outbox: &mut Outbox) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        self.buffer.clear();
        let instant = self.clock.instant(now);
        let before = self.control.sent_packets();
        let Some(transmit) = connection.poll_transmit(instant, NonZeroUsize::MIN, &mut self.buffer)
        else {
            return 0;
        };
        if let Some(sender) = &mut self.sender
            && sender.has_reserve()
        {
            sender.settle(connection, &self.tap.sent());
        }
        let size = Bytes::new(transmit.size as u64);
        let counts = self.control.sent_packets() > before;
        if counts && let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, size, pacing_rate(&self.control, connection));
        }
        self.sent_datagrams += 1;
        self.sent_bytes += size;
        let source_ip = transmit.src_ip.unwrap_or(self.local.ip());
        let source = SocketAddr::new(source_ip, self.local.port());
        let size_on_ip = size + IPV4_UDP_HEADER;
        let mut meta = Meta::new(now, Protocol::Udp, source, transmit.destination, size_on_ip);
        if counts && is_one_rtt(&self.buffer) {
            meta.transmission = self.control.last_transmission();
        }
        outbox.packets.push(Packet {
            meta: meta.with_ecn(if self.ecn { ecn(transmit.ecn) } else { Ecn::NotEct }),
            body: Body::UdpBytes(BytesMut::from(&self.buffer[..transmit.size])),
        });
        size.get()
    }

    /// Reports what left, and makes sure that it is fully known.
    pub(super) fn report_sent(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<(), EndpointError> {
        let mut sent = self.tap.sent();
        while let Some(stream) = sent.advanced.pop() {
            outbox.reports.push(Report::Sent { stream, offset: sent.offsets[stream] });
        }
        match sent.unreadable {
            None => Ok(()),
            Some(MALFORMED) => {
                let problem = "a packet left that ends within a frame".into();
                Err(EndpointError::Stack { at: now, problem })
            }
            Some(kind) => {
                let problem = format!("a packet left with a frame of type {kind:#x}");
                Err(EndpointError::Stack { at: now, problem })
            }
        }
    }
}

/// The rate the algorithm asks for, or the window spread over the round trip.
pub(super) fn pacing_rate(control: &Control, connection: &Connection) -> BitRate {
    control.pacing_rate().unwrap_or_else(|| {
        let rtt = connection.rtt(StackPathId::ZERO).unwrap_or_default();
        window_rate(control.window(), span(rtt))
    })
}

/// Whether a datagram begins with a 1-RTT packet, the only one with a short header (RFC 9000 section 17.3).
fn is_one_rtt(datagram: &[u8]) -> bool {
    datagram.first().is_some_and(|first| first & 0x80 == 0)
}
