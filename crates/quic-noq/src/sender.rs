//! The sending application: keeps messages in its own buffer (Khan et al. 2023, Computer Networks, section 5.1) and
//! feeds the stack just in time, so that a stream scheduler decides for every packet.
//!
//! With one stream there is nothing to decide, and the stack is fed in bulk. With several, the stack is given one
//! packet's worth at a time, and nothing new before that has left, so that each packet carries the latest choice. Only
//! what does not fit (acknowledgements and retransmissions go first) leaves with the next packet, which is given less.
//!
//! Small writes are dear, since the stack searches all that are not acknowledged for every frame it builds. So one
//! stream at a time, the [`Reserve`], is fed in bulk nevertheless: it has the lowest priority, so that of each packet it
//! gets just what the others leave of it. That is its share, as long as the scheduler fills every packet. Where the peer
//! limits what the connection may send, there is no reserve, which would use up what is left for the others.

use bytes::Bytes as Payload;
use leobench_base::{SimTime, StreamIndex};
use leobench_quic::wire::TAG_SIZE;
use leobench_transport::endpoint::EndpointError;
use leobench_transport::scheduler::{LENGTH_RESERVE, Multiplexer, Share, frame_size};
use noq_proto::{Connection, Dir, StreamId};
use typed_index_collections::TiVec;

use super::config::CONNECTION_ID_LEN;
use super::tap::Sent;

/// How far the stack is fed ahead on a single stream. The stack searches what it was fed, write by write, for every packet
/// it builds, so writes should be few; but they are copied from one place that should stay in the processor's cache: this
/// fits the second level of current ones, and is some two hundred packets. It changes no packet: on a single stream there
/// is nothing to decide.
const FEED: u64 = 256 * 1024;
/// The least room that new data is put behind the rest of an earlier packet's for. Ours: a frame's header takes up to 19
/// bytes (RFC 9000 section 19.8, with a length of two bytes), a fifth of this.
const WORTHWHILE: u64 = 100;
/// Content of every stream: nobody reads it.
static ZEROES: [u8; FEED as usize] = [0; FEED as usize];

/// How much of a stream is fed in bulk where there are several. Ours: some twenty-five packets, so that a write for each
/// costs little, and no more than that, since no other stream is fed in bulk until this is used up, though the largest
/// share may have changed hands.
const RESERVE: u64 = 32 * 1024;
/// Stream priorities: the stack takes the streams of the lowest last.
const RESERVE_PRIORITY: i32 = -1;
const USUAL_PRIORITY: i32 = 0;

/// A stream of which the stack holds more than its share of the next packet.
#[derive(Clone, Copy, Debug)]
struct Reserve {
    stream: StreamIndex,
    /// One past the last byte that the stack holds.
    end: u64,
}

/// Whether the application writes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// It does.
    Open,
    /// It writes no more.
    Finished,
    /// And the streams that had nothing waiting then have been closed; the others are as they are drained.
    Closing,
}

/// Feeds the streams of one connection.
pub(super) struct Sender {
    pub(super) streams: Multiplexer,
    ids: TiVec<StreamIndex, StreamId>,
    writing: Writing,
    /// Whether the stack is left to send again what was lost. That goes first, and leaves room that nobody can tell: a
    /// packet that is chosen for comes after it.
    repeating: bool,
    /// Whether a stream may be fed in bulk where there are several.
    may_reserve: bool,
    reserve: Option<Reserve>,
    /// Streams and bytes chosen for each packet, by its number.
    #[cfg(test)]
    pub(super) choices: std::collections::BTreeMap<u64, Vec<(u64, u64)>>,
}

impl Sender {
    /// A sender of streams not opened yet; with `may_reserve`, if the peer sets the connection no limit.
    pub(super) fn new(streams: Multiplexer, may_reserve: bool) -> Self {
        Self {
            streams,
            ids: TiVec::new(),
            writing: Writing::Open,
            repeating: false,
            may_reserve,
            reserve: None,
            #[cfg(test)]
            choices: std::collections::BTreeMap::new(),
        }
    }

    /// The application writes no more.
    pub(super) fn finish(&mut self) {
        if self.writing == Writing::Open {
            self.writing = Writing::Finished;
        }
    }

    /// Opens the streams, in order, once the connection is established.
    pub(super) fn open(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
    ) -> Result<(), EndpointError> {
        while self.ids.len() < self.streams.buffer().streams().len() {
            let id = connection.streams().open(Dir::Uni);
            let problem = "the peer allows no more streams";
            let id = id.ok_or_else(|| EndpointError::Stack { at: now, problem: problem.into() })?;
            self.ids.push(id);
        }
        Ok(())
    }

