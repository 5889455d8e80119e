//! The common case, without what it never needs: a connection with a single path that stays where it is, after the handshake.
//! All of it decides what the general code would decide.

use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Body, Bytes, Ecn, Meta, Packet as IpPacket, Protocol, SimTime};
use leobench_transport::endpoint::EndpointError;

use super::Connection;
use super::draft::Draft;
use super::transmit::{SMALLEST_SAMPLED, WORTHWHILE, transmission_of};
use crate::path::Path;
use crate::recovery::SentPacket;
use crate::route::FourTuple;
use crate::wire::{Datagram, Frame, Header, Packet, Space, TAG_SIZE, TransportError};

/// Boxes of datagrams that are kept for the next ones to send.
const MOST_SPARES: usize = 4;

/// Whether there is content to send, and the limits on sending it.
#[derive(Clone, Copy, Debug)]
struct Outlook {
    content: bool,
    has_window: bool,
    /// When pacing lets the next packet go.
    ready: SimTime,
}

impl Connection {
    /// The only path, if the connection is in the common case.
    #[inline]
    fn steady_path(&self) -> Option<&Path> {
        #[cfg(test)]
        if is_general_only() {
            return None;
        }
        let path = self.paths.only()?;
        let settled = self.confirmed
            && self.complete
            && self.multipath.is_none()
            && path.is_settled()
            && path.recovery.is_settled();
        settled.then_some(path)
    }

    /// Sends what may be sent now, as long as the connection is in the common case. Returns whether it is to the end; otherwise
    /// the rest is up to [`transmit`](Self::transmit).
    ///
    /// # Errors
    /// If the stream scheduler misbehaved.
    pub(crate) fn send_steadily(
        &mut self,
        now: SimTime,
        packets: &mut Vec<IpPacket>,
    ) -> Result<bool, EndpointError> {
        if self.as_bytes || self.leaves_initial {
            return Ok(false);
        }
        loop {
            if !self.is_open() {
                return Ok(false);
            }
            self.look_after_keys(now);
            let is_steady = self.steady_path().is_some_and(|path| path.dues.probes == 0);
            if !is_steady || !self.can_send(Space::Data) {
                let is_over_paths = self.multipath.is_some();
                return if is_over_paths {
                    self.send_over_settled(now, packets)
                } else {
                    Ok(false)
                };
            }
            let Some(draft) = self.draft_steadily(now)? else { return Ok(true) };
            #[cfg(test)]
            count_packet();
            packets.push(self.dispatch_steadily(now, draft));
        }
    }

    #[inline]
    fn outlook(&self, path: &Path) -> Outlook {
        let has_window = path.recovery.in_flight() + path.mtu <= self.control.window(path.id);
        let ready = path.ready(&self.control);
        Outlook { content: self.has_content(Space::Data), has_window, ready }
    }

    /// The next packet, if one may be sent now. Otherwise notes when something is due.
    #[inline]
    fn draft_steadily(&mut self, now: SimTime) -> Result<Option<Draft>, EndpointError> {
        let path = self.path();
        let ack_due = path.dues.received.is_due(now);
        let outlook = self.outlook(path);
        let content = outlook.content && outlook.has_window && outlook.ready <= now;
        if ack_due || content {
            let room = path.mtu;
            let number = path.recovery.next_number(Space::Data);
            let header = self.header(Space::Data, number);
            if room >= header.size(room) + TAG_SIZE + WORTHWHILE {
                let mut draft = Draft::within(self.spares.pop(), header, room);
                self.add_ack(now, &mut draft, ack_due);
                if content {
                    self.add_content(now, &mut draft)?;
                }
                if !draft.frames().is_empty() {
                    if self.path().dues.received.has_many_ranges() {
                        self.ask_for_ack(now, &mut draft);
                    }
                    let sampled = u64::from(number.len) + draft.payload;
                    draft.pad(SMALLEST_SAMPLED.saturating_sub(sampled));
                    return Ok(Some(draft));
                }
            }
        }
        self.note_limits(outlook.content, outlook.has_window);
        let waits = outlook.ready > now && outlook.content && outlook.has_window;
        let paced = if waits { outlook.ready } else { SimTime::MAX };
        let path = self.path();
        let ack = path.dues.received.timer().filter(|due| *due > now).unwrap_or(SimTime::MAX);
        let recovery = path.recovery.timer().unwrap_or(SimTime::MAX);
        self.next_due = Some(paced.min(ack).min(recovery));
        Ok(None)
    }

