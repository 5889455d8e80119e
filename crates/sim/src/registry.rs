//! Everything a scenario can be made of, by kind of thing: what `leobench list` shows.

use leobench_base::spec::{Fault, nearest};
use leobench_link::channel::lms::{LmsPreset, PresetState};
use leobench_link::{AccessSpec, ChannelSpec, LossSpec, QueueSpec};
use leobench_orbit::PolicySpec;
use leobench_transport::path_scheduler::PathSchedulerSpec;
use leobench_transport::{CongestionSpec, SchedulerSpec, SourceSpec};

use crate::scenario::{SatellitesSpec, TransportSpec};

/// A name with its one-line summary.
pub type Entry = (&'static str, &'static str);

type Registry = (&'static str, fn() -> Vec<Entry>, &'static [Entry]);

const REGISTRIES: [Registry; 12] = [
    ("channels", ChannelSpec::summaries, ChannelSpec::REFUSED),
    ("presets", LmsPreset::summaries, &[]),
    ("losses", LossSpec::summaries, LossSpec::REFUSED),
    ("access", AccessSpec::summaries, AccessSpec::REFUSED),
    ("queues", QueueSpec::summaries, QueueSpec::REFUSED),
    ("transports", TransportSpec::summaries, TransportSpec::REFUSED),
    ("congestion", CongestionSpec::summaries, CongestionSpec::REFUSED),
    ("schedulers", SchedulerSpec::summaries, SchedulerSpec::REFUSED),
    ("path_schedulers", PathSchedulerSpec::summaries, PathSchedulerSpec::REFUSED),
    ("sources", SourceSpec::summaries, SourceSpec::REFUSED),
    ("satellites", SatellitesSpec::summaries, SatellitesSpec::REFUSED),
    ("policies", PolicySpec::summaries, PolicySpec::REFUSED),
];

/// There is no such kind of thing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given}: no such kind; allowed: {}{}",
    kinds().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", "),
    .nearest.map_or(String::new(), |kind| format!("; did you mean `{kind}`?"))
)]
pub struct UnknownKind {
    /// The name given.
    pub given: String,
    /// The name most like it.
    pub nearest: Option<&'static str>,
}

/// The kinds of things there are.
pub fn kinds() -> impl ExactSizeIterator<Item = &'static str> {
    REGISTRIES.iter().map(|(kind, _, _)| *kind)
}

/// Returns the names of a kind, each with a summary.
///
/// # Errors
/// If there is no such kind.
pub fn entries(kind: &str) -> Result<Vec<Entry>, UnknownKind> {
    registry(kind).map(|(_, summaries, _)| summaries())
}

/// Names of a kind that are refused, each with the reason.
///
/// # Errors
/// If there is no such kind.
pub fn refused(kind: &str) -> Result<&'static [Entry], UnknownKind> {
    registry(kind).map(|(_, _, refused)| *refused)
}

fn registry(kind: &str) -> Result<&'static Registry, UnknownKind> {
    REGISTRIES.iter().find(|(name, _, _)| *name == kind).ok_or_else(|| UnknownKind {
        given: kind.to_owned(),
        nearest: nearest(kind, &kinds().collect::<Vec<_>>()),
    })
}

/// Returns the parameters of each state of the LMS channel under this preset; empty if there is no such preset.
///
/// # Errors
/// Never: the published numbers are sound.
pub fn preset(name: &str) -> Result<Vec<PresetState>, Fault> {
    LmsPreset::named(name).map_or(Ok(Vec::new()), |preset| preset.states().map(Vec::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_lists_names_with_summaries() {
        for kind in kinds() {
            let entries = entries(kind).unwrap();
            assert!(!entries.is_empty(), "{kind}");
            for (name, summary) in entries {
                assert!(summary.ends_with('.'), "{kind} {name}: {summary:?}");
            }
        }
    }

    #[test]
    fn what_is_not_modelled_is_listed_apart() {
        let [(name, reason)] = refused("congestion").unwrap() else { panic!("one is refused") };
        assert_eq!(*name, "tcpwave");
        assert!(reason.starts_with("is not modelled: "), "{reason}");
        assert!(entries("congestion").unwrap().iter().all(|(known, _)| known != name));
        assert_eq!(refused("queues"), Ok(&[] as &[Entry]));
    }

    #[test]
    fn every_preset_has_numbers() {
        for (name, _) in entries("presets").unwrap() {
            let states = preset(name).unwrap();
            assert_eq!(states.len(), 3, "{name}");
            let shares: f64 = states.iter().map(|state| state.time_share).sum();
            assert!((shares - 1.0).abs() < 1e-12, "{name}: {shares}");
        }
        assert_eq!(preset("x").unwrap(), []);
    }

    #[test]
    fn an_unknown_kind_is_told_the_nearest() {
        let error = entries("chanels").unwrap_err().to_string();
        assert!(error.starts_with("chanels: no such kind; allowed: `channels`, "), "{error}");
        assert!(error.ends_with("did you mean `channels`?"), "{error}");
    }
}
