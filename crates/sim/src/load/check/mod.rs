//! Checks across the parts of a scenario, beyond the checks of each part.

mod call;
mod constellation;
mod cross_layer;
mod flows;
mod handovers;
mod limits;
mod links;
mod multipath;
mod page;
mod preferred;
mod real;
mod video;

use leobench_base::SimDuration;
use leobench_base::spec::{At, Fault, SpecError, Value, is_name};
use leobench_transport::Plugins;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use self::page::circle;
use super::FlowUse;
use crate::scenario::{Scenario, ScenarioSpec, Until};

/// A place in the scenario, and what the file says there.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    at: At<'a>,
    value: Option<&'a Value>,
}

impl<'a> Place<'a> {
    fn root(tree: &'a Value) -> Self {
        Self { at: At::ROOT, value: Some(tree) }
    }

    fn key(&'a self, key: &'a str) -> Self {
        let value = match self.value {
            Some(Value::Table(table)) => table.get(key),
            _ => None,
        };
        Self { at: self.at.key(key), value }
    }

    fn index(&'a self, index: usize) -> Self {
        let value = match self.value {
            Some(Value::Array(values)) => values.get(index),
            _ => None,
        };
        Self { at: self.at.index(index), value }
    }

    /// An error about what the file says here, or does not say.
    fn error(&self, problem: impl Into<String>) -> SpecError {
        match self.value {
            Some(value) => self.at.error(value, problem),
            None => self.at.missing(problem),
        }
    }

    /// The error for a fault of what stands here.
    fn fault(&self, fault: Fault) -> SpecError {
        if fault.field.is_empty() {
            return self.error(fault.problem).allowed(fault.allowed);
        }
        // No field is found in a value that is no table, as none is in one that is not there.
        fault.at(self.value.unwrap_or(&Value::Bool(false)), &self.at)
    }

    /// An error about a name here that stands for nothing.
    fn unknown(&self, what: &str, name: &str, names: &[&str]) -> SpecError {
        self.error(format!("no such {what}")).words(name, names)
    }
}

/// Names in the order of the file, and their places in it.
pub(super) struct Names<'s> {
    listed: Vec<&'s str>,
    places: FxHashMap<&'s str, usize>,
}

impl<'s> Names<'s> {
    /// Names of which none comes twice.
    fn new(names: impl Iterator<Item = &'s str>) -> Self {
        let listed: Vec<_> = names.collect();
        let places = listed.iter().zip(0..).map(|(name, place)| (*name, place)).collect();
        Self { listed, places }
    }

    /// The place of a name, which `at` says; `what` it stands for.
    fn find(&self, name: &str, what: &str, at: &Place<'_>) -> Result<usize, SpecError> {
        let place = self.places.get(name).copied();
        place.ok_or_else(|| at.unknown(what, name, &self.listed))
    }
}

/// Checks a scenario that was read from `tree`, given a host of plug-ins.
///
/// # Errors
/// The first thing wrong with it, in the order of the schema.
pub(super) fn check(
    scenario: &Scenario,
    tree: &Value,
    plugins: &Plugins,
    flows: FlowUse,
) -> Result<(), SpecError> {
    let root = Place::root(tree);
    if flows != FlowUse::Unused {
        network(scenario, &root, plugins, flows)?;
        return reference(&scenario.spec, &root.key("competition").key("reference"));
    }
    let mut without = scenario.clone();
    without.spec.flows.clear();
    network(&without, &root, plugins, flows)
}

/// Checks everything but the flows that others are measured by.
fn network(
    scenario: &Scenario,
    root: &Place<'_>,
    plugins: &Plugins,
    flows: FlowUse,
) -> Result<(), SpecError> {
    let spec = &scenario.spec;
    file_name(&spec.name, &root.key("name"))?;
    times(spec, root)?;
    let (nodes, links) = (root.key("nodes"), root.key("links"));
    some(&spec.nodes, &nodes, "at least one node")?;
    some(&spec.links, &links, "at least one link")?;
    if flows == FlowUse::Required {
        some(&spec.flows, &root.key("flows"), FLOWS)?;
    }
    let nodes = Names::new(spec.nodes.iter().map(|(name, _)| name.as_str()));
    links::check(scenario, &nodes, &root.key("links"))?;
    constellation::check(scenario, root)?;
    handovers::links(scenario, &nodes, &root.key("handovers"))?;
    flows::check(scenario, &nodes, plugins, &root.key("flows"))?;
    handovers::kinds(spec, &root.key("handovers"))?;
    limits::check(spec, root)?;
    real::check(spec, root)
}

/// Hint for a scenario without flows.
const FLOWS: &str = "at least one flow, or programs instead of flows (`leobench emulate`)";

/// Refuses flows as a measure of others that are none, or not among those that compete.
fn reference(spec: &ScenarioSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let competitors = Names::new(spec.competitors().map(|(name, _)| name.as_str()));
    let mut seen = FxHashSet::default();
    for (index, name) in spec.competition.reference.iter().enumerate() {
        let at = at.index(index);
        if !seen.insert(name) {
            return Err(at.error("appears twice").allowed("every flow once"));
        }
        let background = || spec.flows.iter().any(|(flow, _)| flow == name);
        if !competitors.places.contains_key(name.as_str()) {
            let what = if background() { "flow that is not background" } else { "flow" };
            return Err(at.unknown(what, name, &competitors.listed));
        }
    }
    Ok(())
}

fn times(spec: &ScenarioSpec, root: &Place<'_>) -> Result<(), SpecError> {
    let above_zero = "a time above zero";
    if spec.duration.is_none() && !spec.flows.is_empty() {
        let error = root.key("duration").error("is required but missing");
        return Err(
            error.allowed("a time above zero (optional only if programs run instead of flows)")
        );
    }
    if spec.duration.is_some_and(SimDuration::is_zero) {
        return Err(root.key("duration").error("is zero").allowed(above_zero));
    }
    if spec.until == Until::Drained && spec.drain_limit.is_zero() {
        return Err(root.key("drain_limit").error("is zero").allowed(above_zero));
    }
    if let Some(duration) = spec.duration.filter(|duration| spec.warm_up >= *duration) {
        let error = root.key("warm_up").error("leaves no time for the summary");
        return Err(error.allowed(format!("a time below the duration, {duration}")));
    }
    if spec.record.interval.is_zero() {
        let record = root.key("record");
        return Err(record.key("interval").error("is zero").allowed(above_zero));
    }
    Ok(())
}

/// Refuses a table without entries.
fn some<T>(entries: &[(String, T)], at: &Place<'_>, allowed: &str) -> Result<(), SpecError> {
    if !entries.is_empty() {
        return Ok(());
    }
    let problem = if at.value.is_some() { "is empty" } else { "is required but missing" };
    Err(at.error(problem).allowed(allowed))
}

/// Refuses a scenario name that result folders cannot be named after.
fn file_name(name: &str, at: &Place<'_>) -> Result<(), SpecError> {
    if is_name(&name.replacen('.', "_", name.len())) && !name.starts_with(['.', '-']) {
        return Ok(());
    }
    let error = at.error("cannot name a result folder");
    Err(error
        .allowed("letters from a to z, digits, `_`, `-` and `.`, not starting with `-` or `.`"))
}
