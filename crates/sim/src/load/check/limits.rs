//! Refuses scenarios that are known beforehand to take more than their limits: what a source produces at one instant, and
//! the rows that a run is sure to record. What depends on the network is looked after while it runs.

use leobench_base::spec::SpecError;
use leobench_base::{Bytes, SimDuration};
use leobench_link::ChannelSpec;

use super::Place;
use super::flows::at_source;
use crate::limits::{MESSAGE, about, number};
use crate::record::Table;
use crate::scenario::{ApplicationSpec, Direction, FlowSpec, LinkSpec, ScenarioSpec, Until};

pub(super) fn check(spec: &ScenarioSpec, root: &Place<'_>) -> Result<(), SpecError> {
    for (name, flow) in &spec.flows {
        let flows = root.key("flows");
        at_once(flow, spec.limits.memory, &flows.key(name))?;
    }
    tables(spec, root)
}

/// Refuses sources that produce more at one instant than there is memory for.
fn at_once(flow: &FlowSpec, memory: Bytes, at: &Place<'_>) -> Result<(), SpecError> {
    if flow.application == ApplicationSpec::Blocking {
        return Ok(());
    }
    for (index, source) in flow.sources() {
        let messages = source.model().messages_at_once();
        let bytes = messages * MESSAGE.get() as f64;
        if bytes > memory.get() as f64 {
            let problem = format!(
                "makes {} messages at once, which take about {} of memory; that is more than `limits.memory`, {memory}",
                number(messages),
                about(bytes)
            );
            let allowed =
                "a lower `rate`, a larger `size`, a shorter `slot`, or a larger `limits.memory`";
            return Err(at_source(at, index, |at| at.error(problem).allowed(allowed)));
        }
    }
    Ok(())
}

/// Refuses runs that are sure to record more than their tables may hold.
fn tables(spec: &ScenarioSpec, root: &Place<'_>) -> Result<(), SpecError> {
    let series = if spec.record.series { series(spec) } else { 0.0 };
    let messages: Vec<f64> = spec.flows.iter().map(|(_, flow)| messages(spec, flow)).collect();
    let row = Table::Messages.row_bytes().get() as f64;
    let rows = if spec.record.messages { messages.iter().sum::<f64>() * row } else { 0.0 };
    let limit = spec.limits.tables;
    if series + rows <= limit.get() as f64 {
        return Ok(());
    }
    let than = format!("that is more than `limits.tables`, {limit}");
    if series > rows {
        let (record, bytes) = (root.key("record"), about(series));
        let problem = format!("produces samples of about {bytes}; {than}");
        let allowed = "a longer interval, a shorter run, `record.series = false`, or a larger `limits.tables`";
        return Err(record.key("interval").error(problem).allowed(allowed));
    }
    let most = (0..messages.len()).max_by(|a, b| messages[*a].total_cmp(&messages[*b]));
    let (name, flow) = &spec.flows[most.unwrap_or(0)];
    let made = number(messages[most.unwrap_or(0)]);
    let bytes = about(rows);
    let problem = format!("produces {made} messages, whose rows take about {bytes}; {than}");
    let allowed = "a lower `rate`, a larger `size`, a shorter run, `record.messages = false`, or a larger `limits.tables`";
    let flows = root.key("flows");
    let first = flow.sources().next().and_then(|(index, _)| index);
    Err(at_source(&flows.key(name), first, |at| at.error(problem).allowed(allowed)))
}

/// Bytes of the samples that are taken before the run can end.
fn series(spec: &ScenarioSpec) -> f64 {
    let lasts = match spec.until {
        Until::Time => spec.production(),
        // It ends no sooner than the sources that produce by the clock.
        Until::Drained => {
            let clocked = |flow: &FlowSpec| {
                flow.sources().any(|(_, source)| source.model().offered_bps().is_some())
            };
            let flows = spec.flows.iter().filter(|(_, flow)| clocked(flow));
            let stops = flows.map(|(_, flow)| stop(spec, flow));
            stops.max().unwrap_or(SimDuration::ZERO)
        }
    };
    let link = |link: &LinkSpec| {
        let channels = Direction::BOTH.iter().filter_map(|direction| link.channel(*direction));
        let traces =
            channels.filter(|channel| matches!(channel, ChannelSpec::Trace(_))).count() as u64;
        Direction::BOTH.len() as u64 * Table::Queues.row_bytes().get()
            + traces * Table::Opportunities.row_bytes().get()
    };
    let flow = |flow: &FlowSpec| {
        let paths = u64::from(flow.transport.model().connects());
        paths * Table::Transport.row_bytes().get()
            + flow.stream_count() as u64 * Table::Streams.row_bytes().get()
    };
    let sample = spec.links.iter().map(|(_, spec)| link(spec)).sum::<u64>()
        + spec.flows.iter().map(|(_, spec)| flow(spec)).sum::<u64>();
    sample as f64 * (lasts.as_nanos() as f64 / spec.record.interval.as_nanos() as f64)
}

/// The number of messages a flow is expected to create, whatever the network does.
fn messages(spec: &ScenarioSpec, flow: &FlowSpec) -> f64 {
    if flow.application == ApplicationSpec::Blocking {
        return 0.0;
    }
    let span = stop(spec, flow).saturating_sub(flow.start);
    flow.sources().map(|(_, source)| source.model().messages_in(span)).sum()
}

fn stop(spec: &ScenarioSpec, flow: &FlowSpec) -> SimDuration {
    flow.stop.map_or(spec.production(), |stop| stop.min(spec.production()))
}
