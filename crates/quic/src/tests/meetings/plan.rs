//! The plan of a meeting, drawn from its seed.

use bytes::Bytes;
use leobench_base::{RngTree, SimDuration, SimRng, SimTime};

use super::super::ms;
use super::own::tls;
use super::{NOQ, OWN};
use crate::crypto::{Sessions, TlsSettings};
use crate::wire::Directionality;

/// A meeting.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) tls: bool,
    pub(super) own_is_client: bool,
    /// Whether the server demands that the client shows that it receives at its address.
    pub(super) retry: bool,
    pub(super) delay: SimDuration,
    /// By sending end.
    pub(super) trouble: [Trouble; 2],
    pub(super) ends: [End; 2],
    pub(super) ending: Ending,
    /// Earlier connections of each end that may be resumed.
    pub(super) sessions: [Option<Sessions>; 2],
}

/// Faults of the link, each in datagrams per mille.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    pub(super) lost: u64,
    pub(super) repeated: u64,
    pub(super) damaged: u64,
    pub(super) late: u64,
    /// By how much at most.
    pub(super) by: SimDuration,
}

/// One end and its application.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) payload: u64,
    pub(super) stream_window: Option<u64>,
    pub(super) connection_window: Option<u64>,
    /// Streams that the peer may have open at a time, bidirectional and unidirectional ones.
    pub(super) allowed: [u64; 2],
    pub(super) idle: Option<SimDuration>,
    /// Ack-eliciting packets and time that the peer may wait before it acknowledges.
    pub(super) ack_frequency: Option<(u32, SimDuration)>,
    /// Streams to open, bidirectional and unidirectional ones.
    pub(super) opens: [Vec<[Way; 2]>; 2],
    pub(super) key_updates: Vec<SimTime>,
    /// Unreliable datagrams to send: when, and of how many bytes.
    pub(super) datagrams: Vec<(SimTime, u64)>,
}

/// One way of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) bytes: u64,
    /// Bytes of a write.
    pub(super) chunk: u64,
    /// The sender abandons it when so much is written, after a while.
    pub(super) reset_at: Option<(u64, SimDuration)>,
    /// The receiver wants no more when it has read so much.
    pub(super) stop_at: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// An end closes when all is done, or before.
    Close { end: usize, at: Option<SimTime>, code: u64, reason: String },
    /// Nobody does.
    Idle,
}

struct Dice(SimRng);

impl Dice {
    /// From `least` to `most`.
    fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.below(most - least + 1)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    fn maybe<T>(&mut self, percent: u64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.chance(percent).then(|| draw(self))
    }

    fn millis(&mut self, least: u64, most: u64) -> SimDuration {
        SimDuration::from_millis(self.within(least, most))
    }

    /// Tiny, middling, or none.
    fn window(&mut self) -> Option<u64> {
        match self.0.below(4) {
            0 => Some(self.within(1_000, 4_000)),
            1 => Some(self.within(4_000, 200_000)),
            _ => None,
        }
    }

    fn trouble(&mut self, tls: bool, delay: SimDuration) -> Trouble {
        // A packet number has few bytes, and is understood while the window has not moved on too far (RFC 9000 section 17.1).
        // After that, the tag does not fit; null protection has none.
        let latest = SimDuration::from_millis(60);
        let latest = if tls { latest } else { latest.min(delay) };
        if self.chance(20) {
            return Trouble::default();
        }
        let mut share = |percent, most| self.maybe(percent, |dice| dice.within(1, most));
        Trouble {
            lost: share(60, 150).unwrap_or(0),
            repeated: share(40, 150).unwrap_or(0),
            // Nothing but encryption protects from damage.
            damaged: share(40, 100).filter(|_| tls).unwrap_or(0),
            late: share(50, 300).unwrap_or(0),
            by: self.millis(1, 60).min(latest),
        }
    }

    fn way(&mut self, most: u64) -> Way {
        let bytes = if self.chance(5) { 0 } else { self.within(1, most) };
        Way {
            bytes,
            chunk: self.within(1, 20_000).max(bytes / 100),
            reset_at: self.maybe(15, |dice| (dice.within(0, bytes), dice.millis(0, 200))),
            stop_at: self.maybe(15, |dice| dice.within(0, bytes)),
        }
    }

