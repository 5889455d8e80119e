//! Loss detection by packet and time thresholds (RFC 9002 section 6.1).

use leobench_base::{SimDuration, SimTime};

use super::packet::SentPacket;
use super::sent_packets::{SentPackets, Slot};

/// `kPacketThreshold` (RFC 9002 section 6.1.1).
const PACKET_THRESHOLD: u64 = 3;

/// When packets count as lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub now: SimTime,
    /// Time after which a packet is lost if a later one was acknowledged.
    pub delay: SimDuration,
    /// Packets sent until then are no evidence of persistent congestion; none are if it is not set.
    pub since: Option<SimTime>,
}

/// Losses found together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Findings {
    /// When the oldest packet left that is older than an acknowledged one will be lost.
    pub loss_time: Option<SimTime>,
    /// The longest time between two packets lost without anything acknowledged between them.
    pub silence: SimDuration,
}

impl SentPackets {
    /// `DetectAndRemoveLostPackets` (RFC 9002 appendix A.10): moves packets to `lost`. Send times rise with the numbers, so
    /// the first packet that is not lost ends the search.
    pub(super) fn detect_lost(
        &mut self,
        threshold: &Threshold,
        lost: &mut Vec<SentPacket>,
    ) -> Findings {
        let mut findings = Findings::default();
        let Some(largest_acked) = self.largest_acked else { return findings };
        if std::mem::take(&mut self.cleared) {
            self.run.on_acked();
        }
        let mut settled = 0;
        for (number, slot) in (self.first..=largest_acked).zip(self.slots.iter_mut()) {
            match slot {
                Slot::Outstanding(packet) => {
                    let by_number = largest_acked - number >= PACKET_THRESHOLD;
                    let loss_time = packet.at + threshold.delay;
                    if !by_number && loss_time > threshold.now {
                        findings.loss_time = Some(loss_time);
                        break;
                    }
                    let silence = self.run.on_lost(packet, threshold.since);
                    findings.silence = findings.silence.max(silence);
                    self.eliciting -= usize::from(packet.ack_eliciting);
                    lost.extend(slot.take());
                }
                Slot::Acked => self.run.on_acked(),
                Slot::Skipped => {}
            }
            settled += 1;
        }
        self.slots.drain(..settled);
        self.first += settled as u64;
        findings
    }
}
