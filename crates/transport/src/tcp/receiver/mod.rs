//! The receiving half of a connection: reassembly, and the content and timing of acknowledgements.

mod acks;
mod window;

use std::collections::BTreeMap;

use leobench_base::segment::{MOST_SACK_BLOCKS, Mark};
use leobench_base::{SimDuration, SimTime};

use self::acks::AckTiming;
use self::window::ReceiveWindow;
use super::spec::TcpSpec;
use crate::ranges::RangeSet;

/// Received data, in offsets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) start: u64,
    pub(super) payload: u64,
    pub(super) fin: bool,
    pub(super) mark: Option<Mark>,
    /// Whether a router marked it (RFC 3168).
    pub(super) marked: bool,
    /// Whether the sender reports a window reduction (CWR).
    pub(super) reduced: bool,
}

/// The receiving half of a connection.
///
/// The fields that every segment needs come first, next to each other.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Receiver {
    /// Next byte expected (`RCV.NXT`); a FIN counts as a byte.
    next: u64,
    mss: u64,
    /// The offset up to which the application has read; everything, unless it has stopped reading.
    read: u64,
    /// The offset of the FIN, if received.
    fin: Option<u64>,
    /// The sender's timestamp to echo (`TS.Recent`).
    recent_stamp: Option<u32>,
    /// The acknowledgement number last sent (`Last.ACK.sent`).
    last_ack: u64,
    sack: bool,
    reads: bool,
    /// Whether marks are echoed until the sender has responded.
    pub(super) echo_mark: bool,
    timing: AckTiming,
    window: ReceiveWindow,
    ahead: RangeSet,
    /// Ends of incomplete records, with the application data up to them.
    marks: BTreeMap<u64, u64>,
    /// The offset in the message with which the other end resumes a transfer, if one arrived.
    resumed: Option<u64>,
    /// A duplicate range that has not been reported.
    duplicate: Option<(u64, u64)>,
    /// One byte of each recently changed range, most recent first.
    recent: Vec<u64>,
    /// Application data in all complete records.
    plaintext: u64,
}

impl Receiver {
    pub(super) fn new(spec: &TcpSpec) -> Self {
        Self {
            mss: spec.mss.get(),
            sack: spec.sack,
            next: 0,
            ahead: RangeSet::default(),
            recent: Vec::with_capacity(MOST_SACK_BLOCKS + 1),
            duplicate: None,
            fin: None,
            marks: BTreeMap::new(),
            plaintext: 0,
            resumed: None,
            window: ReceiveWindow::new(spec.receive_buffer, spec.mss.get()),
            timing: AckTiming::new(spec.ack_every.get().into(), spec.delayed_ack),
            echo_mark: false,
            recent_stamp: None,
            last_ack: 0,
            read: 0,
            reads: true,
        }
    }

    /// Full segments carry `mss` bytes.
    pub(super) fn set_mss(&mut self, mss: u64) {
        self.mss = mss;
    }

    /// Next byte expected.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Contiguous bytes received.
    pub(super) fn complete(&self) -> u64 {
        self.fin.map_or(self.next, |fin| self.next.min(fin))
    }

    /// Bytes of the stream that the application has read.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Application data in all complete records.
    pub(super) fn plaintext(&self) -> u64 {
        self.plaintext
    }

    /// The offset in the message with which the other end resumes a transfer, if one has arrived.
    pub(super) fn resumed(&self) -> Option<u64> {
        self.resumed
    }

    /// The byte after the last one of the advertised window.
    pub(super) fn edge(&self) -> u64 {
        self.window.edge()
    }

    /// Whether all data and the FIN of the other end have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// The latest time for the next acknowledgement, if one is pending.
    pub(super) fn deadline(&self) -> Option<SimTime> {
        self.timing.deadline
    }

    /// The scale of advertised windows.
    pub(super) fn scale(&self) -> u8 {
        self.window.scale()
    }

    /// The timestamp to echo.
    pub(super) fn stamp(&self) -> Option<u32> {
        self.recent_stamp
    }

    /// A segment from `start` on carried a timestamp (RFC 7323 section 4.3).
    pub(super) fn on_stamp(&mut self, start: u64, value: u32) {
        let later = |recent: u32| (value.wrapping_sub(recent) as i32) >= 0;
        if start <= self.last_ack && self.recent_stamp.is_none_or(later) {
            self.recent_stamp = Some(value);
        }
    }

