//! Everything a scenario can be made of, by kind of thing: what `leobench list` shows.

use leobench_base::spec::{Fault, Schema, Spec, nearest};
use leobench_budget::{
    AntennaSpec, FadingSpec, NoiseSpec, RateSpec, ReceiverSpec, TransmitterSpec,
};
use leobench_link::channel::lms::{LmsPreset, PresetState};
use leobench_link::{AccessSpec, ChannelSpec, LossSpec, QueueSpec};
use leobench_media::call::JitterBufferSpec;
use leobench_media::{AdaptationSpec, RateControlSpec};
use leobench_orbit::{LayoutSpec, PolicySpec, RoutingSpec};
use leobench_transport::path_manager::PathManagerSpec;
use leobench_transport::path_scheduler::PathSchedulerSpec;
use leobench_transport::{CongestionSpec, SchedulerSpec, SourceSpec};

use crate::scenario::traffic::{ArrivalsSpec, MatrixSpec, SizeSpec};
use crate::scenario::{SatellitesSpec, TransportSpec};

/// A name with its one-line summary.
pub type Entry = (&'static str, &'static str);

/// A kind of thing, with all things of this kind.
struct Kind {
    /// As `leobench list` has it.
    name: &'static str,
    /// The key under which a thing of this kind stands in a scenario.
    key: &'static str,
    summaries: fn() -> Vec<Entry>,
    schema: fn() -> Schema,
    refused: &'static [Entry],
}

/// Declares all kinds: the name in `leobench list`, the key in scenarios, and the specification.
macro_rules! listed {
    ($($name:literal as $key:literal: $spec:ident $($words:ident)?;)*) => {
        /// All kinds, in the order in which they are listed.
        const KINDS: &[Kind] = &[$(Kind {
            name: $name,
            key: $key,
            summaries: $spec::summaries,
            schema: <$spec as Spec>::schema,
            refused: listed!(@refused $spec $($words)?),
        }),*];
    };
    (@refused $spec:ident) => { $spec::REFUSED };
    (@refused $spec:ident words) => { &[] };
}

listed! {
    "channels" as "channel": ChannelSpec;
    "presets" as "preset": LmsPreset words;
    "losses" as "loss": LossSpec;
    "access" as "access": AccessSpec;
    "queues" as "queue": QueueSpec;
    "transports" as "transport": TransportSpec;
    "congestion" as "congestion": CongestionSpec;
    "schedulers" as "scheduler": SchedulerSpec;
    "path_managers" as "manager": PathManagerSpec;
    "path_schedulers" as "scheduler": PathSchedulerSpec;
    "sources" as "source": SourceSpec;
    "adaptations" as "adaptation": AdaptationSpec;
    "rate_controls" as "rate_control": RateControlSpec;
    "jitter_buffers" as "jitter_buffer": JitterBufferSpec;
    "matrices" as "matrix": MatrixSpec;
    "arrivals" as "arrivals": ArrivalsSpec;
    "sizes" as "size": SizeSpec;
    "satellites" as "satellites": SatellitesSpec;
    "policies" as "policy": PolicySpec;
    "layouts" as "layout": LayoutSpec;
    "routing" as "routing": RoutingSpec;
    "transmitters" as "transmitter": TransmitterSpec;
    "receivers" as "receiver": ReceiverSpec;
    "antennas" as "antenna": AntennaSpec;
    "noise" as "noise": NoiseSpec;
    "fading" as "fading": FadingSpec;
    "rates" as "rate": RateSpec;
}

/// There is no such kind of thing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{given}: no such kind; allowed: {}{}",
    kinds().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", "),
    .nearest.as_ref().map_or(String::new(), |kind| format!("; did you mean `{kind}`?"))
)]
pub struct UnknownKind {
    /// The name given.
    pub given: String,
    /// The nearest known word: a kind, or a kind and the name of a model.
    pub nearest: Option<String>,
}

/// The kinds of things there are.
pub fn kinds() -> impl ExactSizeIterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

/// Returns the names of a kind, each with a summary.
///
/// # Errors
/// If there is no such kind.
pub fn entries(kind: &str) -> Result<Vec<Entry>, UnknownKind> {
    find(kind).map(|kind| (kind.summaries)())
}

/// Names of a kind that are refused, each with the reason.
///
/// # Errors
/// If there is no such kind.
pub fn refused(kind: &str) -> Result<&'static [Entry], UnknownKind> {
    find(kind).map(|kind| kind.refused)
}

