//! How often to acknowledge: RFC 9000 section 13.2.2, and what the peer asks for (draft-ietf-quic-ack-frequency section 4).

use leobench_base::SimDuration;

use crate::recovery::ProtocolViolation;

/// When acknowledgements are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckFrequency {
    /// Ack-eliciting packets that may stay unacknowledged.
    pub threshold: u64,
    /// For how long.
    pub max_ack_delay: SimDuration,
    /// Packets by which one may be out of order without being acknowledged at once; 0 for any number.
    pub reordering: u64,
    /// Whether the peer asked for it.
    pub is_requested: bool,
}

impl AckFrequency {
    /// The recommendation of RFC 9000, with the `max_ack_delay` that this end has announced.
    pub(crate) fn new(max_ack_delay: SimDuration) -> Self {
        Self { threshold: 1, max_ack_delay, reordering: 1, is_requested: false }
    }
}

/// The frequency in force at a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrequencyState {
    pub current: AckFrequency,
    /// `min_ack_delay` as announced.
    min_ack_delay: SimDuration,
    /// The sequence number of the latest request.
    sequence: Option<u64>,
}

impl FrequencyState {
    /// Before any request.
    pub(crate) fn new(max_ack_delay: SimDuration, min_ack_delay: SimDuration) -> Self {
        Self { current: AckFrequency::new(max_ack_delay), min_ack_delay, sequence: None }
    }

    /// An `ACK_FREQUENCY` frame asks for `threshold`, `max_ack_delay` in microseconds, and `reordering`. Older requests than
    /// the latest are ignored.
    ///
    /// # Errors
    /// If it asks for acknowledgements faster than announced.
    pub(crate) fn on_frame(
        &mut self,
        sequence: u64,
        threshold: u64,
        max_ack_delay: u64,
        reordering: u64,
    ) -> Result<(), ProtocolViolation> {
        if self.sequence.is_some_and(|latest| sequence <= latest) {
            return Ok(());
        }
        let max_ack_delay = SimDuration::from_nanos(max_ack_delay.saturating_mul(1_000));
        if max_ack_delay < self.min_ack_delay {
            return Err(ProtocolViolation("ACK_FREQUENCY with a delay below min_ack_delay"));
        }
        self.sequence = Some(sequence);
        self.current = AckFrequency { threshold, max_ack_delay, reordering, is_requested: true };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN: SimDuration = SimDuration::from_millis(1);
    const MAX: SimDuration = SimDuration::from_millis(25);

    #[test]
    fn the_latest_request_counts() {
        let mut state = FrequencyState::new(MAX, MIN);
        assert_eq!(state.current, AckFrequency::new(MAX));
        assert_eq!(state.on_frame(4, 10, 5_000, 3), Ok(()));
        assert_eq!(state.on_frame(3, 1, 1_000, 1), Ok(()));
        let asked = AckFrequency {
            threshold: 10,
            max_ack_delay: SimDuration::from_millis(5),
            reordering: 3,
            is_requested: true,
        };
        assert_eq!(state.current, asked);
        assert!(state.on_frame(5, 10, 999, 3).is_err());
        assert_eq!(state.current, asked);
        assert_eq!(state.on_frame(4, 10, 999, 3), Ok(()), "old, whatever it asks for");
    }
}
