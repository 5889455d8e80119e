//! Loss recovery of a path (RFC 9002): what was sent, what became of it, and when to probe. One file each for sent packets,
//! losses, acknowledgements, timers, round-trip times, ECN, persistent congestion and spurious losses; and one for the
//! congestion control of the connection, which all of its paths share. "Appendix" means one of RFC 9002.

mod control;
mod ecn;
mod loss;
mod on_ack;
mod packet;
mod persistent;
mod rtt;
mod sent_packets;
mod spurious;
mod timers;

use leobench_base::{Bytes, SimDuration, SimTime};
use leobench_transport::Role;
use leobench_transport::endpoint::PathId;

pub(crate) use self::control::Control;
use self::ecn::{Ecn, EcnSpace};
pub(crate) use self::packet::SentPacket;
pub(crate) use self::rtt::RttEstimator;
use self::sent_packets::SentPackets;
use self::spurious::{LostPackets, Reduction};
use crate::sent_frame::{SentFrame, SentFrames};
use crate::wire::{EcnCounts, Number, Space};

/// The peer broke the protocol: the connection closes with `PROTOCOL_VIOLATION` and this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolViolation(pub &'static str);

/// How to recover.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecoveryConfig {
    /// Which end this is: only clients guard against deadlock by the amplification limit.
    pub role: Role,
    /// Round-trip time assumed before the first sample.
    pub initial_rtt: SimDuration,
    /// Whether to mark packets as ECN-capable.
    pub ecn: bool,
}

/// State of the handshake and of address validation, which limits what can be sent (RFC 9002 section 6.2.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HandshakeState {
    /// Whether Handshake packets can be sent.
    pub has_handshake_keys: bool,
    /// Whether the handshake is confirmed.
    pub confirmed: bool,
    /// Whether this end is a server that may send nothing until it receives more.
    pub amplification_limited: bool,
}

/// The outcome of an acknowledgement or a timeout. Its buffers are reused: the connection drains them.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Their packet number space.
    pub space: Space,
    /// Packets acknowledged, in the order of their numbers.
    pub acked: Vec<SentPacket>,
    /// Packets lost, in the order of their numbers.
    pub lost: Vec<SentPacket>,
    /// Packets acknowledged now that were handed over as lost earlier: their content has arrived.
    pub late: Vec<SentPacket>,
    /// Whether the losses amount to persistent congestion.
    pub persistent: bool,
}

impl Default for Outcome {
    fn default() -> Self {
        let (acked, lost, late) = (Vec::new(), Vec::new(), Vec::new());
        Self { space: Space::Data, acked, lost, late, persistent: false }
    }
}

impl Outcome {
    fn clear(&mut self, space: Space) {
        self.space = space;
        self.empty();
        self.persistent = false;
    }

    /// Drops all packets.
    pub(crate) fn empty(&mut self) {
        self.acked.clear();
        self.lost.clear();
        self.late.clear();
    }
}

/// A packet number space of a path.
#[derive(Debug, Default)]
struct SpaceState {
    sent: SentPackets,
    lost: LostPackets,
    ecn: EcnSpace,
    /// `time_of_last_ack_eliciting_packet`.
    last_eliciting: Option<SimTime>,
    /// `loss_time`.
    loss_time: Option<SimTime>,
    /// When the newest packet acknowledged was sent.
    newest_acked: Option<SimTime>,
}

/// Loss recovery of one path.
#[derive(Debug)]
pub(crate) struct Recovery {
    path: PathId,
    role: Role,
    handshake: HandshakeState,
    /// Whether a Handshake packet was acknowledged.
    handshake_acked: bool,
    initial_rtt: SimDuration,
    rtt: RttEstimator,
    /// The peer's `max_ack_delay`.
    max_ack_delay: SimDuration,
    spaces: [SpaceState; 3],
    /// How many spaces, from the first one on, were discarded and not used since: no timer runs for them.
    discarded: usize,
    /// `bytes_in_flight`.
    in_flight: u64,
    /// Packets in flight sent so far.
    sequence: u64,
    /// `pto_count`.
    pto_count: u32,
    timer: Option<SimTime>,
    ecn: Ecn,
    reduction: Reduction,
}

