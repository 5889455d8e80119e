//! From `[traffic]` to stations, nodes, links and flows.
//!
//! The scenario keeps its table `traffic`, and what it expands into is never written back: a scenario that is written and read
//! again expands into the same.

use std::borrow::Cow;

use leobench_base::Bytes;
use leobench_base::spec::{At, Fault, SpecError, Value};
use leobench_transport::SourceSpec;
use leobench_transport::source::BulkSpec;
use rustc_hash::FxHashSet;

use crate::limits::{FLOW, about};
use crate::scenario::traffic::{Place, TrafficPlan, TrafficSpec};
use crate::scenario::{
    ApplicationSpec, ConstellationSpec, Engine, FlowSpec, GatewaySpec, NodeSpec, SatellitesSpec,
    Scenario, ScenarioSpec, Streams, TerminalSpec, Traffic,
};

/// The key of the table.
pub(super) const TRAFFIC: &str = "traffic";

/// From so many flows on, the port of a receiver may be that of another flow's sender at the same node (`build/flows`): their first
/// ports are 28,335 apart.
const MOST_FLOWS_OF_ALL: usize = 28_335;

/// Adds what the traffic of a scenario needs, if it has any.
///
/// # Errors
/// The first thing wrong with the traffic, with its place in the scenario.
pub(super) fn expand(scenario: &mut Scenario, tree: &Value) -> Result<(), SpecError> {
    let Some(spec) = scenario.spec.traffic.clone() else { return Ok(()) };
    let expanded = expanded(&scenario.spec, &spec, scenario);
    let (expanded, traffic) =
        expanded.map_err(|fault| fault.within(TRAFFIC).at(tree, &At::ROOT))?;
    scenario.spec = expanded;
    scenario.traffic = Some(traffic);
    Ok(())
}

fn expanded(
    given: &ScenarioSpec,
    traffic: &TrafficSpec,
    scenario: &Scenario,
) -> Result<(ScenarioSpec, Traffic), Fault> {
    if given.engine == Engine::Real {
        let allowed = "`engine = \"virtual\"`, or flows instead of `[traffic]`";
        return Err(Fault::new("matrix", "cannot run in real time", allowed));
    }
    let named = names(given, traffic);
    let plan = traffic.plan(&scenario.folder, &named, given.production(), given.seed)?;
    memory(given, &plan)?;
    let mut spec = given.clone();
    if traffic.link.is_some() {
        add_ends(&mut spec, &plan)?;
        add_links(&mut spec, traffic, &plan)?;
    } else {
        on_nodes(&spec, &plan)?;
    }
    let first_flow = spec.flows.len();
    add_flows(&mut spec, traffic, &plan)?;
    Ok((spec, Traffic { given: Box::new(given.clone()), first_flow, plan }))
}

/// The names that places may have beside those of `[traffic]`.
fn names<'a>(spec: &'a ScenarioSpec, traffic: &TrafficSpec) -> Vec<&'a str> {
    let nodes = spec.nodes.iter().map(|(name, _)| name.as_str());
    let Some(constellation) = spec.constellation.as_ref().filter(|_| traffic.link.is_some()) else {
        return nodes.collect();
    };
    let terminals = constellation.terminals.iter().map(|(name, _)| name.as_str());
    let gateways = constellation.gateways.iter().map(|(name, _)| name.as_str());
    nodes.chain(terminals).chain(gateways).collect()
}

/// Refuses more flows than there is memory for.
fn memory(spec: &ScenarioSpec, plan: &TrafficPlan) -> Result<(), Fault> {
    let (count, limit) = (plan.transfers.len(), spec.limits.memory);
    let flows = spec.flows.len() + count;
    if flows > MOST_FLOWS_OF_ALL {
        let problem = format!("makes {count} transfers, {flows} flows together with `flows`");
        let allowed = format!("at most {MOST_FLOWS_OF_ALL} flows, as each has ports of its own");
        return Err(Fault::new("flows", problem, allowed));
    }
    let bytes = Bytes::new(FLOW.get() * count as u64);
    if bytes <= limit {
        return Ok(());
    }
    let problem = format!(
        "makes {count} transfers, which take about {} of memory; that is more than `limits.memory`, {limit}",
        about(bytes.get() as f64)
    );
    Err(Fault::new("flows", problem, "fewer transfers, or a larger `limits.memory`"))
}

