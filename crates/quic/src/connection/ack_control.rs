//! How often acknowledgements are sent and asked for (draft-ietf-quic-ack-frequency).

use leobench_base::{SimDuration, SimTime};

use crate::space::FrequencyState;
use crate::wire::{Frame, TransportParameters};

/// How often acknowledgements are sent and asked for.
pub(super) struct AckControl {
    /// How often to acknowledge 1-RTT packets.
    pub(super) frequency: FrequencyState,
    /// The packets that the peer is asked to leave unacknowledged, and the delay, if the peer takes such a request.
    request: Option<(u64, SimDuration)>,
    /// Whether the request is to be sent.
    pub(super) pending: bool,
    /// When a packet may ask again that acknowledgements be acknowledged.
    pub(super) next_ask: SimTime,
}

impl AckControl {
    /// Creates the state for an end with these transport parameters.
    pub(super) fn new(params: &TransportParameters) -> Self {
        let frequency = FrequencyState::new(
            SimDuration::from_millis(params.max_ack_delay),
            SimDuration::from_micros(params.min_ack_delay.unwrap_or_default()),
        );
        Self { frequency, request: None, pending: false, next_ask: SimTime::ZERO }
    }

    /// Asks the peer to leave so many packets unacknowledged for so long.
    pub(super) fn ask(&mut self, threshold: u64, delay: SimDuration) {
        (self.request, self.pending) = (Some((threshold, delay)), true);
    }

    /// The frame that asks the peer, if it is to be sent (section 4).
    pub(super) fn frame(&self) -> Option<Frame> {
        let (threshold, delay) = self.request.filter(|_| self.pending)?;
        Some(Frame::AckFrequency {
            sequence: 0,
            threshold,
            max_ack_delay: delay.as_nanos() / 1_000,
            reordering: 1,
        })
    }
}
