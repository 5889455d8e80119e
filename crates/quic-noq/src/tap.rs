//! A tap on packet protection, which sees packets in plaintext: the exact place to learn which bytes of which stream
//! left in which packet, and to log it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use leobench_base::{SimTime, StreamIndex};
use typed_index_collections::{TiVec, ti_vec};

use super::acks::AckForecast;
use super::frames::{Frame, Frames};
use super::level::Level;
use super::qlog::Qlog;
use super::spurious::LostPackets;

/// A look at one end's packets, shared by the keys, the congestion control and the endpoint.
#[derive(Debug)]
pub(super) struct Tap {
    sent: Mutex<Sent>,
    /// Whether acknowledgements are to be foreseen: with several streams to choose from.
    foresees: bool,
    /// Packets declared lost, and whether there are any: if not, no acknowledgement is read.
    lost: Mutex<LostPackets>,
    has_lost: AtomicBool,
    qlog: Option<Mutex<Qlog>>,
}

/// The content of the 1-RTT packets sent so far.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// The time of what follows.
    now: SimTime,
    /// Number after that of the last packet.
    pub(super) next_packet: u64,
    /// By stream number: one past the highest byte sent.
    pub(super) offsets: TiVec<StreamIndex, u64>,
    /// The sum of the offsets.
    pub(super) total: u64,
    /// Streams whose offset has grown since this was last emptied; a stream may stand here more than once.
    pub(super) advanced: Vec<StreamIndex>,
    /// Stream bytes sent more than once.
    pub(super) retransmitted: u64,
    /// Packets with such bytes.
    pub(super) retransmitted_packets: u64,
    /// The acknowledgement that the next packet will carry; kept only with several streams to choose from.
    pub(super) acks: AckForecast,
    /// Type of a frame that could not be read (or [`MALFORMED`]); what followed it in its packet is not known.
    pub(super) unreadable: Option<u64>,
}

/// Stands for a packet that ends within a frame.
pub(super) const MALFORMED: u64 = u64::MAX;

impl Tap {
    pub(super) fn new(streams: usize, qlog: Option<Qlog>) -> Self {
        let sent = Sent { offsets: ti_vec![0; streams], ..Sent::default() };
        Self {
            sent: Mutex::new(sent),
            foresees: streams > 1,
            lost: Mutex::default(),
            has_lost: AtomicBool::new(false),
            qlog: qlog.map(Mutex::new),
        }
    }

    fn lost(&self) -> MutexGuard<'_, LostPackets> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A packet was declared lost. The stack does not report its packet number space: 1-RTT is assumed once such a packet
    /// of that number was sent. Returns whether it was.
    pub(super) fn on_lost(&self, packet: u64) -> bool {
        let known = packet < self.sent().next_packet;
        if known {
            self.lost().insert(packet);
            self.has_lost.store(true, Relaxed);
        }
        known
    }

    /// Packets declared lost that were acknowledged later.
    pub(super) fn spurious_losses(&self) -> u64 {
        self.lost().spurious
    }

    pub(super) fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes to the qlog, if one is kept.
    pub(super) fn qlog(&self, write: impl FnOnce(&mut Qlog)) {
        if let Some(qlog) = &self.qlog {
            write(&mut qlog.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Completes the qlog, if one is kept.
    ///
    /// # Errors
    /// The first error in writing it.
    pub(super) fn flush(&self) -> io::Result<()> {
        let Some(qlog) = &self.qlog else { return Ok(()) };
        qlog.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }

    /// Says the time of what follows.
    pub(super) fn set_time(&self, now: SimTime) {
        if self.foresees {
            self.sent().now = now;
        }
        self.qlog(|qlog| qlog.set_time(now));
    }

    /// A packet is about to be sent; `size` is that of the whole packet.
    pub(super) fn on_sent(&self, level: Level, packet: u64, size: usize, payload: &[u8]) {
        if level == Level::OneRtt {
            let mut sent = self.sent();
            let before = sent.retransmitted;
            sent.note(packet, payload);
            sent.retransmitted_packets += u64::from(sent.retransmitted > before);
        }
        self.qlog(|qlog| qlog.packet("packet_sent", level, packet, size, payload));
    }

    /// A packet was received.
    pub(super) fn on_received(&self, level: Level, packet: u64, size: usize, payload: &[u8]) {
        if self.foresees && level == Level::OneRtt {
            let mut sent = self.sent();
            let now = sent.now;
            sent.acks.on_received(now, packet, payload);
        }
        if level == Level::OneRtt && self.has_lost.load(Relaxed) {
            let mut lost = self.lost();
            lost.on_received(payload);
            self.has_lost.store(!lost.is_empty(), Relaxed);
        }
        self.qlog(|qlog| qlog.packet("packet_received", level, packet, size, payload));
    }
}

impl Sent {
    fn note(&mut self, packet: u64, payload: &[u8]) {
        self.next_packet = packet + 1;
        let mut frames = Frames::new(payload);
        while !frames.is_done() {
            match frames.next_frame() {
                Some(Frame::Stream { id, offset, len, .. }) => self.stream(id, offset, len),
                Some(Frame::Ack { more, .. }) => self.acks.on_sent(more.len()),
                Some(Frame::Unknown(kind)) => {
                    self.unreadable = Some(kind);
                    return;
                }
                Some(_) => {}
                None => {
                    self.unreadable = Some(MALFORMED);
                    return;
                }
            }
        }
    }

    fn stream(&mut self, id: u64, offset: u64, len: u64) {
        // The two low bits of a stream ID are its type (RFC 9000 section 2.1).
        let stream = StreamIndex::from((id >> 2) as usize);
        if stream.index() >= self.offsets.len() {
            self.offsets.resize(stream.index() + 1, 0);
        }
        let sent = &mut self.offsets[stream];
        self.retransmitted += sent.saturating_sub(offset).min(len);
        let grown = (offset + len).saturating_sub(*sent);
        if grown > 0 {
            *sent += grown;
            self.total += grown;
            if self.advanced.last() != Some(&stream) {
                self.advanced.push(stream);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_bytes_are_told_from_retransmissions() {
        let tap = Tap::new(1, None);
        tap.on_sent(Level::OneRtt, 7, 0, &[0x0e, 2, 0, 3, 9, 9, 9, 0x0a, 6, 2, 1, 2]);
        assert_eq!(tap.sent().offsets, ti_vec![3, 2]);
        assert_eq!(tap.sent().next_packet, 8);
        assert_eq!(tap.sent().total, 5);
        tap.on_sent(Level::OneRtt, 8, 0, &[0x0e, 2, 1, 4, 9, 9, 9, 9]);
        let sent = tap.sent();
        assert_eq!(
            (sent.offsets[StreamIndex::FIRST], sent.retransmitted, sent.unreadable),
            (5, 2, None)
        );
        assert_eq!(sent.advanced, [0, 1, 0].map(StreamIndex::from));
    }

    #[test]
    fn only_application_packets_count() {
        let tap = Tap::new(1, None);
        tap.on_sent(Level::Handshake, 3, 0, &[0x40, 0x99]);
        assert_eq!(tap.sent().next_packet, 0);
        assert_eq!(tap.sent().unreadable, None);
        tap.on_sent(Level::OneRtt, 3, 0, &[0x0e, 2, 0, 9, 1]);
        assert_eq!(tap.sent().unreadable, Some(MALFORMED));
    }
}