/// Refuses places that are no nodes, where transfers take links that are there.
fn on_nodes(spec: &ScenarioSpec, plan: &TrafficPlan) -> Result<(), Fault> {
    for Place { name, .. } in plan.used() {
        if spec.node(name).is_none() {
            let problem = format!("has the place `{name}`, but the scenario has no such node");
            let allowed = "names of nodes; or a `link`, with which places become nodes";
            return Err(Fault::new("places", problem, allowed));
        }
    }
    Ok(())
}

/// Makes every place a node, a terminal and a gateway.
fn add_ends(spec: &mut ScenarioSpec, plan: &TrafficPlan) -> Result<(), Fault> {
    let Some(constellation) = &mut spec.constellation else {
        let allowed =
            "a table `constellation`, or no `link`: transfers take the links of the scenario";
        return Err(Fault::new("link", "has no constellation to lead through", allowed));
    };
    // The folder has its own stations.
    let has_stations = matches!(constellation.satellites, SatellitesSpec::Hypatia(_));
    let nodes: FxHashSet<_> = spec.nodes.iter().map(|(name, _)| name.clone()).collect();
    for place in plan.used() {
        if !has_stations {
            add_stations(constellation, place)?;
        }
        if !nodes.contains(&place.name) {
            spec.nodes.push((place.name.clone(), NodeSpec { description: None }));
        }
    }
    Ok(())
}

/// Makes a place a terminal and a gateway, unless it is.
fn add_stations(spec: &mut ConstellationSpec, place: &Place) -> Result<(), Fault> {
    let terminal = spec.terminals.iter().find(|(name, _)| *name == place.name);
    let gateway = spec.gateways.iter().find(|(name, _)| *name == place.name);
    let of_terminal = terminal.and_then(|(_, it)| Some((it.latitude?, it.longitude?, it.altitude)));
    let of_gateway = gateway.map(|(_, it)| (it.latitude, it.longitude, it.altitude));
    if terminal.is_some() && gateway.is_some() {
        return Ok(());
    }
    let position = place.position.or(of_terminal).or(of_gateway);
    let Some((latitude, longitude, altitude)) = position else {
        let problem = format!("does not say where `{}` is", place.name);
        let allowed = "a `latitude` and a `longitude`, or the name of a terminal or a gateway";
        return Err(Fault::new("places", problem, allowed));
    };
    let (has_terminal, has_gateway) = (terminal.is_some(), gateway.is_some());
    if !has_terminal {
        let terminal = TerminalSpec::at(latitude, longitude, altitude);
        spec.terminals.push((place.name.clone(), terminal));
    }
    if !has_gateway {
        let gateway = GatewaySpec::at(latitude, longitude, altitude);
        spec.gateways.push((place.name.clone(), gateway));
    }
    Ok(())
}

/// Adds a link for every pair of places that has none, in either direction.
fn add_links(
    spec: &mut ScenarioSpec,
    traffic: &TrafficSpec,
    plan: &TrafficPlan,
) -> Result<(), Fault> {
    let Some(link) = &traffic.link else { return Ok(()) };
    let mut joined: FxHashSet<[String; 2]> =
        spec.links.iter().map(|(_, link)| sorted(link.between.each_ref())).collect();
    let mut names: FxHashSet<String> = spec.links.iter().map(|(name, _)| name.clone()).collect();
    for pair in &plan.pairs {
        // The place that comes first is at the terminal, whoever sends.
        let ends = [pair[0].min(pair[1]), pair[0].max(pair[1])];
        let [first, second] = ends.map(|place| &plan.places[place].name);
        if !joined.insert(sorted([first, second])) {
            continue;
        }
        let name = format!("{first}-{second}");
        if !names.insert(name.clone()) {
            let problem = format!("makes a link `{name}`, which is there already");
            return Err(Fault::new("link", problem, "names of places that differ when joined"));
        }
        spec.links.push((name, link.between(first, second)));
    }
    Ok(())
}

