//! Adaptive modulation and coding from a table, with a margin and a hysteresis.

use std::borrow::Cow;

use leobench_base::decibel::db;
use leobench_base::quantity::{Decibels, Level};
use leobench_base::spec::{Fault, Range};

use super::dvb::{DVB_S2, DVB_S2X};
use super::{Choice, RateModel, rounded};

/// A modulation and coding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modcod {
    /// Its name in the standard.
    pub name: &'static str,
    /// Bits of payload per symbol.
    pub efficiency: f64,
    /// The least Es/N0 in dB at which it is decodable.
    pub threshold_db: f64,
}

leobench_base::words! {
    /// A published table of modulations and codings.
    pub enum ModcodTable {
        /// DVB-S2, normal frames (ETSI EN 302 307-1, Table 13).
        DvbS2 = "dvb-s2",
        /// DVB-S2X with those of DVB-S2 (ETSI EN 302 307-2, Table 20a, normal frames, linear channel).
        DvbS2x = "dvb-s2x",
    }
}

leobench_base::spec! {
    /// A custom modulation and coding.
    pub struct EntrySpec example = r#"{"threshold": "1 dB", "efficiency": 0.99}"# {
        /// The lowest Es/N0 at which it is decodable.
        pub threshold: Level,
        /// Bits of payload per symbol.
        pub efficiency: f64 [Range::above(0.0).to(20.0)],
    }
}

leobench_base::spec! {
    /// Adaptive modulation and coding: the most efficient of a table that the Es/N0 allows.
    ///
    /// A change to a more efficient one needs the hysteresis on top; a change to a more robust one is immediate.
    pub struct ModcodSpec example = r#"{"table": "dvb-s2x"}"# check = ModcodSpec::check {
        /// A published table, whose thresholds are those of an ideal receiver.
        pub table: Option<ModcodTable>,
        /// A custom table instead.
        pub entries: Option<Vec<EntrySpec>>,
        /// Roll-off α of the pulse: the bandwidth is (1 + α) times the symbol rate (DVB-S2 has 0.2 to 0.35, DVB-S2X also 0.05
        /// to 0.15).
        pub roll_off: f64 [Range::from(0.0).to(1.0)] = 0.2,
        /// Margin that the Es/N0 keeps above the threshold.
        pub margin: Decibels = Decibels::constant(0.0),
        /// Additional margin required for a change to a more efficient one.
        pub hysteresis: Decibels = Decibels::constant(0.0),
    }
}

impl ModcodSpec {
    fn check(&self) -> Result<(), Fault> {
        match (&self.table, &self.entries) {
            (Some(_), None) => Ok(()),
            (None, Some(entries)) if !entries.is_empty() => Ok(()),
            (None, Some(_)) => Err(Fault::new("entries", "is empty", "at least one entry")),
            (Some(_), Some(_)) => {
                Err(Fault::new("entries", "is given together with `table`", "one of them"))
            }
            (None, None) => {
                Err(Fault::new("table", "is missing", "a `table` (dvb-s2, dvb-s2x), or `entries`"))
            }
        }
    }

    /// The table; indices in [`Choice`] refer to it.
    pub fn modcods(&self) -> Cow<'static, [Modcod]> {
        match self.table {
            Some(ModcodTable::DvbS2) => Cow::Borrowed(&DVB_S2),
            Some(ModcodTable::DvbS2x) => Cow::Borrowed(&DVB_S2X),
            None => self.entries.iter().flatten().map(EntrySpec::modcod).collect(),
        }
    }

    /// The most efficient one that is decodable `reserve_db` below `es_n0_db`; of equally efficient ones, the more robust.
    fn best(&self, modcods: &[Modcod], es_n0_db: f64, reserve_db: f64) -> Option<usize> {
        let usable = es_n0_db - self.margin.db() - reserve_db;
        let decodable = (0..modcods.len()).filter(|index| modcods[*index].threshold_db <= usable);
        decodable.max_by(|a, b| {
            let (a, b) = (&modcods[*a], &modcods[*b]);
            let robust = b.threshold_db.total_cmp(&a.threshold_db);
            a.efficiency.total_cmp(&b.efficiency).then(robust)
        })
    }

    fn choose(&self, modcods: &[Modcod], es_n0_db: f64, before: Option<Choice>) -> Option<usize> {
        let now = self.best(modcods, es_n0_db, 0.0);
        let Some(before) = before else { return now };
        let climbed = self.best(modcods, es_n0_db, self.hysteresis.db());
        let efficiency =
            |entry: Option<usize>| entry.map_or(0.0, |index| modcods[index].efficiency);
        let kept = before.entry.filter(|index| {
            modcods
                .get(*index)
                .is_some_and(|modcod| modcod.threshold_db <= es_n0_db - self.margin.db())
        });
        match (before.entry, kept) {
            (Some(_), None) => now,
            _ if efficiency(climbed) > efficiency(kept) => climbed,
            _ => kept,
        }
    }
}

impl EntrySpec {
    const fn modcod(&self) -> Modcod {
        Modcod { name: "own", efficiency: self.efficiency, threshold_db: self.threshold.db() }
    }
}

impl RateModel for ModcodSpec {
    fn rate(&self, carrier_to_density: f64, bandwidth_hz: f64, before: Option<Choice>) -> Choice {
        let symbols = bandwidth_hz / (1.0 + self.roll_off);
        let modcods = self.modcods();
        let entry = self.choose(&modcods, carrier_to_density - db(symbols), before);
        let efficiency = entry.map_or(0.0, |index| modcods[index].efficiency);
        Choice { rate: rounded(symbols * efficiency), entry }
    }
}