    /// Bytes handed to the stack and not yet sent.
    fn unsent(&self, sent: &Sent) -> u64 {
        self.streams.buffer().taken().saturating_sub(sent.total)
    }

    /// Whether nothing waits that flow control lets go, and all that went has been sent at least once.
    pub(super) fn is_idle(&self, sent: &Sent) -> bool {
        !self.streams.buffer().has_occupied() && self.unsent(sent) == 0
    }

    /// Whether data waits that flow control holds back.
    pub(super) fn is_blocked(&self) -> bool {
        let buffer = self.streams.buffer();
        buffer.backlog() > 0 && !buffer.has_occupied()
    }

    /// Leaves the next packets to what was lost, where there are streams to choose from.
    pub(super) fn repeat(&mut self) {
        self.repeating = self.ids.len() > 1;
    }

    /// Ends the time that is left to what was lost; whether there was any.
    pub(super) fn has_repeated(&mut self) -> bool {
        std::mem::take(&mut self.repeating)
    }

    /// Flow control lets a stream go on.
    pub(super) fn on_writable(&mut self, id: StreamId) {
        self.streams.hold((id.index() as usize).into(), false);
    }

    /// Hands the stack what the next packet of `payload` bytes may carry.
    pub(super) fn feed(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
        payload: u64,
        sent: &Sent,
        largest_acked: u64,
    ) -> Result<(), EndpointError> {
        if self.ids.is_empty() {
            return Ok(());
        }
        if self.streams.buffer().has_occupied() {
            if self.ids.len() == 1 {
                self.feed_single(now, connection, sent)?;
            } else if !self.repeating {
                self.feed_packet(now, connection, payload, sent, largest_acked)?;
            }
        }
        if self.writing == Writing::Finished {
            self.writing = Writing::Closing;
            for stream in self.ids.keys() {
                self.close_if_drained(connection, stream);
            }
        }
        Ok(())
    }

    fn feed_single(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
        sent: &Sent,
    ) -> Result<(), EndpointError> {
        let stream = StreamIndex::FIRST;
        let taken = self.streams.buffer().streams()[stream].taken();
        let ahead = taken.saturating_sub(sent.offsets[stream]);
        if ahead > FEED / 2 {
            return Ok(());
        }
        let bytes = self.streams.buffer().backlog().min(FEED - ahead);
        self.write(now, connection, stream, bytes)
    }

    fn feed_packet(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
        payload: u64,
        sent: &Sent,
        largest_acked: u64,
    ) -> Result<(), EndpointError> {
        let Some(left) = self.left_over(sent) else { return Ok(()) };
        let number = packet_number_len(sent.next_packet, largest_acked);
        let header = 1 + CONNECTION_ID_LEN as u64 + number + TAG_SIZE;
        // Beside an acknowledgement there must be room for a frame that does not fill the packet.
        let ack = match sent.acks.size(now) {
            0 => 0,
            size => size + LENGTH_RESERVE,
        };
        let room = payload.saturating_sub(header + left + ack);
        if room < WORTHWHILE {
            return Ok(());
        }
        self.streams.schedule(now, room)?;
        #[cfg(test)]
        self.note_choice(sent.next_packet);
        if self.reserve.is_none() && self.may_reserve {
            self.fill_reserve(now, connection)?;
        }
        for index in 0..self.streams.shares().len() {
            let share = self.streams.shares()[index];
            match self.reserve {
                Some(reserve) if reserve.stream == share.stream => {
                    self.use_reserve(now, connection, reserve, share.bytes)?;
                }
                _ => self.write(now, connection, share.stream, share.bytes)?,
            }
        }
        Ok(())
    }

    /// Feeds the stream with the largest share of the packet in bulk, if it has enough waiting: the larger the shares
    /// that need no small writes, the better.
    fn fill_reserve(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
    ) -> Result<(), EndpointError> {
        let largest = self.streams.shares().iter().max_by_key(|share| share.bytes);
        let Some(&Share { stream, bytes }) = largest else { return Ok(()) };
        let buffer = &self.streams.buffer().streams()[stream];
        if !self.streams.is_packet_full() || buffer.backlog() < RESERVE.max(2 * bytes) {
            return Ok(());
        }
        let taken = buffer.taken();
        // A stream takes its place among the others when it is written to.
        set_priority(connection, self.ids[stream], RESERVE_PRIORITY);
        let written = self.write_ahead(now, connection, stream, RESERVE)?;
        self.reserve = Some(Reserve { stream, end: taken + written });
        Ok(())
    }