/// The key under which things of a kind stand in a scenario, and the JSON Schema of its value.
///
/// # Errors
/// If there is no such kind.
pub fn schema(kind: &str) -> Result<(&'static str, Schema), UnknownKind> {
    find(kind).map(|kind| (kind.key, (kind.schema)()))
}

/// Other words for kinds, by which somebody may look for them.
const SYNONYMS: &[(&str, &str)] = &[
    ("controllers", "congestion"),
    ("congestion_controllers", "congestion"),
    ("congestion_control", "congestion"),
    ("managers", "path_managers"),
    ("stream_schedulers", "schedulers"),
    ("disciplines", "queues"),
    ("constellations", "satellites"),
    ("traffic", "sources"),
];

fn find(name: &str) -> Result<&'static Kind, UnknownKind> {
    KINDS
        .iter()
        .find(|kind| kind.name == name)
        .ok_or_else(|| UnknownKind { given: name.to_owned(), nearest: meant(name) })
}

/// The kind that was perhaps meant by a word: one that has a thing of exactly this name, or one that is spelt alike.
fn meant(word: &str) -> Option<String> {
    let owner = KINDS.iter().find(|kind| (kind.summaries)().iter().any(|(name, _)| *name == word));
    if let Some(kind) = owner {
        return Some(format!("{} {word}", kind.name));
    }
    let words: Vec<_> = SYNONYMS.iter().map(|(other, _)| *other).chain(kinds()).collect();
    let near = nearest(word, &words)?;
    let synonym = SYNONYMS.iter().find(|(other, _)| *other == near);
    Some(synonym.map_or(near, |(_, kind)| *kind).to_owned())
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
    use leobench_base::{DurationDistribution, RateDistribution};
    use leobench_quic::Stack;

    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn other_words_for_kinds_and_names_of_things_lead_to_kinds() {
        for (word, kind) in [
            ("channel", "channels"),
            ("controllers", "congestion"),
            ("controler", "congestion"),
            ("cubic", "congestion cubic"),
            ("constellation", "satellites"),
        ] {
            assert_eq!(entries(word).unwrap_err().nearest.as_deref(), Some(kind), "{word}");
        }
        assert_eq!(entries("zebra crossing").unwrap_err().nearest, None);
        assert!(SYNONYMS.iter().all(|(_, kind)| kinds().any(|known| known == *kind)));
    }

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
    fn every_name_of_a_kind_has_its_parameters_in_the_schema() {
        for kind in kinds().filter(|kind| *kind != "presets") {
            let (_, schema) = schema(kind).unwrap();
            let options = schema["oneOf"].as_array().unwrap();
            for (name, _) in entries(kind).unwrap() {
                let described = options.iter().filter(|option| {
                    option["properties"]["kind"]["const"] == name && option["examples"].is_array()
                });
                assert_eq!(described.count(), 1, "{kind} {name}");
            }
        }
    }

    /// A choice between models must not be missing from the list. Distributions of quantities are no models.
    #[test]
    fn every_choice_of_a_scenario_is_listed() {
        let mut listed: Vec<Schema> = kinds().map(|kind| schema(kind).unwrap().1).collect();
        // Distributions are told by their keys, and a stack is a word or a library.
        listed.extend([
            DurationDistribution::schema(),
            RateDistribution::schema(),
            Stack::schema(),
        ]);
        let mut unlisted = Vec::new();
        collect_choices(&Scenario::schema(), "", &mut |key, choice| {
            if !listed.iter().any(|schema| schema["oneOf"] == choice["oneOf"]) {
                unlisted.push(key.to_owned());
            }
        });
        unlisted.sort_unstable();
        unlisted.dedup();
        assert_eq!(unlisted, [""; 0]);
    }

    /// Calls a function for each choice between kinds in a schema, with the key that it is under.
    fn collect_choices(schema: &Schema, key: &str, found: &mut dyn FnMut(&str, &Schema)) {
        let is_kind = |option: &Schema| option["properties"]["kind"]["const"].is_string();
        match schema {
            Schema::Object(table) => {
                if table
                    .get("oneOf")
                    .and_then(Schema::as_array)
                    .is_some_and(|o| o.iter().any(is_kind))
                {
                    found(key, schema);
                }
                for (inner, value) in table {
                    collect_choices(value, if inner == "oneOf" { key } else { inner }, found);
                }
            }
            Schema::Array(items) => {
                for item in items {
                    collect_choices(item, key, found);
                }
            }
            _ => {}
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
