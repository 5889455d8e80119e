//! Proportional rate reduction: the window decreases to its target over a round trip (RFC 9937).

/// The state of RFC 9937 section 6.1, for one recovery. In bytes.
#[derive(Clone, Debug)]
pub(super) struct Reduction {
    /// `RecoverFS`: bytes in flight at the start.
    flight: u64,
    /// `prr_delivered`.
    delivered: u64,
    /// `prr_out`.
    out: u64,
    /// The limit for bytes in flight.
    pub(super) window: u64,
}

impl Reduction {
    /// Starts with `flight` bytes in flight, before the acknowledgement that started recovery reduced them.
    pub(super) fn new(flight: u64) -> Self {
        Self { flight: flight.max(1), delivered: 0, out: 0, window: 0 }
    }

    /// An acknowledgement delivered `delivered` bytes and left `pipe` in flight; the target is `ssthresh`. `safe` means
    /// that it advanced and indicated no further loss.
    pub(super) fn on_ack(
        &mut self,
        delivered: u64,
        pipe: u64,
        ssthresh: u64,
        mss: u64,
        safe: bool,
    ) {
        self.delivered += delivered;
        let mut allowed = if pipe > ssthresh {
            let due = u128::from(self.delivered) * u128::from(ssthresh);
            (due.div_ceil(self.flight.into()) as u64).saturating_sub(self.out)
        } else {
            let grown = self.delivered.saturating_sub(self.out).max(delivered);
            let grown = if safe { grown + mss } else { grown };
            grown.min(ssthresh - pipe)
        };
        if self.out == 0 {
            // The first retransmission is sent at once.
            allowed = allowed.max(mss);
        }
        self.window = pipe + allowed;
    }

    /// Bytes were sent or retransmitted.
    pub(super) fn on_sent(&mut self, size: u64) {
        self.out += size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 20 with its first segment lost decreases to 10: every other acknowledgement releases a segment (RFC
    /// 9937 section 8, RFC 6937 figure 1).
    #[test]
    fn half_the_window_is_a_segment_for_every_other_acknowledgement() {
        // Two duplicate acknowledgements have arrived; with the third, the first segment is lost.
        let mut prr = Reduction::new(18);
        let mut pipe = 18 - 1;
        let mut sent = Vec::new();
        for ack in 3..=19 {
            pipe -= 1;
            prr.on_ack(1, pipe, 10, 1, false);
            while pipe < prr.window {
                pipe += 1;
                prr.on_sent(1);
                sent.push(ack);
            }
        }
        assert_eq!((pipe, sent.len()), (10, 10));
        assert_eq!(sent[0], 3, "the retransmission leaves at once");
        let gaps: Vec<_> = sent.windows(2).map(|pair| pair[1] - pair[0]).collect();
        // No bursts; near the target there is a pause, when proportional reduction changes to packet conservation.
        assert!(gaps.iter().all(|gap| (1..=3).contains(gap)), "{sent:?}");
    }

    #[test]
    fn after_heavy_losses_the_window_grows_back_to_its_target() {
        let mut prr = Reduction::new(20);
        let mut pipe = 3;
        for _ in 0..6 {
            pipe -= 1;
            prr.on_ack(1, pipe, 10, 1, true);
            assert!(prr.window <= 10);
            let room = prr.window - pipe;
            assert_eq!(room, 2, "what was delivered and one more, as in slow start");
            prr.on_sent(room);
            pipe += room;
        }
        prr.on_ack(1, 9, 10, 1, true);
        assert_eq!(prr.window, 10);
        prr.on_ack(1, 9, 10, 1, false);
        assert_eq!(prr.window, 10, "conservation");
    }
}