    /// Registers a packet as sent.
    #[expect(clippy::inline_always, reason = "one path and several each call it once")]
    #[inline(always)]
    pub(super) fn dispatch_steadily(&mut self, now: SimTime, draft: Draft) -> IpPacket {
        let (size, in_flight) = (draft.size(), draft.is_in_flight());
        let number = draft.header().number().value;
        let Draft { datagram, carried, ack_eliciting, .. } = draft;
        if ack_eliciting {
            self.on_eliciting_sent(now);
        }
        let path = &mut self.paths[self.active];
        let marks = path.recovery.marks_ecn(now);
        let mut sent = SentPacket::new(number, now, size, carried);
        (sent.ack_eliciting, sent.in_flight, sent.ect) = (ack_eliciting, in_flight, marks);
        path.recovery.on_sent(now, Space::Data, sent, &mut self.control);
        if in_flight {
            path.pace(now, size, &self.control);
        }
        path.on_sent_over_route(size);
        let FourTuple { local: source, remote: destination } = path.route.tuple;
        let id = path.id;
        let transmission = if ack_eliciting { transmission_of(id, number) } else { None };
        if self.qlog.is_some() {
            self.log_datagram(now, &datagram, size);
        }
        self.protection.set_path(id.0);
        if let Err(error) = self.protection.on_sent_one_rtt(number) {
            self.fail(now, &error);
        }
        let ecn = if marks { Ecn::Ect0 } else { Ecn::NotEct };
        let size = Bytes::new(size) + IPV4_UDP_HEADER;
        let meta = Meta::new(now, Protocol::Udp, source, destination, size).with_ecn(ecn);
        IpPacket { meta: Meta { transmission, ..meta }, body: Body::Udp(datagram) }
    }

    /// A datagram was taken in: the next one may travel in its box.
    #[inline]
    pub(crate) fn keep_box(&mut self, datagram: Box<Datagram>) {
        if self.spares.len() < MOST_SPARES {
            self.spares.push(datagram);
        }
    }

    /// The result of [`timer`](Self::timer), without a search if sending has just found the next time.
    #[inline]
    pub(crate) fn timer_after_sending(&mut self, now: SimTime) -> Option<SimTime> {
        let Some(first) = self.next_due.take().filter(|_| self.is_open()) else {
            return self.timer(now);
        };
        // The idle timeout is never shorter than what was agreed on: most often it need not be worked out.
        match self.idle.timeout {
            Some(timeout) if first > self.idle.since + timeout => {
                self.idle_deadline().map(|deadline| deadline.min(first))
            }
            _ => (first < SimTime::MAX).then_some(first),
        }
    }

    /// Takes in a datagram of `size` bytes over `tuple` that is a single 1-RTT packet with nothing but data and
    /// acknowledgements, if the connection is in the common case. Returns whether it did: any other is up to
    /// [`on_datagram`](Self::on_datagram) and [`on_packet`](Self::on_packet).
    pub(crate) fn on_steady_packet(
        &mut self,
        now: SimTime,
        tuple: FourTuple,
        size: u64,
        ecn: Ecn,
        packet: &Packet,
    ) -> bool {
        let Header::OneRtt { destination, number, .. } = &packet.header else { return false };
        let Some(path) = self.steady_path().filter(|path| path.route.tuple == tuple) else {
            return !self.settled.is_empty()
                && self.on_settled_packet(now, tuple, size, ecn, packet);
        };
        let next = path.dues.received.largest().map_or(0, |largest| largest + 1);
        let is_plain = |frame: &Frame| matches!(frame, Frame::Stream { .. } | Frame::Ack(_));
        if self.provisional
            || !self.is_open()
            || !path.ids.local.is_latest(*destination)
            || number.value != next && !self.can_expand(&packet.header)
            || self.handshakes[Space::Data as usize].has_arrived()
            || packet.frames.is_empty()
            || !packet.frames.iter().all(is_plain)
        {
            return false;
        }
        self.take_steadily(now, size, ecn, packet);
        true
    }

