//! Connection IDs of both ends (RFC 9000 section 5.1).

use std::collections::VecDeque;

use leobench_base::{RngTree, SimRng};

use super::token_key::ResetKey;
use crate::wire::{ConnectionId, ErrorCode, NewConnectionId, ResetToken, TransportError};

/// Bytes of the IDs that we issue; a client's first destination needs at least eight (RFC 9000 section 7.2).
pub(super) const ID_SIZE: usize = 8;
/// IDs of the peer that we are willing to store (`active_connection_id_limit`).
pub(super) const ACTIVE_LIMIT: u64 = 5;
/// IDs that we have in use by the peer at most, whatever it would store.
const MOST_ISSUED: u64 = 5;

/// IDs that we retire at most before the peer acknowledges it (RFC 9000 section 5.1.2: at least twice those that we store).
const MOST_RETIRING: usize = 4 * ACTIVE_LIMIT as usize;

/// The first ID of an end, or the one that a client makes up for its server, by name.
pub(super) fn first_id(rng: &RngTree, name: &str) -> ConnectionId {
    random_id(&mut rng.child(name).rng())
}

/// A fresh ID.
pub(super) fn random_id(rng: &mut SimRng) -> ConnectionId {
    let bytes: [u8; ID_SIZE] = rng.bits().to_be_bytes();
    ConnectionId::new(&bytes).unwrap_or_default()
}

/// The IDs by which the peer addresses us.
pub(super) struct LocalIds {
    first: ConnectionId,
    /// The one that the peer used last, as long as it may.
    latest: Option<ConnectionId>,
    rng: SimRng,
    key: ResetKey,
    /// Those in use, by sequence number.
    issued: VecDeque<NewConnectionId>,
    next: u64,
    /// Sequence numbers to announce, first or again.
    announcements: VecDeque<u64>,
    /// How many the peer stores.
    limit: u64,
}

impl LocalIds {
    /// Those of a connection whose handshake used `first`.
    pub(super) fn new(first: ConnectionId, rng: SimRng, key: ResetKey) -> Self {
        let token = key.token(first);
        let issued = NewConnectionId { sequence: 0, retire_prior_to: 0, id: first, token };
        Self {
            first,
            latest: None,
            rng,
            key,
            issued: [issued].into(),
            next: 1,
            announcements: VecDeque::new(),
            limit: 1,
        }
    }

    /// Those of a further path, of which none is issued yet.
    pub(super) fn of_path(rng: SimRng, key: ResetKey) -> Self {
        let mut ids = Self::new(ConnectionId::default(), rng, key);
        (ids.next, ids.limit) = (0, 0);
        ids.issued.clear();
        ids
    }

    /// No packet to any of them is taken any more.
    pub(super) fn clear(&mut self) {
        self.limit = 0;
        self.latest = None;
        self.issued.clear();
        self.announcements.clear();
    }

    /// The sequence number of the next ID to be issued.
    pub(super) fn next_sequence(&self) -> u64 {
        self.next
    }

    /// The ID of the handshake.
    #[inline]
    pub(super) fn first(&self) -> ConnectionId {
        self.first
    }

    /// Whether the peer may use an ID.
    pub(super) fn contains(&self, id: ConnectionId) -> bool {
        self.issued.iter().any(|issued| issued.id == id)
    }

    /// Whether the peer may use an ID, and did so last.
    #[inline]
    pub(super) fn is_latest(&self, id: ConnectionId) -> bool {
        self.latest == Some(id)
    }

    /// The peer has used an ID.
    #[cold]
    pub(super) fn on_used(&mut self, id: ConnectionId) {
        self.latest = Some(id).filter(|id| self.contains(*id));
    }

    /// The reset token of the first ID, for the server's transport parameters.
    pub(super) fn first_token(&self) -> Option<ResetToken> {
        self.issued.front().filter(|issued| issued.sequence == 0).map(|issued| issued.token)
    }

    /// Issues the ID of a server's preferred address, which the transport parameters announce (RFC 9000 section 5.1.1).
    pub(super) fn issue_preferred(&mut self) -> (ConnectionId, ResetToken) {
        let id = random_id(&mut self.rng);
        let token = self.key.token(id);
        let (sequence, retire_prior_to) = (self.next, 0);
        self.issued.push_back(NewConnectionId { sequence, retire_prior_to, id, token });
        self.next += 1;
        (id, token)
    }

    /// The peer stores up to `limit` IDs (`active_connection_id_limit`).
    pub(super) fn set_limit(&mut self, limit: u64) {
        self.limit = limit.min(MOST_ISSUED);
        self.replenish();
    }

    fn replenish(&mut self) {
        while (self.issued.len() as u64) < self.limit {
            let id = random_id(&mut self.rng);
            let token = self.key.token(id);
            let issued = NewConnectionId { sequence: self.next, retire_prior_to: 0, id, token };
            self.announcements.push_back(self.next);
            self.issued.push_back(issued);
            self.next += 1;
        }
    }

