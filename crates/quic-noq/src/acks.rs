//! Predicts the acknowledgement that the stack will put in front of the next packet. The stack does not report it, but
//! a scheduler must know the remaining room before it fills the packet.

use leobench_base::SimTime;
use leobench_base::varint::varint_size;

use super::frames::{Frame, Frames};

/// The stack acknowledges packets that ask for no acknowledgement once there are more than so many, with whatever
/// leaves next (`PendingAcks::maybe_ack_non_eliciting` of `noq-proto`).
const SILENT: u32 = 10;
/// Bytes of an ACK frame whose fields are small: type, number of ranges, ECT(1) and CE counts (RFC 9000 section 19.3).
const SMALL_FIELDS: u64 = 1 + 1 + 2 * COUNT;
/// Bytes that a count of marked packets, the first range, a gap or a range take at most, as long as fewer than 16,384
/// packets go unacknowledged.
const COUNT: u64 = 2;
/// By how many bits the delay in an ACK frame is shifted, in microseconds (RFC 9000 section 18.2).
const DELAY_EXPONENT: u32 = 3;

/// Foresees ACK frames, by what was received since the last.
#[derive(Debug, Default)]
pub(super) struct AckForecast {
    /// Packets received that ask for no acknowledgement.
    silent: u32,
    /// Whether one was received that asks for it.
    asked: bool,
    /// The largest packet number received, and when it came.
    largest: u64,
    largest_at: SimTime,
    /// Bytes that ranges after the first took in the last frame, or take since.
    ranges: u64,
}

impl AckForecast {
    /// A packet was received.
    pub(super) fn on_received(&mut self, now: SimTime, packet: u64, payload: &[u8]) {
        let mut frames = Frames::new(payload);
        // Only ACK, PADDING and CONNECTION_CLOSE ask for none (RFC 9002 section 2).
        let silent = loop {
            match frames.next_frame() {
                Some(Frame::Ack { .. } | Frame::Other { kind: 0 | 0x1c | 0x1d, .. }) => {}
                Some(_) => break false,
                None => break true,
            }
        };
        self.silent += u32::from(silent);
        self.asked |= !silent;
        if packet != self.largest + 1 {
            self.ranges += 2 * COUNT;
        }
        if packet > self.largest {
            (self.largest, self.largest_at) = (packet, now);
        }
    }

    /// An ACK frame was sent, whose ranges after the first took so many bytes.
    pub(super) fn on_sent(&mut self, ranges: usize) {
        *self = Self { silent: 0, asked: false, ranges: ranges as u64, ..*self };
    }

    /// The most that an ACK frame takes of a packet sent now; nothing if there will be none.
    pub(super) fn size(&self, now: SimTime) -> u64 {
        if self.silent <= SILENT && !self.asked {
            return 0;
        }
        let delay = (now.saturating_since(self.largest_at).as_nanos() / 1_000) >> DELAY_EXPONENT;
        // The first range and the ECT(0) count are no larger than the largest number.
        let number = varint_size(self.largest);
        SMALL_FIELDS + 2 * number + number.min(COUNT) + varint_size(delay) + self.ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACK: [u8; 5] = [0x02, 5, 1, 0, 1];
    const PING: [u8; 1] = [0x01];

    #[test]
    fn the_eleventh_packet_that_asks_for_none_is_acknowledged_all_the_same() {
        let mut acks = AckForecast::default();
        for packet in 1..=10 {
            acks.on_received(SimTime::ZERO, packet, &ACK);
        }
        assert_eq!(acks.size(SimTime::ZERO), 0);
        acks.on_received(SimTime::ZERO, 11, &ACK);
        assert!(acks.size(SimTime::ZERO) > 0);
        acks.on_sent(0);
        assert_eq!(acks.size(SimTime::ZERO), 0);
    }

    #[test]
    fn the_frame_is_never_larger_than_foreseen() {
        let mut acks = AckForecast::default();
        acks.on_received(SimTime::ZERO, 16_300, &[&ACK[..], &PING].concat());
        acks.on_received(SimTime::ZERO, 16_302, &ACK);
        // Type, largest (2), delay of 8,192 us (2), ranges, first, gap, range, three counts of which ECT(0) of 2 bytes.
        let frame = 1 + 2 + 2 + 1 + 1 + 2 + (2 + 1 + 1);
        let size = acks.size(SimTime::from_nanos(8_192_000));
        assert!((frame..frame + 14).contains(&size), "{size}");
    }
}