    fn end(&mut self, streams: u64) -> End {
        let most = (300_000 / (streams + 1)).max(1);
        let opens = [Directionality::Bidirectional, Directionality::Unidirectional].map(|_| {
            let count = self.within(0, streams);
            (0..count).map(|_| [self.way(most), self.way(most)]).collect()
        });
        End {
            payload: self.within(1_200, 1_500),
            stream_window: self.window(),
            connection_window: self.window(),
            allowed: [self.within(1, 100), self.within(1, 100)],
            idle: self.maybe(50, |dice| dice.millis(8_000, 40_000)),
            ack_frequency: self.maybe(30, |dice| (dice.within(0, 20) as u32, dice.millis(1, 100))),
            opens,
            key_updates: self
                .maybe(40, |dice| (0..dice.within(1, 3)).map(|_| dice.millis(0, 2_000)).collect())
                .map_or(Vec::new(), |times: Vec<_>| {
                    times.into_iter().map(|time| SimTime::ZERO + time).collect()
                }),
            datagrams: Vec::new(),
        }
    }
}

impl Plan {
    pub(super) fn draw(seed: u64, tls: bool) -> Self {
        let mut dice = Dice(RngTree::new(seed).child(if tls { "tls" } else { "null" }).rng());
        let delay = dice.millis(1, 100);
        let mut trouble = [dice.trouble(tls, delay), dice.trouble(tls, delay)];
        let streams = if dice.chance(20) { 64 } else { dice.within(1, 12) };
        let mut ends = [dice.end(streams), dice.end(streams)];
        if streams == 64 {
            for end in &mut ends {
                let way = dice.way(2_000);
                end.opens[1].resize(64, [way, way]);
            }
        }
        let ending = if dice.chance(25) {
            Ending::Idle
        } else {
            Ending::Close {
                end: if dice.chance(50) { OWN } else { NOQ },
                at: dice.maybe(30, |dice| ms(dice.within(0, 1_500))),
                code: dice.within(0, (1 << 62) - 1),
                reason: "x".repeat(dice.within(0, 60) as usize),
            }
        };
        // Without a timeout, an end that misses the close, or whose peer never closes, stays.
        ends[dice.within(0, 1) as usize].idle.get_or_insert(SimDuration::from_secs(30));
        let own_is_client = dice.chance(50);
        let retry = dice.chance(30);
        if retry && !own_is_client {
            // Once noq-proto 1.4.0 has discarded a damaged Retry, it takes no intact one any more, against RFC 9000 section
            // 17.2.5.2.
            trouble[OWN].damaged = 0;
        }
        for end in &mut ends {
            let times = dice.maybe(40, |dice| {
                (0..dice.within(1, 20)).map(|_| dice.millis(0, 1_500)).collect::<Vec<_>>()
            });
            let times = times.into_iter().flatten();
            end.datagrams = times.map(|at| (SimTime::ZERO + at, dice.within(8, 1_100))).collect();
            end.datagrams.sort_unstable();
        }
        let sessions = [None, None];
        Self { seed, tls, own_is_client, retry, delay, trouble, ends, ending, sessions }
    }

    /// The settings of TLS of an end.
    pub(super) fn settings(&self, end: usize) -> TlsSettings {
        TlsSettings { sessions: self.sessions[end].clone(), ..tls() }
    }

    /// The end that opens a stream.
    pub(super) fn opener(&self, id: u64) -> usize {
        let by_client = id & 1 == 0;
        if by_client == self.own_is_client { OWN } else { NOQ }
    }

    /// The way of a stream that `end` sends on.
    pub(super) fn way(&self, end: usize, id: u64) -> Way {
        let opener = self.opener(id);
        let ways = self.ends[opener].opens[usize::from(id & 2 != 0)].get((id >> 2) as usize);
        let ways = ways.unwrap_or_else(|| panic!("{id} was never opened: seed {}", self.seed));
        ways[usize::from(end != opener)]
    }

    /// The byte at an offset of the way of a stream that `end` sends on.
    pub(super) fn byte(&self, end: usize, id: u64, offset: u64) -> u8 {
        let key = leobench_base::mix(self.seed ^ (id << 1 | end as u64));
        (offset.wrapping_add(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8
    }

    /// An unreliable datagram that `end` sends: its number, and bytes like those of a stream that nobody opens.
    pub(super) fn datagram(&self, end: usize, number: usize) -> Bytes {
        let size = self.ends[end].datagrams[number].1;
        let content = (8..size).map(|at| self.byte(end, u64::MAX >> 2, at + number as u64));
        (number as u64).to_be_bytes().into_iter().chain(content).collect()
    }

    /// The error code of a reset of a stream or of a request to stop it.
    pub(super) fn code(&self, id: u64, stop: bool) -> u64 {
        leobench_base::mix(self.seed ^ (id << 1 | u64::from(stop)) << 8) >> 2
    }

    /// Whether nothing that one end sends gets lost.
    pub(super) fn is_harmless(&self, end: usize) -> bool {
        self.trouble[end].lost == 0 && self.trouble[end].damaged == 0
    }
}