    /// Has the stream fed in bulk take its share of the packet: what the others leave, unless that is all of it, which
    /// is then fed as any share.
    fn use_reserve(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
        reserve: Reserve,
        bytes: u64,
    ) -> Result<(), EndpointError> {
        let Reserve { stream, end } = reserve;
        let held = end - self.streams.buffer().streams()[stream].taken();
        if held <= bytes {
            self.release(connection, reserve);
            self.take(connection, stream, held);
            // What was held may have been the last of the stream, which is then closed.
            if bytes > held {
                self.write(now, connection, stream, bytes - held)?;
            }
        }
        Ok(())
    }

    /// Takes note of what has left of the stream fed in bulk.
    pub(super) fn settle(&mut self, connection: &mut Connection, sent: &Sent) {
        let Some(reserve) = self.reserve else { return };
        let offset = sent.offsets[reserve.stream];
        let taken = self.streams.buffer().streams()[reserve.stream].taken();
        let left = offset.saturating_sub(taken);
        if left == 0 {
            return;
        }
        // What was lost goes first.
        self.repeating = false;
        if offset == reserve.end {
            self.release(connection, reserve);
        }
        self.take(connection, reserve.stream, left);
    }

    /// Whether the stack has a stream to fill packets with.
    pub(super) fn has_reserve(&self) -> bool {
        self.reserve.is_some()
    }

    fn release(&mut self, connection: &mut Connection, reserve: Reserve) {
        self.reserve = None;
        set_priority(connection, self.ids[reserve.stream], USUAL_PRIORITY);
    }

    #[cfg(test)]
    fn note_choice(&mut self, packet: u64) {
        let shares = self.streams.shares().iter();
        let shares = shares.map(|share| (share.stream.index() as u64, share.bytes)).collect();
        self.choices.insert(packet, shares);
    }

    /// Room that the rest of the last packet's worth will take: what acknowledgements or retransmissions in front of it
    /// left no room for. `None` if still more waits in the stack.
    fn left_over(&self, sent: &Sent) -> Option<u64> {
        let mut unsent = self.unsent(sent);
        let mut room = 0;
        for share in self.streams.shares() {
            let offset = sent.offsets[share.stream];
            let left = self.streams.buffer().streams()[share.stream].taken().saturating_sub(offset);
            if left > 0 {
                unsent = unsent.saturating_sub(left);
                room += frame_size(share.stream, offset, left);
            }
        }
        (unsent == 0).then_some(room)
    }

    /// Moves up to `bytes` of a stream into the stack, as far as flow control lets it.
    fn write(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
        stream: StreamIndex,
        bytes: u64,
    ) -> Result<(), EndpointError> {
        let written = self.write_ahead(now, connection, stream, bytes)?;
        self.take(connection, stream, written);
        Ok(())
    }

    /// Writes up to `bytes` of a stream into the stack, which stay in the buffer; returns how many flow control let
    /// through.
    fn write_ahead(
        &mut self,
        now: SimTime,
        connection: &mut Connection,
        stream: StreamIndex,
        bytes: u64,
    ) -> Result<u64, EndpointError> {
        let mut chunks = [Payload::from_static(&ZEROES[..bytes as usize])];
        match connection.send_stream(self.ids[stream]).write_chunks(&mut &mut chunks[..]) {
            Ok(written) => Ok(written as u64),
            Err(noq_proto::WriteError::Blocked) => {
                self.streams.hold(stream, true);
                Ok(0)
            }
            Err(error) => Err(EndpointError::Stack { at: now, problem: error.to_string() }),
        }
    }

    /// Takes `bytes` of a stream that the stack holds out of the buffer.
    fn take(&mut self, connection: &mut Connection, stream: StreamIndex, bytes: u64) {
        if bytes > 0 {
            self.streams.take(stream, bytes);
        }
        if self.writing == Writing::Closing {
            self.close_if_drained(connection, stream);
        }
    }

    fn close_if_drained(&mut self, connection: &mut Connection, stream: StreamIndex) {
        if self.streams.buffer().streams()[stream].backlog() == 0 {
            // Fails only on a stream the peer has stopped, which is as closed.
            let _ = connection.send_stream(self.ids[stream]).finish();
        }
    }
}

fn set_priority(connection: &mut Connection, stream: StreamId, priority: i32) {
    // Fails only on a stream the peer has stopped, which has no priority.
    let _ = connection.send_stream(stream).set_priority(priority);
}

/// Bytes the stack takes to encode a packet number: enough for twice the distance to the largest acknowledged one
/// (RFC 9000 section 17.1).
fn packet_number_len(next: u64, largest_acked: u64) -> u64 {
    match next.saturating_sub(largest_acked) * 2 {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x100_0000 => 3,
        _ => 4,
    }
}
