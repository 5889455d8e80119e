//! Filling packets: control frames, then what was lost, then new data as the scheduler chooses.

use leobench_base::SimTime;
use leobench_transport::endpoint::{EndpointError, Report};
use leobench_transport::scheduler::{LARGEST_HEADER, Share};

use super::Streams;
use super::id::StreamKind;
use super::packet::Payload;
use crate::paths::StreamRange;
use crate::sent_frame::SentFrames;
use crate::wire::{Directionality, Frames};

impl Streams {
    /// Puts frames of up to `room` bytes into a packet, and what they stand for into `carried`; returns the bytes used. A
    /// frame that fills the room has no length, so nothing may follow it in its packet.
    ///
    /// # Errors
    /// If the scheduler fails.
    pub(crate) fn fill(
        &mut self,
        now: SimTime,
        room: u64,
        frames: &mut Frames,
        carried: &mut SentFrames,
    ) -> Result<u64, EndpointError> {
        let mut payload = Payload { room, frames, carried };
        self.fill_control(&mut payload);
        if !self.again.is_empty() {
            self.fill_again(&mut payload);
        }
        if self.established {
            if self.datagrams.is_some() {
                self.fill_due(now, &mut payload);
            }
            self.fill_flow(now, &mut payload)?;
            if !self.ready.is_empty() {
                self.fill_ready(&mut payload);
            }
            self.note_blocked();
            // What used the credit up has room for saying so: a packet of its own would be expensive.
            if self.pending.is_blocked() {
                self.fill_blocked(&mut payload);
            }
        }
        Ok(room - payload.room)
    }

    /// Adds lost data, and the ends of streams that have no more data.
    #[inline(never)]
    fn fill_again(&mut self, payload: &mut Payload<'_>) {
        let before = self.totals.retransmitted;
        while let Some(&id) = self.again.front() {
            let Some(part) = self.table.send(id) else {
                self.again.pop_front();
                continue;
            };
            let mut is_full = false;
            while let Some((start, end)) = part.next_again() {
                let ends = part.ends_at(end);
                let Some((bytes, fin)) = payload.add_stream(id, start, end - start, ends) else {
                    is_full = true;
                    break;
                };
                part.on_sent_again(start, bytes, fin);
                self.totals.retransmitted += bytes;
            }
            if is_full {
                break;
            }
            part.queued.again = false;
            self.again.pop_front();
        }
        self.totals.retransmitted_packets += u64::from(self.totals.retransmitted > before);
    }

    /// Whether a range that was sent is not acknowledged yet.
    pub(crate) fn is_unacked(&mut self, range: &StreamRange) -> bool {
        let StreamRange { id, start, end, fin } = *range;
        self.table.send(id).is_some_and(|part| part.first_unacked(start, end, fin).is_some())
    }

    /// Puts frames with what is not acknowledged of a range, up to `room` bytes, into a packet, and takes it out of the range.
    /// Returns the bytes used, and those of the stream among them.
    pub(crate) fn fill_copy(
        &mut self,
        range: &mut StreamRange,
        room: u64,
        frames: &mut Frames,
        carried: &mut SentFrames,
    ) -> (u64, u64) {
        let mut payload = Payload { room, frames, carried };
        let mut copied = 0;
        let Some(part) = self.table.send(range.id) else {
            *range = StreamRange { start: range.end, fin: false, ..*range };
            return (0, 0);
        };
        while let Some((start, end)) = part.first_unacked(range.start, range.end, range.fin) {
            let ends = range.fin && end == range.end;
            let Some((bytes, fin)) = payload.add_stream(range.id, start, end - start, ends) else {
                return (room - payload.room, copied);
            };
            copied += bytes;
            range.start = start + bytes;
            range.fin &= !fin;
        }
        *range = StreamRange { start: range.end, fin: false, ..*range };
        (room - payload.room, copied)
    }

