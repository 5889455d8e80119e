//! Cells: the capacity of a beam divided over its users by the time of day.

use leobench_base::spec::{Fault, Probability, Range};
use leobench_base::{BitRate, SimDuration, SimTime};

const HOUR: SimDuration = SimDuration::from_secs(3_600);
const DAY: SimDuration = SimDuration::from_secs(86_400);

leobench_base::spec! {
    /// A cell whose users share its capacity evenly; how many of them are active depends on the hour.
    ///
    /// A terminal has capacity / (1 + users x load), with the load of the hour: the active ones among the other users, and
    /// itself. The shape of the day is up to the scenario.
    pub struct CellSpec
        example = r#"{"capacity": "1 Gbps", "users": 200, "load": [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.6, 0.6, 0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 0.9, 0.7, 0.5]}"#
        check = CellSpec::check
    {
        /// Capacity of the cell.
        pub capacity: BitRate,
        /// Other users in the cell.
        pub users: u32 [Range::from(0.0).to(1e6)],
        /// Share of them that is active in each hour of the day, from midnight to one o'clock onwards.
        pub load: [Probability; 24],
        /// Local time of day at the start of the run, from midnight.
        pub start: SimDuration = SimDuration::ZERO,
        /// Largest rate of one terminal; the capacity by default.
        pub ceiling: Option<BitRate>,
    }
}

impl CellSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.capacity.is_zero() {
            return Err(Fault::new("capacity", "is zero", "a rate above zero"));
        }
        if self.ceiling.is_some_and(BitRate::is_zero) {
            return Err(Fault::new("ceiling", "is zero", "a rate above zero"));
        }
        if self.start >= DAY {
            return Err(Fault::new("start", "is not a time of day", r#"a time below "24 h""#));
        }
        Ok(())
    }
}

/// A cell that is handed the time.
#[derive(Clone, Debug)]
pub struct Cell {
    shares: [BitRate; 24],
    start: SimDuration,
}

impl Cell {
    /// The cell that `spec` describes.
    pub fn new(spec: &CellSpec) -> Self {
        let shares = spec.load.map(|load| {
            let active = 1.0 + f64::from(spec.users) * load.get();
            let share = spec.capacity.scaled(1.0 / active);
            spec.ceiling.map_or(share, |ceiling| share.min(ceiling))
        });
        Self { shares, start: spec.start }
    }

    /// Whole hours since the midnight before the run.
    fn hours(&self, now: SimTime) -> u64 {
        let since_midnight = now.saturating_since(SimTime::ZERO) + self.start;
        since_midnight.as_nanos() / HOUR.as_nanos()
    }

    /// The rate that one terminal gets.
    pub fn share(&self, now: SimTime) -> BitRate {
        self.shares[(self.hours(now) % 24) as usize]
    }

    /// When the rate changes next; `None` if it never does.
    pub fn next_change(&self, now: SimTime) -> Option<SimTime> {
        let (hours, share) = (self.hours(now), self.share(now));
        let change = (1..24).find(|ahead| self.shares[((hours + ahead) % 24) as usize] != share)?;
        Some(SimTime::ZERO + (HOUR * (hours + change)).saturating_sub(self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_refused, read};
    use leobench_base::spec::{At, Spec, TableSpec};

    fn cell(rest: &str) -> Cell {
        let mut load = vec!["0"; 24];
        (load[8], load[9], load[23]) = ("0.5", "0.5", "1");
        let json = format!(
            r#"{{"capacity": "100 Mbps", "users": 18, "load": [{}]{rest}}}"#,
            load.join(",")
        );
        Cell::new(&read::<CellSpec>(&json).unwrap())
    }

    fn at(hours: u64, seconds: u64) -> SimTime {
        SimTime::ZERO + HOUR * hours + SimDuration::from_secs(seconds)
    }

    #[test]
    fn users_share_by_the_hour() {
        let cell = cell("");
        let mbps = |now| cell.share(now).bps() / 1_000;
        // 100 Mbit/s alone, over 1 + 9 and over 1 + 18.
        assert_eq!(mbps(at(0, 0)), 100_000);
        assert_eq!(mbps(at(8, 0)), 10_000);
        assert_eq!(mbps(at(9, 3_599)), 10_000);
        assert_eq!(mbps(at(10, 0)), 100_000);
        assert_eq!(mbps(at(23, 1)), 5_263);
        assert_eq!(mbps(at(24 + 8, 0)), 10_000, "the next day is the same");
    }

    #[test]
    fn changes_are_where_the_share_changes() {
        let cell = cell(r#", "start": "7.5 h""#);
        let mut now = SimTime::ZERO;
        let mut changes = Vec::new();
        for _ in 0..5 {
            now = cell.next_change(now).unwrap();
            changes.push((
                now.saturating_since(SimTime::ZERO).as_nanos() / 1_800_000_000_000,
                cell.share(now).bps() / 1_000_000,
            ));
        }
        // In half hours from 7:30: 8:00, 10:00, 23:00, 24:00, 32:00.
        assert_eq!(changes, [(1, 10), (5, 100), (31, 5), (33, 100), (49, 10)]);
    }

    #[test]
    fn an_even_day_never_changes() {
        let json = format!(
            r#"{{"capacity": "100 Mbps", "users": 3, "load": {:?}, "ceiling": "10 Mbps"}}"#,
            [1.0; 24]
        );
        let cell = Cell::new(&read::<CellSpec>(&json).unwrap());
        assert_eq!(cell.next_change(at(5, 0)), None);
        assert_eq!(
            cell.share(at(5, 0)),
            BitRate::from_bps(10_000_000),
            "the ceiling is below 25 Mbit/s"
        );
    }

    #[test]
    fn wrong_cells_are_refused() {
        let json = |rest: &str| format!(r#"{{"users": 3, "load": {:?}, {rest}}}"#, [1.0; 24]);
        let refused =
            |rest: &str, place, problem| assert_refused::<CellSpec>(&json(rest), place, problem);
        refused(r#""capacity": "0 bps""#, "capacity", "zero");
        refused(r#""capacity": "1 Mbps", "start": "24 h""#, "start", "not a time of day");
        refused(r#""capacity": "1 Mbps", "ceiling": "0 bps""#, "ceiling", "zero");
        assert_refused::<CellSpec>(
            r#"{"capacity": "1 Mbps", "users": 3, "load": [1]}"#,
            "load",
            "has 1 values",
        );
    }

    #[test]
    fn specifications_read_back_what_they_write() {
        let spec = CellSpec::example();
        assert_eq!(CellSpec::read(&spec.write(), &At::ROOT).unwrap(), spec);
    }
}
