//! 1-RTT keys and their updates (RFC 9001 section 6).

use leobench_base::{SimDuration, SimTime};

use super::keys::{HeaderKey, Keys, Next, PacketKey, PacketKeys};
use crate::wire::{ErrorCode, TransportError};

/// Share of the confidentiality limit, in eighths, from which on the keys ought to be updated.
const UPDATE_FROM: u64 = 7;

/// The keys of the Data space.
pub(super) struct OneRtt {
    pub(super) local_header: HeaderKey,
    pub(super) remote_header: HeaderKey,
    current: PacketKeys,
    /// The keys of the next phase, made in advance so that an attempt to open a packet with them takes no longer than
    /// any other (RFC 9001 section 6.3).
    following: PacketKeys,
    source: Next,
    previous: Option<Previous>,
    /// The key phase bit of packets that this end sends.
    phase: bool,
    /// Numbers of the first packets sent in this phase.
    first_sent: Lowest,
    /// Lowest numbers of packets received in this phase.
    lowest_received: Lowest,
    /// Whether the peer acknowledged a packet of this phase. The first phase needs none.
    pub(super) is_acked: bool,
    /// Whether the peer started this phase.
    is_of_peer: bool,
    /// Packets sealed in this phase, and how many may be.
    sealed: u64,
    limit: u64,
    /// How many packets are sealed in a phase before this end updates the keys by choice, and before it has to.
    interval: u64,
    update_from: u64,
}

/// A packet number with its path, each of which counts by itself.
pub(super) type Place = (u32, u64);

/// The lowest packet number of each path, in one phase.
#[derive(Debug, Default)]
struct Lowest {
    /// Of path 0, which is most often the only one.
    zero: Option<u64>,
    others: Vec<Place>,
}

impl Lowest {
    fn is_empty(&self) -> bool {
        self.zero.is_none() && self.others.is_empty()
    }

    #[inline]
    fn get(&self, path: u32) -> Option<u64> {
        if path == 0 {
            return self.zero;
        }
        self.others.iter().find(|(other, _)| *other == path).map(|(_, number)| *number)
    }

    #[inline]
    fn add(&mut self, (path, number): Place) {
        if path == 0 {
            self.zero = Some(self.zero.map_or(number, |lowest| lowest.min(number)));
            return;
        }
        match self.others.iter_mut().find(|(other, _)| *other == path) {
            Some((_, lowest)) => *lowest = number.min(*lowest),
            None => self.others.push((path, number)),
        }
    }
}

/// The receive key of the phase before.
struct Previous {
    key: PacketKey,
    /// When the first packet of the present phase was received, and the PTO at that time.
    replaced: Option<(SimTime, SimDuration)>,
}

impl Previous {
    /// Whether it is discarded: three PTO after the first packet of the present phase (RFC 9001 section 6.5).
    fn is_over(&self, now: SimTime) -> bool {
        self.replaced.is_some_and(|(at, pto)| at + pto * 3 <= now)
    }

    /// Whether a packet of the other phase bit is of this phase, on a path that has had no packet of the present one. Packets that
    /// are later than a PTO are rare. The peer may begin the next phase after three PTO, by its own estimate.
    fn is_likely(&self, now: SimTime) -> bool {
        self.replaced.is_none_or(|(at, pto)| now < at + pto)
    }
}

/// The key that opens a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Previous,
    Current,
    Next,
}

impl OneRtt {
    /// The first phase; keys are updated after `interval` packets, or before long use wears them out.
    pub(super) fn new(keys: Keys, interval: u64) -> Self {
        let Keys { local, remote, next: mut source } = keys;
        let limit = local.packet.confidentiality_limit();
        Self {
            local_header: local.header,
            remote_header: remote.header,
            limit,
            interval,
            update_from: update_from(limit, interval),
            current: PacketKeys { local: local.packet, remote: remote.packet },
            following: source.keys(),
            source,
            previous: None,
            phase: false,
            first_sent: Lowest::default(),
            lowest_received: Lowest::default(),
            is_acked: true,
            is_of_peer: false,
            sealed: 0,
        }
    }

    pub(super) const fn phase(&self) -> bool {
        self.phase
    }

    pub(super) const fn local(&self) -> &PacketKey {
        &self.current.local
    }

    /// Counts a packet as sent.
    pub(super) fn on_sent(&mut self, sent: Place) -> Result<(), TransportError> {
        if self.sealed >= self.limit {
            let reason = "no more packets may be encrypted with the present keys";
            return Err(TransportError::new(ErrorCode::AEAD_LIMIT_REACHED, reason));
        }
        self.sealed += 1;
        self.first_sent.add(sent);
        Ok(())
    }

