//! How a window opens: its initial and smallest size, and how it grows at first (RFC 9002 section 7.2).

use leobench_base::Bytes;
use leobench_base::spec::{Fault, Whole};

use super::slow_start::SlowStartSpec;

/// The largest window in packets: of 1,024 bytes each, they are the 1 GiB that TCP's largest window has (RFC 7323 section 2.3).
pub const MOST_PACKETS: u32 = 1 << 20;

/// A window in packets, at least one.
pub type Packets = Whole<1, MOST_PACKETS>;

leobench_base::spec! {
    /// How a window opens, and how small it gets.
    pub struct Opening: Default check = Opening::check {
        /// Initial window in packets; if not given, that of RFC 9002 section 7.2 (10 packets, at most 14,720 bytes).
        pub initial_window: Option<Packets>,
        /// Smallest window in packets (RFC 9002 section 7.2).
        pub minimum_window: Packets = Packets::nearest(2),
        /// How the window grows at first.
        pub slow_start: SlowStartSpec = SlowStartSpec::Standard,
    }
}

impl Opening {
    fn check(&self) -> Result<(), Fault> {
        self.initial_window.map_or(Ok(()), |packets| self.check_packets("initial_window", packets))
    }

    /// Refuses a number of packets below the minimum window.
    pub(super) fn check_packets(&self, field: &'static str, packets: Packets) -> Result<(), Fault> {
        let minimum = self.minimum_window.get();
        if packets.get() >= minimum {
            return Ok(());
        }
        let allowed = format!("at least the minimum window ({minimum})");
        Err(Fault::new(field, "is out of range", allowed))
    }

    /// The minimum window in bytes.
    pub(super) fn minimum(&self, datagram: Bytes) -> u64 {
        u64::from(self.minimum_window.get()).saturating_mul(datagram.get())
    }

    /// The initial window in bytes.
    pub(super) fn initial(&self, datagram: Bytes) -> u64 {
        let given = self.initial_window.map(Packets::get);
        initial_window(given, datagram).max(self.minimum(datagram))
    }
}

/// The window of so many packets, or that of RFC 9002 section 7.2: ten packets, but no more than 14,720 bytes or two
/// packets, whichever is larger.
pub(super) fn initial_window(packets: Option<u32>, datagram: Bytes) -> u64 {
    let datagram = datagram.get();
    packets.map_or_else(
        || (10 * datagram).min(14_720.max(2 * datagram)),
        |packets| u64::from(packets).saturating_mul(datagram),
    )
}