impl Recovery {
    /// Recovery of a path on which nothing was sent.
    pub(crate) fn new(path: PathId, config: &RecoveryConfig) -> Self {
        Self {
            path,
            role: config.role,
            handshake: HandshakeState::default(),
            handshake_acked: false,
            initial_rtt: config.initial_rtt,
            rtt: RttEstimator::new(config.initial_rtt),
            max_ack_delay: SimDuration::ZERO,
            spaces: std::array::from_fn(|_| SpaceState::default()),
            discarded: 0,
            in_flight: 0,
            sequence: 0,
            pto_count: 0,
            timer: None,
            ecn: Ecn::new(config.ecn),
            reduction: Reduction::default(),
        }
    }

    /// Recovery of a further path of a connection whose handshake is confirmed.
    pub(crate) fn beside(&self, path: PathId, config: &RecoveryConfig) -> Self {
        Self {
            handshake: HandshakeState { amplification_limited: false, ..self.handshake },
            handshake_acked: self.handshake_acked,
            max_ack_delay: self.max_ack_delay,
            discarded: Space::Data as usize,
            ..Self::new(path, config)
        }
    }

    /// Returns the content of ack-eliciting packets outstanding in the Data space, to be sent on another path: each packet once.
    #[cold]
    pub(crate) fn repeat(&mut self) -> Vec<SentFrame> {
        let outstanding = self.spaces[Space::Data as usize].sent.outstanding_mut();
        let mut contents = Vec::new();
        for packet in outstanding.filter(|packet| packet.ack_eliciting && !packet.repeated) {
            packet.repeated = true;
            contents.extend(packet.carried.iter().copied());
        }
        contents
    }

    /// Returns the content of the oldest ack-eliciting packet outstanding in the Data space of whose time of sending `wanted` holds,
    /// to be sent on another path: each packet once.
    pub(crate) fn repeat_oldest(&mut self, wanted: impl Fn(SimTime) -> bool) -> Option<SentFrames> {
        let mut outstanding = self.spaces[Space::Data as usize].sent.outstanding_mut();
        let packet = outstanding
            .find(|packet| packet.ack_eliciting && !packet.repeated && wanted(packet.at))?;
        packet.repeated = true;
        Some(packet.carried.clone())
    }

    /// The packet of a space that was sent last, unless it is settled.
    pub(crate) fn latest(&self, space: Space) -> Option<&SentPacket> {
        self.spaces[space as usize].sent.latest()
    }

    /// The next packet's number, in as many bytes as the peer needs to tell it (RFC 9000 appendix A.2).
    #[inline]
    pub(crate) fn next_number(&self, space: Space) -> Number {
        let sent = &self.spaces[space as usize].sent;
        Number::truncated(sent.next(), sent.largest_acked())
    }

    /// Whether a packet sent now is to be marked with ECT(0).
    #[inline]
    pub(crate) fn marks_ecn(&mut self, now: SimTime) -> bool {
        self.ecn.marks(now, self.rtt.probe_timeout() + self.max_ack_delay)
    }

    /// `OnPacketSent` (appendix A.5).
    pub(crate) fn on_sent(
        &mut self,
        now: SimTime,
        space: Space,
        mut packet: SentPacket,
        control: &mut Control,
    ) {
        self.discarded = self.discarded.min(space as usize);
        let state = &mut self.spaces[space as usize];
        if packet.ect {
            self.ecn.on_sent(&mut state.ecn, now);
        }
        if packet.in_flight {
            self.in_flight += packet.size;
            packet.sequence = self.sequence;
            self.sequence += 1;
            control.on_sent(self.path, &packet, self.in_flight);
        }
        let (in_flight, eliciting) = (packet.in_flight, packet.ack_eliciting);
        state.sent.insert(packet);
        if eliciting {
            state.last_eliciting = Some(now);
        }
        if in_flight {
            self.set_timer(now);
        }
    }