    /// New data of the flow's streams.
    fn fill_flow(&mut self, now: SimTime, payload: &mut Payload<'_>) -> Result<(), EndpointError> {
        loop {
            let credit = self.connection_credit();
            let Some(flows) = &mut self.flows else { return Ok(()) };
            if credit == 0 || payload.room == 0 || !flows.buffer().has_occupied() {
                return Ok(());
            }
            // Little credit is shared out as a short packet is.
            flows.schedule(now, payload.room.min(credit.saturating_add(LARGEST_HEADER)))?;
            let (fills, shares) = (flows.fills_packets(), flows.shares().len());
            let mut progress = Progress::default();
            for index in 0..shares {
                self.send_share(now, index, payload, &mut progress);
            }
            if self.datagrams.is_some() {
                self.send_due(now, payload, &mut progress);
            }
            if !progress.leaves_room(fills) {
                return Ok(());
            }
        }
    }

    /// Sends what the scheduler chose of a stream, as far as flow control lets it.
    fn send_share(
        &mut self,
        now: SimTime,
        index: usize,
        payload: &mut Payload<'_>,
        progress: &mut Progress,
    ) {
        let credit = self.connection_credit();
        let Some(flows) = &mut self.flows else { return };
        let Share { stream, bytes } = flows.shares()[index];
        if self.datagrams.as_ref().is_some_and(|datagrams| datagrams.has(stream)) {
            return self.send_datagrams(now, (stream, bytes), payload, progress);
        }
        if self.messages.as_ref().is_some_and(|messages| messages.has(stream)) {
            // The scheduler cuts it by the header of another stream.
            let is_alone = flows.fills_packets() && flows.shares().len() == 1;
            let share = if is_alone { bytes.max(payload.room) } else { bytes };
            return self.send_messages((stream, share), payload, progress);
        }
        let kind = StreamKind { initiator: self.role, direction: Directionality::Unidirectional };
        let id = kind.id(stream.index() as u64);
        let Some(part) = self.table.send(id) else { return };
        let want = bytes.min(part.credit()).min(credit);
        let backlog = flows.buffer().streams()[stream].backlog();
        let ends = self.finishing && want == backlog;
        let sent = if want == 0 { None } else { payload.add_stream(id, part.sent(), want, ends) };
        let Some((sent, fin)) = sent else {
            progress.is_cut = true;
            return;
        };
        part.on_sent(sent, fin);
        let (offset, is_blocked) = (part.sent(), part.credit() == 0);
        flows.take(stream, sent);
        if is_blocked {
            flows.hold(stream, true);
            if backlog > sent {
                self.note_stream_blocked(id);
            }
        }
        progress.is_cut |= sent < bytes;
        progress.has_sent = true;
        self.totals.sent += sent;
        self.report(Report::Sent { stream, offset });
    }

    /// New data of other streams, in turn.
    #[inline(never)]
    fn fill_ready(&mut self, payload: &mut Payload<'_>) {
        while let Some(&id) = self.ready.front() {
            let credit = self.connection_credit();
            let Some(part) = self.table.send(id) else {
                self.ready.pop_front();
                continue;
            };
            let want = part.unsent().min(part.credit());
            if want > 0 && !part.is_reset() {
                let want = want.min(credit);
                if want == 0 {
                    return;
                }
                let ends = part.ends_at(part.sent() + want);
                let Some((sent, fin)) = payload.add_stream(id, part.sent(), want, ends) else {
                    return;
                };
                part.on_sent(sent, fin);
                self.totals.sent += sent;
                self.waiting -= sent;
            }
            part.queued.ready = false;
            self.ready.pop_front();
            self.release(id);
            self.queue_ready(id);
        }
    }
}

/// The progress of filling a packet with the shares of streams.
#[derive(Default)]
pub(super) struct Progress {
    /// Flow control cut one, or a stream travels in datagrams and seldom uses all of its share.
    pub(super) is_cut: bool,
    pub(super) has_sent: bool,
    /// A share was not used because datagrams were dropped, or the next one is larger though the packet has room for it.
    pub(super) has_freed: bool,
}

impl Progress {
    /// Whether the scheduler chooses again for the rest of the packet: something cut what it chose. One that does not fill packets has
    /// to only if nothing left at all.
    fn leaves_room(&self, fills: bool) -> bool {
        if fills {
            self.has_freed || self.is_cut && self.has_sent
        } else {
            self.has_freed && !self.has_sent
        }
    }
}
