//! Flow control of received data: the window of a stream or of the connection (RFC 9000 section 4.1).

use leobench_base::spec::Window;
use leobench_base::{SimDuration, SimTime};

use crate::wire::MAX_VARINT;

/// The size of a receive window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReceiveWindow {
    /// As large as can be.
    Unlimited,
    /// So many bytes.
    Fixed(u64),
    /// From `initial` bytes, doubled up to `largest` while the peer uses up half of it in less than two round trips.
    #[cfg_attr(not(test), expect(dead_code, reason = "no parameter of a scenario asks for it yet"))]
    Auto {
        /// At first.
        initial: u64,
        /// At most.
        largest: u64,
    },
}

impl From<Window> for ReceiveWindow {
    fn from(window: Window) -> Self {
        match window {
            Window::Bytes(bytes) => Self::Fixed(bytes.get()),
            Window::Unlimited => Self::Unlimited,
        }
    }
}

/// A new limit is advertised once it grows by this part of the window. Ours, as in `noq-proto`: often enough that a sender that
/// fills the window never waits for it.
const STEP: u64 = 8;

/// The window is too small if half of it is used up in less than this many round trips. Ours: a window of four times what a
/// round trip carries stops growing.
const BUSY_ROUND_TRIPS: u64 = 2;

/// The limit on what the peer sends.
#[derive(Clone, Debug)]
pub(super) struct Credit {
    window: u64,
    largest: u64,
    /// The limit last advertised.
    limit: u64,
    /// Bytes that the application has consumed, or that were discarded.
    consumed: u64,
    /// When the current measurement of consumption began, and with how much.
    measured: Option<(SimTime, u64)>,
}

impl Credit {
    pub(super) fn new(window: ReceiveWindow) -> Self {
        let (window, largest) = match window {
            ReceiveWindow::Unlimited => (MAX_VARINT, MAX_VARINT),
            ReceiveWindow::Fixed(bytes) => (bytes, bytes),
            ReceiveWindow::Auto { initial, largest } => (initial, largest.max(initial)),
        };
        let (window, largest) = (window.min(MAX_VARINT), largest.min(MAX_VARINT));
        Self { window, largest, limit: window, consumed: 0, measured: None }
    }

    /// The limit last advertised.
    #[inline]
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// The window at present.
    #[cfg(test)]
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The application consumes `bytes`; `rtt` is the round-trip time, if known.
    #[inline]
    pub(super) fn consume(&mut self, now: SimTime, bytes: u64, rtt: Option<SimDuration>) {
        self.consumed += bytes;
        if self.window < self.largest {
            self.tune(now, rtt);
        }
    }

    fn tune(&mut self, now: SimTime, rtt: Option<SimDuration>) {
        // The first bytes start the clock.
        let (since, from) = *self.measured.get_or_insert((now, self.consumed));
        if 2 * (self.consumed - from) < self.window {
            return;
        }
        let busy = rtt.is_some_and(|rtt| {
            let most = rtt.as_nanos().saturating_mul(BUSY_ROUND_TRIPS);
            now.saturating_since(since).as_nanos() < most
        });
        if busy {
            self.window = (2 * self.window).min(self.largest);
        }
        self.measured = Some((now, self.consumed));
    }

    fn target(&self) -> u64 {
        (self.consumed + self.window).min(MAX_VARINT)
    }

    /// Whether a new limit should be advertised.
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        let growth = self.target() - self.limit;
        growth > 0 && growth >= (self.window / STEP).max(1)
    }

    /// The limit to advertise now.
    pub(super) fn advertise(&mut self) -> u64 {
        self.limit = self.target();
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> SimTime {
        SimTime::from_nanos(millis * 1_000_000)
    }

    const RTT: Option<SimDuration> = Some(SimDuration::from_millis(100));

    #[test]
    fn a_fixed_window_moves_on_in_eighths() {
        let mut credit = Credit::new(ReceiveWindow::Fixed(8_000));
        assert_eq!((credit.limit(), credit.is_due()), (8_000, false));
        credit.consume(ms(1), 999, RTT);
        assert!(!credit.is_due());
        credit.consume(ms(1), 1, RTT);
        assert!(credit.is_due());
        assert_eq!((credit.advertise(), credit.is_due(), credit.window()), (9_000, false, 8_000));
        let mut tiny = Credit::new(ReceiveWindow::Fixed(1));
        tiny.consume(ms(1), 1, RTT);
        assert_eq!((tiny.is_due(), tiny.advertise()), (true, 2));
    }

    #[test]
    fn an_unlimited_window_never_moves() {
        let mut credit = Credit::new(ReceiveWindow::Unlimited);
        credit.consume(ms(1), 1 << 40, RTT);
        assert_eq!((credit.limit(), credit.is_due()), (MAX_VARINT, false));
    }

    #[test]
    fn a_tuned_window_doubles_while_half_of_it_takes_less_than_two_round_trips() {
        let auto = ReceiveWindow::Auto { initial: 8_000, largest: 30_000 };
        let mut credit = Credit::new(auto);
        credit.consume(ms(10), 100, RTT);
        credit.consume(ms(209), 4_000, RTT);
        assert_eq!(credit.window(), 16_000, "half of it within 199 ms");
        credit.consume(ms(300), 7_999, RTT);
        assert_eq!(credit.window(), 16_000, "not half of it yet");
        credit.consume(ms(409), 1, RTT);
        assert_eq!(credit.window(), 16_000, "half of it within 200 ms");
        credit.consume(ms(500), 8_000, RTT);
        assert_eq!(credit.window(), 30_000, "limited");
        assert_eq!(credit.advertise(), 30_000 + credit.consumed());
        // Nothing is known of the round trip.
        let mut blind = Credit::new(auto);
        blind.consume(ms(1), 100, None);
        blind.consume(ms(2), 8_000, None);
        assert_eq!(blind.window(), 8_000);
    }

    /// A sender that fills the window every round trip: it ends at two to four times what a round trip carries.
    #[test]
    fn a_tuned_window_settles_above_what_a_round_trip_carries() {
        for carried in [10_000u64, 100_000, 1_000_000] {
            let mut credit = Credit::new(ReceiveWindow::Auto { initial: 4_000, largest: u64::MAX });
            for round in 1..60 {
                let bytes = carried.min(credit.window());
                for part in 0..10 {
                    credit.consume(ms(round * 100 + part * 10), bytes / 10, RTT);
                }
            }
            assert!((2 * carried..=8 * carried).contains(&credit.window()), "{carried} {credit:?}");
        }
    }
}
