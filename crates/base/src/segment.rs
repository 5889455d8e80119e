//! A TCP segment (RFC 9293 section 3.1) as a struct: every header field of the wire format, and the length of the
//! payload.

/// The control bits of a TCP header (RFC 9293 section 3.1, RFC 3168 section 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push function.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is significant.
    pub const ACK: Self = Self(0x10);
    /// Congestion experienced, echoed.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced.
    pub const CWR: Self = Self(0x80);

    /// The bits, as on the wire.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These bits and, if `condition` holds, those of `other`.
    #[must_use]
    pub const fn with_if(self, condition: bool, other: Self) -> Self {
        if condition { self.with(other) } else { self }
    }
}

/// The timestamps option (RFC 7323 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock (`TSval`).
    pub value: u32,
    /// The clock of the other end, echoed (`TSecr`).
    pub echo: u32,
}

/// Maximum number of blocks in a selective acknowledgement (RFC 2018 section 3).
pub const MOST_SACK_BLOCKS: usize = 4;

/// A selective acknowledgement (RFC 2018): for each block the sequence number of its first byte and of the byte after
/// its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); MOST_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Appends a block, if there is room for one more.
    pub fn push(&mut self, start: u32, end: u32) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (start, end);
            self.count += 1;
        }
    }

    /// The blocks, most recent first.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// The options of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size (RFC 9293 section 3.7.1); on SYN only.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323 section 2); on SYN only.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018 section 2); on SYN only.
    pub sack_permitted: bool,
    /// Timestamps (RFC 7323 section 3).
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgement (RFC 2018 section 3).
    pub sack: SackBlocks,
}

impl Options {
    /// Bytes on the wire, with each option padded to whole words (RFC 7323 appendix A).
    pub const fn len(&self) -> u64 {
        let sack = match self.sack.count {
            0 => 0,
            count => 4 + 8 * count as u64,
        };
        let stamps = match (self.timestamps.is_some(), self.sack_permitted) {
            // SACK-permitted replaces the padding.
            (true, _) => 12,
            (false, true) => 4,
            (false, false) => 0,
        };
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        mss + scale + stamps + sack
    }

    /// Whether there are no options.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How much application data is complete at a byte of a byte stream. If records wrap the data, a segment carries this
/// instead of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Bytes of payload from the start of the segment to the end of the last record that ends in it.
    pub record_end: u32,
    /// Bytes of application data in all records up to that point.
    pub plaintext: u64,
    /// Whether the segment ends the message with which an application resumes a transfer over a new connection.
    pub resumes: bool,
}

/// One TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte of payload, or of the SYN or FIN.
    pub seq: u32,
    /// Next sequence number expected.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// Receive window as on the wire, before scaling.
    pub window: u16,
    /// Options.
    pub options: Options,
    /// Bytes of payload.
    pub payload: u32,
    /// The end of the last record or message of an application that ends in the segment, if one does.
    pub mark: Option<Mark>,
}

impl Segment {
    /// Bytes of header, including options.
    pub const fn header_len(&self) -> u64 {
        20 + self.options.len()
    }

    /// Bytes of the whole segment.
    pub const fn len(&self) -> u64 {
        self.header_len() + self.payload as u64
    }

    /// Whether the segment occupies no sequence numbers: no payload, SYN or FIN.
    pub const fn is_empty(&self) -> bool {
        self.payload == 0 && !self.flags.contains(Flags::SYN) && !self.flags.contains(Flags::FIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(change: impl FnOnce(&mut Options)) -> u64 {
        let mut segment = Segment { payload: 9, ..Segment::default() };
        change(&mut segment.options);
        assert_eq!(segment.len(), segment.header_len() + 9);
        segment.header_len()
    }

    #[test]
    fn headers_are_as_long_as_on_the_wire() {
        let stamps = Some(Timestamps { value: 1, echo: 2 });
        let blocks = |count: u32| {
            let mut sack = SackBlocks::default();
            (0..count).for_each(|block| sack.push(10 * block, 10 * block + 5));
            sack
        };
        assert_eq!(header(|_| ()), 20);
        assert_eq!(header(|options| options.timestamps = stamps), 32);
        // As in Linux: a SYN of 40 bytes, an acknowledgement with one block of 52, each without the 20 bytes of IPv4.
        let syn = |options: &mut Options| {
            options.mss = Some(1_460);
            options.window_scale = Some(7);
            options.sack_permitted = true;
            options.timestamps = stamps;
        };
        assert_eq!(header(syn), 40);
        let bare_syn = |options: &mut Options| {
            options.mss = Some(1_460);
            options.sack_permitted = true;
        };
        assert_eq!(header(bare_syn), 28);
        assert_eq!(header(|options| options.sack = blocks(1)), 32);
        assert_eq!(header(|options| options.sack = blocks(4)), 56);
        let full = |options: &mut Options| (options.timestamps, options.sack) = (stamps, blocks(3));
        assert_eq!(header(full), 60, "the most a header can have");
    }

    #[test]
    fn a_fifth_block_has_no_room() {
        let mut sack = SackBlocks::default();
        (0..5).for_each(|block| sack.push(block, block + 1));
        assert_eq!(sack.as_slice(), [(0, 1), (1, 2), (2, 3), (3, 4)]);
    }

    #[test]
    fn only_what_takes_sequence_numbers_is_not_empty() {
        assert!(Segment { flags: Flags::ACK, ..Segment::default() }.is_empty());
        assert!(!Segment { flags: Flags::ACK.with(Flags::FIN), ..Segment::default() }.is_empty());
        assert!(!Segment { payload: 1, ..Segment::default() }.is_empty());
        assert_eq!(Flags::SYN.with_if(true, Flags::ACK).with_if(false, Flags::RST).bits(), 0x12);
    }
}
