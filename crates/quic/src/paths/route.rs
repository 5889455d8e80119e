//! A route: the addresses of both ends between which datagrams travel, which RFC 9000 calls a path, and whether the peer is
//! known to receive there (RFC 9000 sections 8 and 9). A path of the connection has one route at a time, and moves.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use leobench_base::{Ecn, SimDuration, SimTime};
use smallvec::SmallVec;

use super::validation::{Due, Validation};
use crate::wire::ConnectionId;

/// The limit on bytes sent to an unvalidated address, as a multiple of those received from it (RFC 9000 section 8.1).
const AMPLIFICATION: u64 = 3;
/// Challenges of the peer that wait for an answer at most; it has no use for more.
const MOST_RESPONSES: usize = 4;

/// Addresses of this end and of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FourTuple {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

impl FourTuple {
    /// That of a program that knows by itself where its datagrams go.
    pub(crate) const UNKNOWN: Self = {
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Self { local: nowhere, remote: nowhere }
    };

    /// Whether only ports differ: a NAT has mapped the same host anew, and the network may be the same (RFC 9000 section 9.4).
    pub(crate) fn differs_in_ports_only(&self, other: &Self) -> bool {
        self.local.ip() == other.local.ip() && self.remote.ip() == other.remote.ip()
    }
}

/// A received datagram, but for its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecvMeta {
    pub(crate) tuple: FourTuple,
    /// Bytes of the UDP payload.
    pub(crate) size: u64,
    pub(crate) ecn: Ecn,
}

/// A route.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) tuple: FourTuple,
    /// Whether the peer is known to receive at its address.
    validated: bool,
    /// UDP payload bytes received from and sent to the address until it was validated.
    received: u64,
    sent: u64,
    validation: Option<Validation>,
    /// Challenges of the peer to answer.
    responses: SmallVec<[u64; 1]>,
    /// The connection ID that the peer last used on it.
    pub(crate) used_id: Option<ConnectionId>,
}

impl Route {
    pub(crate) fn new(tuple: FourTuple) -> Self {
        Self {
            tuple,
            validated: false,
            received: 0,
            sent: 0,
            validation: None,
            responses: SmallVec::new(),
            used_id: None,
        }
    }

    /// The peer's address is validated, by whatever means.
    pub(crate) fn validate(&mut self) {
        self.validated = true;
    }

    pub(crate) fn is_validated(&self) -> bool {
        self.validated
    }

    /// A datagram of `size` bytes arrived.
    #[inline]
    pub(crate) fn on_received(&mut self, size: u64) {
        self.received += size;
    }

    /// A datagram of `size` bytes leaves.
    #[inline]
    pub(crate) fn on_sent(&mut self, size: u64) {
        self.sent += size;
    }

    /// Bytes that the next datagram may have, of `mtu` at most.
    #[inline]
    pub(crate) fn datagram_limit(&self, mtu: u64) -> u64 {
        if self.validated {
            return mtu;
        }
        (AMPLIFICATION * self.received).saturating_sub(self.sent).min(mtu)
    }

    /// Begins to validate the route, unless that is going on. `pto` is the larger one of the present probe timeout and that of
    /// a path of which nothing is known.
    pub(crate) fn challenge(&mut self, now: SimTime, pto: SimDuration) {
        if self.validation.is_none() {
            self.validation = Some(Validation::new(now, pto));
        }
    }

    /// Whether an answer is awaited.
    pub(crate) fn is_in_validation(&self) -> bool {
        self.validation.is_some()
    }