    /// Takes in such a datagram of several paths. Its keys are the present ones, of no other phase: the probe timeout does not
    /// matter then.
    #[inline(never)]
    fn on_settled_packet(
        &mut self,
        now: SimTime,
        tuple: FourTuple,
        size: u64,
        ecn: Ecn,
        packet: &Packet,
    ) -> bool {
        let Header::OneRtt { destination, number, key_phase, .. } = &packet.header else {
            return false;
        };
        let is_there = |at: &usize| self.paths[*at].ids.local.is_latest(*destination);
        let active = Some(self.active).filter(is_there);
        let Some(at) = active.or_else(|| self.settled.iter().copied().find(is_there)) else {
            return false;
        };
        let path = &self.paths[at];
        let next = path.dues.received.largest().map_or(0, |largest| largest + 1);
        if path.route.tuple != tuple
            || !path.is_open()
            || !self.is_open()
            || number.value != next
            || !self.protection.is_usual(*key_phase)
            || self.handshakes[Space::Data as usize].has_arrived()
            || packet.frames.is_empty()
            || !self.is_plain_on_paths(packet)
        {
            return false;
        }
        self.active = at;
        self.path_mut().heard = now;
        self.take_steadily(now, size, ecn, packet);
        true
    }

    /// Takes in a datagram of the common case.
    #[expect(clippy::inline_always, reason = "one path and several each call it once")]
    #[inline(always)]
    fn take_steadily(&mut self, now: SimTime, size: u64, ecn: Ecn, packet: &Packet) {
        let number = packet.header.number();
        let path = &mut self.paths[self.active];
        path.on_received_over_route(size);
        self.protection.set_path(path.id.0);
        let authentic = if self.protection.on_usual(&packet.header) {
            Ok(true)
        } else {
            let pto = path.recovery.probe_timeout(Space::Data);
            self.protection.on_received(now, pto, &packet.header)
        };
        let taken = match authentic {
            Ok(true) if !self.path().dues.received.is_duplicate(number.value) => {
                self.take_in_steadily(now, ecn, packet)
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            self.fail(now, &error);
        }
    }

    #[expect(clippy::inline_always, reason = "one path and several each call it once")]
    #[inline(always)]
    fn take_in_steadily(
        &mut self,
        now: SimTime,
        ecn: Ecn,
        packet: &Packet,
    ) -> Result<(), TransportError> {
        let eliciting = packet.frames.iter().any(|frame| matches!(frame, Frame::Stream { .. }));
        let number = packet.header.number().value;
        let frequency = self.frequency.current;
        let received = &mut self.paths[self.active].dues.received;
        received.on_packet(now, number, eliciting, ecn, &frequency);
        if self.qlog.is_some() {
            self.log_received(now, packet);
        }
        self.on_alive(now);
        self.on_header(now, Space::Data, &packet.header);
        for frame in &packet.frames {
            match frame {
                Frame::Ack(ack) => self.on_ack(now, packet, Space::Data, ack)?,
                Frame::PathAck { path, ack } => {
                    self.on_ack_of(now, packet, *path as usize, ack)?;
                }
                frame => _ = self.streams.on_frame(now, frame)?,
            }
        }
        let destination = packet.header.destination();
        self.path_mut().route.used_id = Some(destination);
        Ok(())
    }
}

#[cfg(test)]
thread_local! {
    static GENERAL_ONLY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    static PACKETS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Whether all is left to the general code.
#[cfg(test)]
pub(super) fn is_general_only() -> bool {
    GENERAL_ONLY.get()
}

/// A packet was sent in the common case.
#[cfg(test)]
pub(super) fn count_packet() {
    PACKETS.set(PACKETS.get() + 1);
}

/// Leaves all to the general code on this thread, if `only`. Returns how many packets were sent in the common case so far.
#[cfg(test)]
pub(crate) fn use_general_code(only: bool) -> u64 {
    GENERAL_ONLY.set(only);
    PACKETS.get()
}