    /// A round trip was measured.
    pub(super) fn sample(&mut self, rtt: SimDuration) {
        self.window.sample(rtt);
    }

    /// Data arrived; returns whether to acknowledge it at once. `idle` is the silence after which the other end
    /// restarts from its initial window.
    pub(super) fn on_data(&mut self, now: SimTime, arrival: &Arrival, idle: SimDuration) -> bool {
        let (start, end) =
            (arrival.start, arrival.start + arrival.payload + u64::from(arrival.fin));
        if start + arrival.payload > self.window.edge() {
            // Beyond the advertised window (RFC 9293 section 3.4).
            return true;
        }
        if arrival.reduced {
            self.echo_mark = false;
        }
        if arrival.marked {
            self.echo_mark = true;
            self.timing.hurry();
        }
        if arrival.fin {
            self.fin = Some(end - 1);
        }
        if let Some(mark) = arrival.mark {
            self.marks.insert(start + u64::from(mark.record_end), mark.plaintext);
            if mark.resumes {
                self.resumed = Some(mark.plaintext);
            }
        }
        let had_gap = !self.ahead.is_empty();
        let in_order = self.place(start, end);
        self.deliver(now);
        let window = self.window.open(self.unread());
        // Beyond a gap too, but not without SACK: duplicate acknowledgements must not move the window (RFC 5681 section 2).
        let grows =
            (self.sack || in_order) && self.window.grow(arrival.payload, self.unread(), self.mss);
        if !in_order || had_gap || arrival.fin {
            self.timing.hurry();
            return true;
        }
        self.timing.on_data(now, end - start, self.mss, window, idle, grows)
    }

    /// Inserts a segment; returns whether it was the expected one.
    fn place(&mut self, start: u64, end: u64) -> bool {
        if end <= self.next {
            self.duplicate = Some((start, end));
            return false;
        }
        if start > self.next {
            if self.ahead.first_gap(start, end).is_none() {
                self.duplicate = Some((start, end));
            }
            let (first, last) = self.ahead.insert(start, end);
            self.recent.retain(|point| !(first..last).contains(point));
            self.recent.insert(0, start);
            self.recent.truncate(MOST_SACK_BLOCKS);
            return false;
        }
        if start < self.next {
            self.duplicate = Some((start, self.next));
        }
        self.next = end;
        while let Some((_, last)) = self.ahead.first().filter(|(first, _)| *first <= self.next) {
            self.next = self.next.max(last);
            self.ahead.remove_below(last);
        }
        true
    }

    fn deliver(&mut self, now: SimTime) {
        while let Some(entry) = self.marks.first_entry().filter(|entry| *entry.key() <= self.next) {
            self.plaintext = self.plaintext.max(entry.remove());
        }
        if self.reads {
            self.read = self.complete();
            self.window.adjust(now, self.read, self.mss);
        }
    }

    /// The window to advertise, in units of 2 to the power of `scale`.
    pub(super) fn offer(&mut self, scale: u8) -> u16 {
        self.window.offer(self.next, self.unread(), self.mss, scale)
    }

    fn unread(&self) -> u64 {
        self.complete() - self.read
    }

    /// Blocks to report, at most `most`, most recent first (RFC 2018 section 4, RFC 2883 section 4).
    pub(super) fn blocks(&mut self, most: usize, mut report: impl FnMut(u64, u64)) {
        let mut count = 0;
        if let Some((start, end)) = self.duplicate.take() {
            report(start, end);
            count += 1;
        }
        if self.ahead.is_empty() {
            self.recent.clear();
            return;
        }
        self.recent.retain(|point| self.ahead.containing(*point).is_some());
        for point in self.recent.iter().take(most - count) {
            if let Some((start, end)) = self.ahead.containing(*point) {
                report(start, end);
            }
        }
    }

    /// Whether there are blocks to report.
    pub(super) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || !self.ahead.is_empty()
    }

    /// An acknowledgement was sent.
    pub(super) fn on_ack_sent(&mut self) {
        self.last_ack = self.next;
        self.timing.on_sent();
    }

    /// Sets whether the application reads all data as it arrives, or stops reading. Returns whether the window opens
    /// enough to notify the other end (twice the size it knows, as in Linux).
    #[cfg(test)]
    pub(super) fn set_reads(&mut self, now: SimTime, reads: bool) -> bool {
        let known = self.window.edge() - self.next;
        self.reads = reads;
        self.deliver(now);
        reads && self.window.open(self.unread()) >= 2 * known.max(1)
    }
}