    /// Whether it is validated, and nothing more is to be found out.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.validated && self.validation.is_none() && self.responses.is_empty()
    }

    /// Whether a challenge or a response is to be sent.
    #[inline]
    pub(crate) fn wants_validation(&self) -> bool {
        !self.responses.is_empty() || self.wants_challenge()
    }

    /// Whether a challenge is to be sent.
    #[inline]
    pub(crate) fn wants_challenge(&self) -> bool {
        self.validation.as_ref().is_some_and(Validation::wants_challenge)
    }

    /// A challenge with `data` was put into a datagram. It is repeated when no answer came within a round trip, `wait`.
    pub(crate) fn on_challenge_sent(&mut self, now: SimTime, data: u64, wait: SimDuration) {
        if let Some(validation) = &mut self.validation {
            validation.on_challenge_sent(now, data, wait);
        }
    }

    /// The datagram with the challenge had at least 1,200 bytes.
    pub(crate) fn on_large_challenge(&mut self) {
        if let Some(validation) = &mut self.validation {
            validation.on_large_challenge();
        }
    }

    /// The peer's challenge came over this route.
    pub(crate) fn on_challenge(&mut self, data: u64) {
        if self.responses.len() < MOST_RESPONSES {
            self.responses.push(data);
        }
    }

    /// Takes the data of a challenge to answer.
    pub(crate) fn take_response(&mut self) -> Option<u64> {
        self.responses.pop()
    }

    /// The peer answered a challenge, over whatever route. Returns whether it was one of this route, which is now validated. A
    /// route proved by small datagrams only is challenged again, to see that it carries large ones (section 8.2.1).
    pub(crate) fn on_response(&mut self, now: SimTime, data: u64) -> bool {
        let Some(validation) = self.validation.take_if(|known| known.is_answered_by(data)) else {
            return false;
        };
        self.validated = true;
        if validation.is_small() {
            self.challenge(now, validation.timeout());
        }
        true
    }

    /// When something is due.
    pub(crate) fn timer(&self) -> Option<SimTime> {
        self.validation.as_ref().map(Validation::timer)
    }

    /// Does what is due.
    pub(crate) fn on_timer(&mut self, now: SimTime) -> Due {
        let Some(validation) = &mut self.validation else { return Due::Nothing };
        let due = validation.on_timer(now);
        if due == Due::Failed {
            self.validation = None;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTO: SimDuration = SimDuration::from_secs(1);

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(millis)
    }

    fn route() -> Route {
        let (local, remote) = ([10, 0, 0, 1], [10, 0, 0, 2]);
        Route::new(FourTuple { local: (local, 1).into(), remote: (remote, 2).into() })
    }

    #[test]
    fn three_times_what_was_received_may_be_sent_to_an_unvalidated_address() {
        let mut route = route();
        assert_eq!(route.datagram_limit(1_252), 0);
        route.on_received(100);
        assert_eq!(route.datagram_limit(1_252), 300);
        route.on_sent(250);
        assert_eq!(route.datagram_limit(1_252), 50);
        route.validate();
        assert_eq!(route.datagram_limit(1_252), 1_252);
    }

    #[test]
    fn any_of_its_challenges_validates_a_route() {
        let mut route = route();
        route.challenge(at(0), PTO);
        assert!(route.wants_validation());
        route.on_challenge_sent(at(0), 7, SimDuration::from_millis(100));
        route.on_large_challenge();
        assert!(!route.wants_validation());
        assert_eq!(route.timer(), Some(at(100)));
        assert_eq!(route.on_timer(at(100)), Due::Nothing);
        assert!(route.wants_challenge());
        route.on_challenge_sent(at(100), 8, SimDuration::from_millis(100));
        assert_eq!(route.timer(), Some(at(300)), "twice as long");
        assert!(!route.on_response(at(120), 9));
        assert!(route.on_response(at(120), 7));
        assert!(route.is_validated() && !route.is_in_validation() && route.timer().is_none());
    }

    #[test]
    fn without_an_answer_it_fails_after_three_probe_timeouts() {
        let mut route = route();
        route.challenge(at(0), PTO);
        route.on_challenge_sent(at(0), 7, PTO * 10);
        assert_eq!(route.timer(), Some(at(3_000)));
        assert_eq!(route.on_timer(at(3_000)), Due::Failed);
        assert!(!route.is_validated() && !route.is_in_validation());
    }

    #[test]
    fn small_datagrams_prove_the_address_and_no_size() {
        let mut route = route();
        route.challenge(at(0), PTO);
        route.on_challenge_sent(at(0), 7, PTO);
        assert!(route.on_response(at(50), 7));
        assert!(route.is_validated() && route.wants_challenge());
    }
}
