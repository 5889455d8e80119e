//! The receive window and how it grows with what the application takes (dynamic right-sizing; Fisk and Feng 2001, as Linux
//! has it).

use leobench_base::spec::Window;
use leobench_base::{SimDuration, SimTime};

/// The window at first, as in Linux (`tcp_rmem`: 128 KiB, of which half is window).
const INITIAL_WINDOW: u64 = 64 << 10;
/// Largest shift (RFC 7323 section 2.3).
const MAX_SCALE: u8 = 14;
/// Segments beyond twice what was read in a round trip, as in Linux.
const SPARE_SEGMENTS: u64 = 16;
/// Segments in the other end's initial window (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;

/// How much the receiver has room for.
#[derive(Clone, Debug)]
pub(super) struct ReceiveWindow {
    capacity: u64,
    most: u64,
    /// The most that was read in a round trip; at first the other end's initial window, but no more than half of what there
    /// is room for, as whole segments may leave nearly as much unused.
    space: u64,
    /// When the present one began, and what had been read by then.
    since: SimTime,
    read: u64,
    rtt: Option<SimDuration>,
    /// Behind the last byte that was offered.
    edge: u64,
}

impl ReceiveWindow {
    pub(super) fn new(most: Window, mss: u64) -> Self {
        let widest = 65_535 << MAX_SCALE;
        let (capacity, most) = match most {
            Window::Bytes(most) => (most.get().min(INITIAL_WINDOW), most.get().min(widest)),
            Window::Unlimited => (widest, widest),
        };
        Self {
            capacity,
            most,
            space: (capacity / 2).min(INITIAL_SEGMENTS * mss),
            since: SimTime::ZERO,
            read: 0,
            rtt: None,
            edge: 0,
        }
    }

    /// The shift with which 16 bits can say the largest window.
    pub(super) fn scale(&self) -> u8 {
        (0..MAX_SCALE).find(|scale| 65_535 << scale >= self.most).unwrap_or(MAX_SCALE)
    }

    /// Bytes there is room for in all.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Behind the last byte that was offered.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// The window to offer from `next` on, `unread` bytes waiting for the application, in units of 2 to the power of
    /// `scale`. Its edge moves by no less than a segment or half the buffer (RFC 9293 section 3.8.6.2.2), and never back
    /// (section 3.8.6.2.1): what is not offered anew is rounded up (RFC 7323 section 2.4), as in Linux.
    pub(super) fn offer(&mut self, next: u64, unread: u64, mss: u64, scale: u8) -> u16 {
        let room = next + self.capacity.saturating_sub(unread);
        let mut units = self.edge.saturating_sub(next).div_ceil(1 << scale);
        if room >= self.edge + mss.min(self.capacity / 2) {
            units = units.max((room - next) >> scale);
        }
        let window = u16::try_from(units).unwrap_or(u16::MAX);
        self.edge = self.edge.max(next + (u64::from(window) << scale));
        window
    }

    /// A round trip was measured.
    pub(super) fn sample(&mut self, rtt: SimDuration) {
        self.rtt = Some(self.rtt.map_or(rtt, |smoothed| (smoothed * 7 + rtt) / 8));
    }

    /// The application has read `read` bytes in all: once a round trip, room is made for twice as much as it read in it,
    /// and for the other end's window to have grown in between.
    pub(super) fn adjust(&mut self, now: SimTime, read: u64, mss: u64) {
        let Some(rtt) = self.rtt else { return };
        if now.saturating_since(self.since) < rtt {
            return;
        }
        let copied = read - self.read;
        if copied > self.space {
            let window = 2 * copied + SPARE_SEGMENTS * mss;
            let growth = u128::from(window) * u128::from(copied - self.space);
            let window = window + 2 * (growth / u128::from(self.space.max(1))) as u64;
            self.capacity = self.capacity.max(window.min(self.most));
            self.space = copied;
        }
        (self.since, self.read) = (now, read);
    }
}
