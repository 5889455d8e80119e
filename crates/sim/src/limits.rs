//! Limits of a run: memory for its packets, messages and rows, and space for its tables. All sizes are estimates that
//! are no smaller than the real ones, but for the overhead of allocators and file formats.

use leobench_base::{Bytes, Packet};
use leobench_transport::buffer::MEMORY_PER_WAITING_MESSAGE;

use crate::ledger::MEMORY_PER_OPEN_MESSAGE;

leobench_base::spec! {
    /// Limits of a run. A run that would exceed them is refused, or ended if that cannot be predicted.
    #[derive(Copy, Eq)]
    pub struct LimitsSpec {
        /// Memory for messages that are neither delivered nor lost, packets in the network, and tables that are not
        /// written to files.
        pub memory: Bytes = Self::DEFAULT.memory,
        /// Size of all tables together, before they are compressed.
        pub tables: Bytes = Self::DEFAULT.tables,
    }
}

impl LimitsSpec {
    /// The limits unless a scenario says otherwise. Ours: a quarter of the memory of a machine with 16 GB, as campaigns
    /// run several at once; and tables that are written in about ten minutes.
    pub const DEFAULT: Self =
        Self { memory: Bytes::new(4_000_000_000), tables: Bytes::new(50_000_000_000) };
}

/// Memory of a message from its creation until it is delivered or lost.
pub(crate) const MESSAGE: Bytes =
    Bytes::new(MEMORY_PER_OPEN_MESSAGE.get() + MEMORY_PER_WAITING_MESSAGE.get());

/// Memory of a packet in the network, beside its bytes: its place in a queue, which grows by doubling, and as much again
/// in the records of its sender.
pub(crate) const PACKET: Bytes = Bytes::new(3 * size_of::<Packet>() as u64);

/// Memory of a flow between places until the end of the run: its two ends, its ledger, and what is observed of it. Measured as
/// the memory of a run with 10,000 flows beside that of one flow, and rounded up.
pub(crate) const FLOW: Bytes = Bytes::new(100_000);

/// A size as a person would say it, such as `4.1 GB`.
pub(crate) fn about(bytes: f64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if value < 9.95 && unit > 0 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.0} {}", UNITS[unit])
    }
}

/// A number as a person would say it, such as `1.1e12`, or `1000` where it is short.
pub(crate) fn number(value: f64) -> String {
    if value < 1e6 { format!("{value:.0}") } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Table;

    /// The estimates match the table in `docs/reference/limits.md`.
    #[test]
    fn estimates_are_those_of_the_guide() {
        assert_eq!(MESSAGE.get(), 144);
        assert!((500..=650).contains(&PACKET.get()), "{PACKET}");
        let tables = [
            Table::Messages,
            Table::Transport,
            Table::Streams,
            Table::Queues,
            Table::Opportunities,
        ];
        assert_eq!(tables.map(|table| table.row_bytes().get()), [64, 120, 56, 36, 28]);
    }

    #[test]
    fn sizes_and_numbers_are_short() {
        let sizes = [0.0, 999.0, 999.9, 1_500.0, 12_345.0, 4.08e9, 999.6e6, 6.75e13, 3e30];
        let said = ["0 B", "999 B", "1.0 kB", "1.5 kB", "12 kB", "4.1 GB", "1.0 GB", "68 TB"];
        assert_eq!(sizes.map(about)[..8], said);
        assert_eq!(about(3e30), "3000000000000 EB");
        assert_eq!([7.0, 999_999.0, 1.26e12].map(number), ["7", "999999", "1.3e12"]);
    }
}