    /// `OnPacketNumberSpaceDiscarded` (appendix A.11): the keys of a space are gone, and what was sent in it leaves the
    /// flight without a word to the controller.
    #[cold]
    pub(crate) fn discard(&mut self, now: SimTime, space: Space) {
        let state = &mut self.spaces[space as usize];
        let flight = state.sent.drain().filter(|packet| packet.in_flight);
        self.in_flight -= flight.map(|packet| packet.size).sum::<u64>();
        state.lost.clear(&mut self.reduction);
        state.last_eliciting = None;
        state.loss_time = None;
        self.discarded += usize::from(space as usize == self.discarded);
        self.pto_count = 0;
        self.set_timer(now);
    }

    /// The path has moved to another route, of which nothing is known: it starts anew but for the packet numbers, and what was
    /// sent before neither counts as in flight nor tells anything about this route (RFC 9000 section 9.4).
    pub(crate) fn on_moved(&mut self, now: SimTime, control: &mut Control, mtu: u64) {
        for state in &mut self.spaces {
            state.sent.outstanding_mut().for_each(|packet| {
                (packet.in_flight, packet.ect, packet.elsewhere) = (false, false, true);
            });
            state.loss_time = None;
        }
        self.in_flight = 0;
        self.rtt = RttEstimator::new(self.initial_rtt);
        self.pto_count = 0;
        self.ecn.restart();
        self.reduction.settle();
        control.close(self.path);
        control.open(self.path, now, Bytes::new(mtu));
        self.set_timer(now);
    }

    /// Another route may answer at once: probe timeouts start anew.
    pub(crate) fn restart_backoff(&mut self, now: SimTime) {
        self.pto_count = 0;
        self.set_timer(now);
    }

    /// The probe timeout of a route of which nothing is known (RFC 9000 section 8.2.4).
    pub(crate) fn initial_probe_timeout(&self) -> SimDuration {
        RttEstimator::new(self.initial_rtt).probe_timeout()
    }

    /// Gives up what was sent in a space so that all of it is sent again, though no loss was found: the peer has asked for
    /// another start with a Retry (RFC 9002 section 6.2.3). Numbers go on.
    #[cold]
    pub(crate) fn give_up(&mut self, now: SimTime, space: Space, out: &mut Outcome) {
        out.clear(space);
        let state = &mut self.spaces[space as usize];
        out.lost.extend(state.sent.drain());
        let flight = out.lost.iter().filter(|packet| packet.in_flight);
        self.in_flight -= flight.map(|packet| packet.size).sum::<u64>();
        state.last_eliciting = None;
        state.loss_time = None;
        self.pto_count = 0;
        self.set_timer(now);
    }

    /// Takes over what the handshake and address validation allow.
    pub(crate) fn set_handshake(&mut self, now: SimTime, state: HandshakeState) {
        if self.handshake != state {
            self.handshake = state;
            self.set_timer(now);
        }
    }

    /// Whether the handshake and address validation limit nothing any more.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        let HandshakeState { has_handshake_keys, confirmed, amplification_limited } =
            self.handshake;
        confirmed && !has_handshake_keys && !amplification_limited
    }

    /// Sets the longest time for which the peer may hold acknowledgements back: its `max_ack_delay`, or the longest that it
    /// may have been asked for since.
    pub(crate) fn set_max_ack_delay(&mut self, delay: SimDuration) {
        self.max_ack_delay = delay;
    }

    /// Bytes sent and neither acknowledged nor lost.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Round-trip times.
    #[inline]
    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Probe timeouts since the last acknowledgement.
    pub(crate) fn pto_count(&self) -> u32 {
        self.pto_count
    }

    /// Whether an ack-eliciting packet of a space is outstanding.
    #[inline]
    pub(crate) fn is_ack_eliciting_in_flight(&self, space: Space) -> bool {
        self.spaces[space as usize].sent.has_eliciting()
    }

    /// The ack-eliciting packet of a space that has been outstanding for longest.
    pub(crate) fn oldest_unacked(&self, space: Space) -> Option<&SentPacket> {
        self.spaces[space as usize].sent.oldest_eliciting()
    }

    /// The largest packet number of a space that was acknowledged.
    pub(crate) fn largest_acked(&self, space: Space) -> Option<u64> {
        self.spaces[space as usize].sent.largest_acked()
    }

    /// Whether ECN validation has failed, or ECN is off.
    #[cfg(test)]
    pub(crate) fn has_ecn_failed(&self) -> bool {
        self.ecn.has_failed()
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
use self::timers::Probe;