    /// Whether there is one to announce.
    pub(super) fn is_pending(&self) -> bool {
        !self.announcements.is_empty()
    }

    /// The next one to announce.
    pub(super) fn announcement(&self) -> Option<NewConnectionId> {
        let sequence = self.announcements.front()?;
        self.issued.iter().find(|issued| issued.sequence == *sequence).copied()
    }

    /// The announcement was put into a packet.
    pub(super) fn on_announced(&mut self) {
        self.announcements.pop_front();
    }

    /// The announcement of an ID was lost.
    pub(super) fn on_lost(&mut self, sequence: u64) {
        let in_use = self.issued.iter().any(|issued| issued.sequence == sequence);
        if in_use && !self.announcements.contains(&sequence) {
            self.announcements.push_back(sequence);
        }
    }

    /// The peer retires an ID (RFC 9000 section 19.16); `used` is the one its packet came to.
    ///
    /// # Errors
    /// `PROTOCOL_VIOLATION` if it was never issued, or carried the frame.
    pub(super) fn on_retired(
        &mut self,
        sequence: u64,
        used: ConnectionId,
    ) -> Result<(), TransportError> {
        if sequence >= self.next {
            return Err(violation("a connection ID that was never issued is retired"));
        }
        let Some(at) = self.issued.iter().position(|issued| issued.sequence == sequence) else {
            return Ok(());
        };
        if self.issued[at].id == used {
            return Err(violation("a packet retires the connection ID it came to"));
        }
        self.latest = self.latest.filter(|latest| *latest != self.issued[at].id);
        self.issued.remove(at);
        self.announcements.retain(|announced| *announced != sequence);
        self.replenish();
        Ok(())
    }
}

/// The IDs by which we address the peer.
pub(super) struct RemoteIds {
    /// The ID of the handshake.
    first: ConnectionId,
    current: Remote,
    /// Others that the peer announced and that were not used yet, by sequence number.
    spare: VecDeque<Remote>,
    /// All below are retired at the peer's request.
    retired_below: u64,
    /// Sequence numbers to retire, first or again.
    retirements: VecDeque<u64>,
    /// Those whose retirement the peer has not acknowledged.
    retiring: Vec<u64>,
    /// The one that probes of another route use.
    probing: Option<Remote>,
    /// Whether packets are sent to the current one.
    in_use: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remote {
    sequence: u64,
    id: ConnectionId,
    token: Option<ResetToken>,
}

impl RemoteIds {
    pub(super) fn new(first: ConnectionId) -> Self {
        let current = Remote { sequence: 0, id: first, token: None };
        let (spare, retirements) = (VecDeque::new(), VecDeque::new());
        Self {
            first,
            current,
            spare,
            retired_below: 0,
            retirements,
            retiring: Vec::new(),
            probing: None,
            in_use: true,
        }
    }

    /// Those of a path that is not in use.
    pub(super) fn of_path() -> Self {
        Self { in_use: false, ..Self::new(ConnectionId::default()) }
    }

    /// Takes the first ID that is there into use. Returns whether there is one, or one is in use.
    pub(super) fn begin(&mut self) -> bool {
        if !self.in_use
            && let Some(first) = self.spare.pop_front()
        {
            (self.current, self.in_use) = (first, true);
        }
        self.in_use
    }

    /// All count as retired, without a word (draft-ietf-quic-multipath section 3.4).
    pub(super) fn end(&mut self) {
        self.in_use = false;
        self.current.token = None;
        self.spare.clear();
        self.retirements.clear();
    }

    /// Whether there is one to send to.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.in_use
    }

    /// Whether there is one that was not used yet.
    pub(super) fn has_spare(&self) -> bool {
        !self.spare.is_empty()
    }

    /// The sequence number after those that are known.
    pub(super) fn next_expected(&self) -> u64 {
        let known = self.spare.back().or(self.in_use.then_some(&self.current));
        known.map_or(self.retired_below, |last| last.sequence + 1)
    }

    /// The ID of the handshake.
    pub(super) fn first(&self) -> ConnectionId {
        self.first
    }

    /// The ID to address the peer by.
    #[inline]
    pub(super) fn current(&self) -> ConnectionId {
        self.current.id
    }

    /// The peer's first ID is another one than assumed: its own choice, or that of a Retry.
    pub(super) fn replace_first(&mut self, id: ConnectionId) {
        if self.current.sequence == 0 {
            (self.first, self.current.id) = (id, id);
        }
    }

    /// The reset token of the peer's first ID (`stateless_reset_token`).
    pub(super) fn set_first_token(&mut self, token: ResetToken) {
        if self.current.sequence == 0 {
            self.current.token = Some(token);
        }
    }

    /// The ID of the server's preferred address, whose sequence number is 1 (RFC 9000 section 5.1.1).
    pub(super) fn add_preferred(&mut self, id: ConnectionId, token: ResetToken) {
        self.spare.push_front(Remote { sequence: 1, id, token: Some(token) });
    }

