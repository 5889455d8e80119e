//! The receive window and its growth with the application's reading rate (dynamic right-sizing; Fisk and Feng 2001, as
//! in Linux).

use leobench_base::spec::Window;
use leobench_base::{SimDuration, SimTime};

/// The initial window, as in Linux (`tcp_rmem`: 128 KiB, of which half is window).
const INITIAL_WINDOW: u64 = 64 << 10;
/// Maximum window scale (RFC 7323 section 2.3).
const MAX_SCALE: u8 = 14;
/// Segments in addition to twice the bytes read in a round trip, as in Linux.
const SPARE_SEGMENTS: u64 = 16;
/// Segments in the other end's initial window (RFC 6928).
const INITIAL_SEGMENTS: u64 = 10;
/// Segments by which the window grows with every one received, as in Linux (`tcp_grow_window`).
const GROWTH_SEGMENTS: u64 = 2;
/// Smaller segments do not let the window grow, as in Linux.
const LEAST_GROWTH_PAYLOAD: u64 = 128;

/// The receive window.
#[derive(Clone, Debug)]
pub(super) struct ReceiveWindow {
    /// Size of the buffer, which grows in steps, and how large it may become.
    capacity: u64,
    most: u64,
    /// The largest window to advertise, which follows the capacity segment by segment (`rcv_ssthresh` in Linux).
    limit: u64,
    /// Maximum bytes read in a round trip. Initially the other end's initial window, but at most half of the capacity,
    /// because full segments may leave nearly as much unused.
    space: u64,
    /// Start of the current round trip, and the bytes read until then.
    since: SimTime,
    read: u64,
    rtt: Option<SimDuration>,
    /// The byte after the last advertised one.
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
            limit: capacity,
            space: (capacity / 2).min(INITIAL_SEGMENTS * mss),
            since: SimTime::ZERO,
            read: 0,
            rtt: None,
            edge: 0,
        }
    }

    /// The smallest scale with which 16 bits can express the largest window.
    pub(super) fn scale(&self) -> u8 {
        (0..MAX_SCALE).find(|scale| 65_535 << scale >= self.most).unwrap_or(MAX_SCALE)
    }

    /// The window in bytes, with `unread` bytes waiting for the application.
    pub(super) fn open(&self, unread: u64) -> u64 {
        self.capacity.saturating_sub(unread).min(self.limit)
    }

    /// A segment arrived in order; returns whether the window grows with it.
    pub(super) fn grow(&mut self, payload: u64, unread: u64, mss: u64) -> bool {
        let room = self.capacity.saturating_sub(unread).saturating_sub(self.limit);
        if room == 0 || payload < LEAST_GROWTH_PAYLOAD {
            return false;
        }
        self.limit += room.min(GROWTH_SEGMENTS * mss);
        true
    }

    /// The byte after the last advertised one.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// The window to advertise from `next` on, with `unread` bytes waiting for the application, in units of 2 to the
    /// power of `scale`. Its edge moves by at least a segment or half the buffer (RFC 9293 section 3.8.6.2.2), and
    /// never back (section 3.8.6.2.1). An unchanged edge is rounded up (RFC 7323 section 2.4), as in Linux.
    pub(super) fn offer(&mut self, next: u64, unread: u64, mss: u64, scale: u8) -> u16 {
        let room = next + self.open(unread);
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

    /// The application has read `read` bytes in total. Once per round trip, the capacity grows to twice the bytes read
    /// in it, plus the growth of the other end's window in between.
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
