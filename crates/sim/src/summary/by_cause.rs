//! Packets of a link by the cause of their drop or mark.

use leobench_link::{Cause, Tallies};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Packets by cause, in the order in which the causes were declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByCause(Vec<(Cause, u64)>);

impl ByCause {
    /// The packets of these causes.
    pub fn new(packets: impl IntoIterator<Item = (Cause, u64)>) -> Self {
        Self(packets.into_iter().collect())
    }

    /// The packets counted between two readings.
    pub fn since(before: &Tallies, after: &Tallies) -> Self {
        let packets = |(cause, tally): (Cause, leobench_link::Tally)| {
            (cause, tally.packets - before.of(cause).packets)
        };
        Self::new(after.iter().map(packets))
    }

    /// The packets of the cause with this name.
    pub fn of(&self, name: &str) -> u64 {
        self.0.iter().find(|(cause, _)| cause.name() == name).map_or(0, |(_, packets)| *packets)
    }

    /// The causes by name, and their packets.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(cause, packets)| (cause.name(), *packets))
    }

    /// The packets of all causes.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, packets)| packets).sum()
    }

    /// Whether there are no causes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for ByCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (cause, packets) in &self.0 {
            map.serialize_entry(cause.name(), packets)?;
        }
        map.end()
    }
}
