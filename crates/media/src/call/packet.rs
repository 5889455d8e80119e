//! Packets of a call, and how a frame is cut into them.

use leobench_base::{Bytes, SimTime};

/// Headers of a packet: RTP (RFC 3550, section 5.1) and the extension that numbers packets of all media together
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2).
pub const RTP_HEADER: Bytes = Bytes::new(20);

/// Packets of a frame at most. Larger frames are cut off there; only a key frame at an outlier of its size can be.
pub(super) const MOST_PACKETS: f64 = 5_000.0;

/// A packet that crosses the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Its number among all packets sent.
    pub number: u64,
    /// When it was sent.
    pub sent: SimTime,
    /// Its size with RTP headers.
    pub bytes: Bytes,
    /// Its content.
    pub content: Content,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content {
    /// A piece of voice, by its number.
    Voice {
        /// Its number, from 0.
        number: u64,
        /// When its first sample was taken.
        captured: SimTime,
    },
    /// Nothing: it fills a burst that measures the path.
    Padding,
    /// A part of a frame.
    Frame {
        /// The frame.
        header: FrameHeader,
        /// The number of the part: first the packets of the frame, then the parities.
        index: u32,
    },
}

/// A frame, as each of its packets describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameHeader {
    /// Its number, from 0.
    pub number: u64,
    /// When it was captured.
    pub captured: SimTime,
    /// Whether it needs no other frame.
    pub is_key: bool,
    /// The sequence number of its first packet among those of all frames.
    pub first: u64,
    /// Its packets, without parities.
    pub packets: u32,
    /// Its parities. Parity `p` is the sum of the packets whose index is `p` modulo the number of parities.
    pub parities: u32,
    /// Its size without headers and parities.
    pub bytes: Bytes,
}

impl FrameHeader {
    /// Packets and parities.
    pub fn parts(&self) -> u32 {
        self.packets + self.parities
    }
}

/// The packets and parities of a frame, and the largest size of a packet.
pub(super) fn cut(bytes: Bytes, packet: Bytes, fec: f64) -> (u32, u32) {
    let packets = bytes.get().div_ceil(packet.get()).clamp(1, MOST_PACKETS as u64) as u32;
    (packets, (fec * f64::from(packets)).ceil() as u32)
}

/// The size of a part of a frame with RTP headers. Packets are alike, but for a byte; a parity is as large as the largest.
pub(super) fn part_bytes(header: &FrameHeader, index: u32) -> Bytes {
    let (bytes, packets) = (header.bytes.get(), u64::from(header.packets));
    let is_larger =
        u64::from(index) < bytes % packets || index >= header.packets && bytes % packets > 0;
    RTP_HEADER + Bytes::new(bytes / packets + u64::from(is_larger))
}

/// Parts of a frame that have arrived.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    arrived: Vec<bool>,
    packets: usize,
    is_complete: bool,
}

impl Parts {
    pub fn new(header: &FrameHeader) -> Self {
        let packets = header.packets as usize;
        Self { arrived: vec![false; header.parts() as usize], packets, is_complete: false }
    }

    /// Adds a part. Returns whether the frame is complete by it.
    pub fn add(&mut self, index: u32) -> bool {
        let Some(arrived) = self.arrived.get_mut(index as usize) else { return false };
        *arrived = true;
        let was_complete = std::mem::replace(&mut self.is_complete, false);
        self.is_complete = was_complete || self.can_be_restored();
        self.is_complete && !was_complete
    }

    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether no parity has to restore more than one packet.
    fn can_be_restored(&self) -> bool {
        let (packets, parities) = self.arrived.split_at(self.packets);
        if parities.is_empty() {
            return packets.iter().all(|arrived| *arrived);
        }
        parities.iter().enumerate().all(|(number, has_parity)| {
            let summed = packets.iter().skip(number).step_by(parities.len());
            summed.filter(|arrived| !**arrived).count() <= usize::from(*has_parity)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(bytes: u64, fec: f64) -> FrameHeader {
        let (packets, parities) = cut(Bytes::new(bytes), Bytes::new(1_200), fec);
        FrameHeader {
            number: 0,
            captured: SimTime::ZERO,
            is_key: true,
            first: 0,
            packets,
            parities,
            bytes: Bytes::new(bytes),
        }
    }

    /// 5,000 B are five packets of 1,000 B, 5,001 B the same and one byte; 20 % of five packets are one parity.
    #[test]
    fn frames_are_cut_into_packets_alike() {
        for (bytes, parts) in
            [(5_000, [1_020; 6]), (5_001, [1_021, 1_020, 1_020, 1_020, 1_020, 1_021])]
        {
            let header = header(bytes, 0.2);
            assert_eq!((header.packets, header.parities), (5, 1));
            for (index, bytes) in (0..).zip(parts) {
                assert_eq!(part_bytes(&header, index).get(), bytes, "part {index}");
            }
        }
    }

    /// Of six packets and two parities, parity 0 is the sum of the packets 0, 2 and 4, and parity 1 that of 1, 3 and 5.
    #[test]
    fn a_parity_restores_one_of_its_packets() {
        let header = header(7_200, 0.3);
        assert_eq!((header.packets, header.parities), (6, 2));
        for (lost, is_complete) in [
            (vec![], true),
            (vec![2, 3], true),
            (vec![6, 7], true),
            (vec![0, 2], false),
            (vec![0, 6], false),
            (vec![0, 7], true),
        ] {
            let mut parts = Parts::new(&header);
            (0..8).filter(|index| !lost.contains(index)).for_each(|index| {
                parts.add(index);
            });
            assert_eq!(parts.is_complete(), is_complete, "without {lost:?}");
        }
    }

    #[test]
    fn a_frame_is_complete_once() {
        let header = header(2_400, 0.5);
        let mut parts = Parts::new(&header);
        assert_eq!([0, 0, 2, 1].map(|index| parts.add(index)), [false, false, true, false]);
    }
}
