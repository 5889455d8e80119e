//! Groups of packets, and how the time between them changes on the way (section 5.2 of the draft).

use leobench_base::{SimDuration, SimTime};

/// Packets sent within this time are a group (`burst_time`, section 5.2).
const BURST: SimDuration = SimDuration::from_millis(5);

/// A group that arrives as one burst ends after this time (libwebrtc, `kMaxBurstDuration`).
const LONGEST_BURST: SimDuration = SimDuration::from_millis(100);

/// The time between two groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variation {
    /// Between their last packets' departures, in milliseconds.
    pub sent_ms: f64,
    /// Between their last packets' arrivals, in milliseconds.
    pub arrival_ms: f64,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: SimTime,
    last_sent: SimTime,
    first_arrival: SimTime,
    last_arrival: SimTime,
}

impl Group {
    /// Whether a packet belongs to it: it was sent within the burst time, or it arrives right behind, having waited less.
    fn includes(&self, sent: SimTime, arrival: SimTime) -> bool {
        if sent.saturating_since(self.first_sent) <= BURST {
            return true;
        }
        let arrival_gap = arrival.saturating_since(self.last_arrival);
        let sent_gap = sent.saturating_since(self.last_sent);
        arrival_gap < sent_gap
            && arrival_gap <= BURST
            && arrival.saturating_since(self.first_arrival) < LONGEST_BURST
    }
}

/// The last two groups.
#[derive(Debug, Default)]
pub(super) struct Groups {
    before: Option<Group>,
    current: Option<Group>,
}

impl Groups {
    /// Adds a packet. Returns the variation between the last two groups if the packet opens another one. A packet sent
    /// before the current group is ignored.
    pub fn on_packet(&mut self, sent: SimTime, arrival: SimTime) -> Option<Variation> {
        let opened = Group {
            first_sent: sent,
            last_sent: sent,
            first_arrival: arrival,
            last_arrival: arrival,
        };
        let Some(current) = &mut self.current else {
            self.current = Some(opened);
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if current.includes(sent, arrival) {
            current.last_sent = current.last_sent.max(sent);
            current.last_arrival = current.last_arrival.max(arrival);
            return None;
        }
        let complete = *current;
        self.current = Some(opened);
        let before = self.before.replace(complete)?;
        let since = |later: SimTime, earlier: SimTime| {
            (later.as_nanos() as f64 - earlier.as_nanos() as f64) / 1e6
        };
        Some(Variation {
            sent_ms: since(complete.last_sent, before.last_sent),
            arrival_ms: since(complete.last_arrival, before.last_arrival),
        })
    }
}