    /// Whether so many packets were encrypted that the keys ought to be updated.
    #[inline]
    pub(super) const fn wants_update(&self) -> bool {
        self.sealed >= self.update_from
    }

    /// Whether the peer started the present phase.
    pub(super) const fn is_of_peer(&self) -> bool {
        self.is_of_peer
    }

    /// Whether this end may start an update, its handshake being confirmed (RFC 9001 sections 6.1 and 6.5).
    pub(super) fn can_update(&mut self, now: SimTime) -> bool {
        self.expire(now);
        self.is_acked && self.previous.is_none()
    }

    /// Starts the next phase.
    pub(super) fn update(&mut self) {
        let next = self.source.keys();
        let current = std::mem::replace(&mut self.following, next);
        let old = std::mem::replace(&mut self.current, current);
        self.previous = Some(Previous { key: old.remote, replaced: None });
        self.limit = self.current.local.confidentiality_limit();
        self.update_from = update_from(self.limit, self.interval);
        self.phase = !self.phase;
        (self.first_sent, self.lowest_received) = (Lowest::default(), Lowest::default());
        (self.is_acked, self.is_of_peer, self.sealed) = (false, false, 0);
    }

    fn expire(&mut self, now: SimTime) {
        if self.previous.as_ref().is_some_and(|key| key.is_over(now)) {
            self.previous = None;
        }
    }

    /// Whether a packet with this key phase bit is of the present phase, and no key of another one is around.
    #[inline]
    pub(super) const fn is_usual(&self, phase: bool) -> bool {
        phase == self.phase && self.previous.is_none()
    }

    /// Notes the receipt of a packet for which [`is_usual`](Self::is_usual) holds.
    #[inline]
    pub(super) fn on_usual(&mut self, received: Place) {
        self.lowest_received.add(received);
    }

    /// The key for a packet with this key phase bit and number (RFC 9001 section 6.5).
    pub(super) fn select(&mut self, now: SimTime, phase: bool, (path, number): Place) -> Phase {
        self.expire(now);
        if phase == self.phase {
            return Phase::Current;
        }
        let is_old = match self.lowest_received.get(path) {
            Some(lowest) => number < lowest,
            None => self.previous.as_ref().is_some_and(|key| key.is_likely(now)),
        };
        if is_old { Phase::Previous } else { Phase::Next }
    }

    /// The receive key of a phase that [`OneRtt::select`] returned; `None` if it was discarded.
    pub(super) fn remote(&self, phase: Phase) -> Option<&PacketKey> {
        match phase {
            Phase::Previous => self.previous.as_ref().map(|previous| &previous.key),
            Phase::Current => Some(&self.current.remote),
            Phase::Next => Some(&self.following.remote),
        }
    }

    /// An authentic packet of this phase was received. The next phase becomes the present one.
    pub(super) fn on_received(
        &mut self,
        now: SimTime,
        pto: SimDuration,
        phase: Phase,
        received: Place,
    ) -> Result<(), TransportError> {
        match phase {
            Phase::Previous => return Ok(()),
            Phase::Current => {}
            Phase::Next => {
                if self.is_of_peer && self.first_sent.is_empty() {
                    let reason = "a key update before the last one was answered";
                    return Err(TransportError::new(ErrorCode::KEY_UPDATE_ERROR, reason));
                }
                self.update();
                self.is_of_peer = true;
            }
        }
        self.lowest_received.add(received);
        if let Some(Previous { replaced: replaced @ None, .. }) = &mut self.previous {
            *replaced = Some((now, pto));
        }
        Ok(())
    }

    /// The peer acknowledged packets up to `largest`, in a packet with this key phase bit.
    pub(super) fn on_ack(
        &mut self,
        (path, largest): Place,
        phase: bool,
    ) -> Result<(), TransportError> {
        if self.is_acked || self.first_sent.get(path).is_none_or(|first| largest < first) {
            return Ok(());
        }
        if phase != self.phase && path == 0 && self.first_sent.others.is_empty() {
            // RFC 9001 section 6.2. Over several paths it is no error: see `Previous::is_likely`.
            let reason = "a packet under new keys was acknowledged under old ones";
            return Err(TransportError::new(ErrorCode::KEY_UPDATE_ERROR, reason));
        }
        self.is_acked = phase == self.phase;
        Ok(())
    }

    /// Lowers the confidentiality limit of the present keys.
    #[cfg(test)]
    pub(super) fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
        self.update_from = update_from(limit, self.interval);
    }
}

fn update_from(limit: u64, interval: u64) -> u64 {
    interval.min(limit / 8 * UPDATE_FROM)
}