    /// Whether a stateless reset with this token is about this connection (RFC 9000 section 10.3.1).
    pub(super) fn is_reset(&self, token: ResetToken) -> bool {
        self.current.token == Some(token)
    }

    /// Moves on to a fresh ID, as on a new path (RFC 9000 section 9.5). Returns whether there was one.
    pub(super) fn advance(&mut self) -> bool {
        let Some(next) = self.spare.pop_front() else { return false };
        self.retire(self.current.sequence);
        self.current = next;
        true
    }

    /// Sets a fresh ID aside for probes of another route: no ID is used from two addresses (RFC 9000 section 9.5). Returns whether
    /// there is one.
    pub(super) fn begin_probing(&mut self) -> bool {
        if self.probing.is_none() {
            self.probing = self.spare.pop_front();
        }
        self.probing.is_some()
    }

    /// The ID that probes of another route use.
    pub(super) fn probing(&self) -> Option<ConnectionId> {
        self.probing.map(|probing| probing.id)
    }

    /// The other route is given up.
    pub(super) fn end_probing(&mut self) {
        if let Some(probing) = self.probing.take() {
            self.retire(probing.sequence);
        }
    }

    /// The other route is the one to use from now on, with its ID.
    pub(super) fn use_probed(&mut self) {
        if let Some(probed) = self.probing.take() {
            self.retire(self.current.sequence);
            self.current = probed;
        }
    }

    /// The peer announces an ID (RFC 9000 section 19.15).
    ///
    /// # Errors
    /// `PROTOCOL_VIOLATION` if it contradicts an earlier one, `CONNECTION_ID_LIMIT_ERROR` if there are too many.
    pub(super) fn on_new(&mut self, new: &NewConnectionId) -> Result<(), TransportError> {
        if self.in_use && self.current.id.size() == 0 {
            return Err(violation("a new connection ID beside an empty one"));
        }
        self.retired_below = self.retired_below.max(new.retire_prior_to);
        let announced = Remote { sequence: new.sequence, id: new.id, token: Some(new.token) };
        let in_use = self.probing.iter().chain(self.in_use.then_some(&self.current));
        let known = self.spare.iter().chain(in_use).find(|known| known.sequence == new.sequence);
        match known {
            Some(known) if known.id != new.id => {
                return Err(violation("two connection IDs of one sequence number"));
            }
            Some(_) => {}
            None if new.sequence < self.retired_below
                || self.in_use && new.sequence <= self.current.sequence =>
            {
                self.retire(new.sequence);
            }
            None => {
                let at = self.spare.partition_point(|spare| spare.sequence < new.sequence);
                self.spare.insert(at, announced);
            }
        }
        while self.spare.front().is_some_and(|spare| spare.sequence < self.retired_below) {
            if let Some(spare) = self.spare.pop_front() {
                self.retire(spare.sequence);
            }
        }
        if self.probing.is_some_and(|probing| probing.sequence < self.retired_below) {
            self.end_probing();
        }
        if self.in_use && self.current.sequence < self.retired_below && !self.advance() {
            return Err(violation("no connection ID is left"));
        }
        let used = self.probing.iter().len() as u64 + u64::from(self.in_use);
        if self.spare.len() as u64 + used > ACTIVE_LIMIT {
            return Err(TransportError::new(
                ErrorCode::CONNECTION_ID_LIMIT_ERROR,
                "more connection IDs than we store",
            ));
        }
        if self.retiring.len() > MOST_RETIRING {
            return Err(TransportError::new(
                ErrorCode::CONNECTION_ID_LIMIT_ERROR,
                "more connection IDs than we retire at a time",
            ));
        }
        Ok(())
    }

    fn retire(&mut self, sequence: u64) {
        if !self.retirements.contains(&sequence) {
            self.retirements.push_back(sequence);
        }
        if !self.retiring.contains(&sequence) {
            self.retiring.push(sequence);
        }
    }

    /// The peer has acknowledged a retirement.
    pub(super) fn on_retirement_acked(&mut self, sequence: u64) {
        self.retirements.retain(|queued| *queued != sequence);
        self.retiring.retain(|unacked| *unacked != sequence);
    }

    /// Whether one is to be retired, and the peer does not know.
    #[inline]
    pub(super) fn has_retirement(&self) -> bool {
        !self.retirements.is_empty()
    }

    /// The next sequence number to retire.
    pub(super) fn retirement(&self) -> Option<u64> {
        self.retirements.front().copied()
    }

    /// The retirement was put into a packet.
    pub(super) fn on_retirement_sent(&mut self) {
        self.retirements.pop_front();
    }

    /// A retirement was lost.
    pub(super) fn on_retirement_lost(&mut self, sequence: u64) {
        if self.retiring.contains(&sequence) {
            self.retire(sequence);
        }
    }
}

fn violation(reason: &'static str) -> TransportError {
    TransportError::new(ErrorCode::PROTOCOL_VIOLATION, reason)
}

#[cfg(test)]
mod tests;
