//! The commitment of packets: from here on they count as sent. Only its last step knows whether packets travel as they are or as
//! protected bytes.

use std::num::NonZeroU64;

use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Body, Bytes, Ecn, Meta, Protocol, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

use super::Output;
use super::builder::{Builders, PacketBuilder, coalesce, packet};
use crate::MINIMUM_DATAGRAM;
use crate::connection::Connection;
use crate::paths::FourTuple;
use crate::recovery::SentPacket;
use crate::wire::{Datagram, Packet, Space};

/// A datagram that leaves.
#[derive(Clone, Copy)]
pub(in crate::connection) struct Departure {
    path: PathId,
    /// The route, if it is another one than the present.
    elsewhere: Option<FourTuple>,
    /// Whether the datagram is marked with ECT(0).
    marked: bool,
    /// Bytes of the UDP payload, and how many of them count towards the window.
    size: u64,
    counted_bytes: u64,
    /// Whether it carries a path challenge.
    challenges: bool,
    /// The number of its 1-RTT packet in verdicts, if the packet may be declared lost.
    transmission: Option<NonZeroU64>,
}

impl Departure {
    /// An empty datagram over the present route of a path, with a mark or without.
    pub(in crate::connection) const fn new(path: PathId, marked: bool) -> Self {
        Self {
            path,
            elsewhere: None,
            marked,
            size: 0,
            counted_bytes: 0,
            challenges: false,
            transmission: None,
        }
    }

    /// An empty datagram over another route.
    pub(super) const fn over(path: PathId, tuple: FourTuple) -> Self {
        Self { elsewhere: Some(tuple), ..Self::new(path, false) }
    }
}

impl Connection {
    /// Registers a packet as sent, alone in its datagram, and hands it out.
    #[inline(always)]
    pub(super) fn commit(&mut self, now: SimTime, builder: PacketBuilder, out: &mut Output<'_>) {
        let marked = self.paths[builder.path].recovery.marks_ecn(now);
        let mut departure = Departure::new(builder.path, marked);
        let datagram = self.commit_packet(now, builder, &mut departure);
        self.commit_datagram(now, &departure, datagram, out);
    }

    /// The same for the packets of several spaces, which share a datagram.
    pub(in crate::connection) fn commit_all(
        &mut self,
        now: SimTime,
        mut departure: Departure,
        builders: Builders,
        out: &mut Output<'_>,
    ) {
        let mut whole = None;
        for builder in builders {
            whole = Some(coalesce(whole, self.commit_packet(now, builder, &mut departure)));
        }
        if let Some(datagram) = whole {
            self.commit_datagram(now, &departure, datagram, out);
        }
    }

    /// Registers a packet as sent. Returns the datagram that it is alone in.
    #[inline(always)]
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "it is boxes that leave, and are used again"
    )]
    fn commit_packet(
        &mut self,
        now: SimTime,
        builder: PacketBuilder,
        departure: &mut Departure,
    ) -> Box<Datagram> {
        let bytes = builder.size();
        let elsewhere = departure.elsewhere.is_some();
        let in_flight = builder.in_flight && !elsewhere;
        let PacketBuilder { path: id, space, number, datagram, carried, ack_eliciting, .. } =
            builder;
        let Packet { header, frames } = packet(&datagram);
        self.qlog.sent(now, id, header, frames, bytes);
        departure.size += bytes;
        departure.counted_bytes += if in_flight { bytes } else { 0 };
        departure.challenges |= builder.validates;
        if ack_eliciting {
            let acks = self.handshake.acks_mut(&mut self.paths, id, space);
            acks.probes = acks.probes.saturating_sub(1);
            self.idle.on_eliciting_sent(now);
        }
        let mut sent = SentPacket::new(number.value, now, bytes, carried);
        (sent.ack_eliciting, sent.in_flight, sent.ect) =
            (ack_eliciting, in_flight, departure.marked);
        sent.elsewhere = elsewhere;
        let path = &mut self.paths[id];
        if ack_eliciting && space == Space::Data {
            departure.transmission = path.id.transmission(number.value);
        }
        path.recovery.on_sent(now, space, sent, &mut self.control);
        self.handshake.leaves_initial |= space == Space::Handshake && self.role == Role::Client;
        datagram
    }

    /// Registers a datagram as sent, and hands it out.
    #[inline(always)]
    fn commit_datagram(
        &mut self,
        now: SimTime,
        departure: &Departure,
        datagram: Box<Datagram>,
        out: &mut Output<'_>,
    ) {
        let path = &mut self.paths[departure.path];
        if departure.counted_bytes > 0 {
            path.pace(now, departure.counted_bytes, &self.control);
        }
        path.on_sent(departure.elsewhere, departure.size);
        path.next_send = Some(now);
        if departure.challenges && departure.size >= MINIMUM_DATAGRAM {
            path.on_large_challenge(departure.elsewhere);
        }
        if !path.route.is_validated() {
            // What may be sent decides whether a probe is due.
            self.update_handshake_state(now, departure.path);
        }
        self.hand_out(now, departure, datagram, out);
    }

    /// Hands a datagram out: as it is, or as bytes, if its packets are to be protected. If the keys are used up, the connection
    /// closes; bytes are not handed out then.
    #[inline]
    fn hand_out(
        &mut self,
        now: SimTime,
        departure: &Departure,
        datagram: Box<Datagram>,
        out: &mut Output<'_>,
    ) {
        let id = departure.path;
        let body = if self.keys.as_bytes {
            let sealed = self.seal_datagram(now, id, &datagram, out.content);
            self.keep_box(datagram);
            let Some(bytes) = sealed else { return };
            Body::UdpBytes(bytes)
        } else {
            self.count_unprotected(now, id, &datagram);
            Body::Udp(datagram)
        };
        let FourTuple { local, remote } =
            departure.elsewhere.unwrap_or_else(|| self.paths[id].route.tuple);
        let size = Bytes::new(departure.size) + IPV4_UDP_HEADER;
        let ecn = if departure.marked { Ecn::Ect0 } else { Ecn::NotEct };
        let meta = Meta::new(now, Protocol::Udp, local, remote, size);
        let meta = Meta { ecn, transmission: departure.transmission, ..meta };
        out.packets.push(leobench_base::Packet { meta, body });
    }

    /// Counts the packets of a datagram that leaves as a struct on a path.
    #[inline]
    fn count_unprotected(&mut self, now: SimTime, id: PathId, datagram: &Datagram) {
        let Datagram::Packets(packets) = datagram else { return };
        for packet in packets {
            if let Err(error) = self.keys.protection.on_sent(id, &packet.header) {
                self.fail(now, id, &error);
            }
        }
    }
}