/// Two names in an order of their own.
fn sorted(ends: [&String; 2]) -> [String; 2] {
    let mut ends = ends.map(Clone::clone);
    ends.sort_unstable();
    ends
}

/// Adds a flow for every transfer, named after its pair and its number.
fn add_flows(
    spec: &mut ScenarioSpec,
    traffic: &TrafficSpec,
    plan: &TrafficPlan,
) -> Result<(), Fault> {
    let transports = traffic.transports();
    let taken: FxHashSet<String> = spec.flows.iter().map(|(name, _)| name.clone()).collect();
    for (number, transfer) in plan.transfers.iter().enumerate() {
        let [from, to] = plan.names(transfer.pair);
        let name = flow_name([from, to], number);
        if taken.contains(&name) {
            let problem = format!("makes a flow `{name}`, which is there already");
            return Err(Fault::new("matrix", problem, "names of flows that differ"));
        }
        let flow = FlowSpec {
            transport: transports[transfer.transport].1.clone(),
            count: None,
            from: from.to_owned(),
            to: to.to_owned(),
            opened_by: traffic.opened_by,
            start: transfer.start,
            stop: None,
            background: true,
            streams: Streams::Dealt(1),
            source: Some(SourceSpec::Bulk(BulkSpec { size: transfer.size })),
            reconnect: None,
            application: ApplicationSpec::Buffered,
            objects: None,
            har: None,
            http: None,
            connections: None,
            video: None,
            call: None,
            forecast: None,
            cross_layer: None,
        };
        spec.flows.push((name, flow));
    }
    Ok(())
}

/// The name of the flow of a transfer.
fn flow_name([from, to]: [&str; 2], number: usize) -> String {
    FlowSpec::numbered(&format!("{from}-{to}"), number as i64 + 1)
}

/// An error at its place in the file, where it is in something that `[traffic]` expanded into.
pub(super) fn located(error: SpecError, scenario: &Scenario, tree: &Value) -> SpecError {
    let place = error.place.clone();
    let moved = at_its_key(error, scenario);
    if moved.place == place {
        return moved;
    }
    let mut steps = moved.place.split('.');
    let shown = steps.try_fold(tree, super::overrides::child).map(ToString::to_string);
    SpecError { value: shown.or(moved.value), ..moved }
}

fn at_its_key(mut error: SpecError, scenario: &Scenario) -> SpecError {
    let Some(Traffic { given, first_flow, plan }) = &scenario.traffic else { return error };
    let place = error.place.clone();
    let mut steps = place.splitn(3, '.');
    let (Some(table), Some(name)) = (steps.next(), steps.next()) else { return error };
    let rest = steps.next().map_or(Cow::Borrowed(""), |rest| format!(".{rest}").into());
    match table {
        "flows" if given.flows.iter().all(|(given, _)| given != name) => {
            let flows = &scenario.spec.flows[*first_flow..];
            let number = flows.iter().position(|(flow, _)| flow == name);
            let transport = number.map(|number| plan.transfers[number].transport);
            let mix = given.traffic.as_ref().zip(transport);
            let mix = mix.and_then(|(traffic, number)| traffic.transports()[number].0);
            error.place = match (mix, rest.starts_with(".transport")) {
                (Some(mix), true) => format!("{TRAFFIC}.mix.{mix}{rest}"),
                _ => format!("{TRAFFIC}{rest}"),
            };
        }
        "links" if given.links.iter().all(|(given, _)| given != name) => {
            error.place = format!("{TRAFFIC}.link{rest}");
            error.problem = format!("{} (link `{name}`)", error.problem);
        }
        _ => {}
    }
    error
}
