// The panels of a run: what each shows, from which columns. Series are read when their panel comes into view.

import { grouped, picked } from "report/columns";
import { eventLanes, stateLanes } from "report/lanes";
import { Line, Rate, Steps, known, sorted, totals } from "report/series";
import { CATEGORIES, DASHES, FLOWS } from "report/theme";

// Series of a table, and of a panel, that are drawn at first; the legend switches further ones on.
const MOST_SHOWN = 8;
const MOST_DRAWN = 10;
// A backlog above this is that of a source without an end.
const ENDLESS = 1e12;
const SECOND = 1e9;

/** What panels need to know of a run: its tables, its flows and links, and its looks among other runs. */
export class Shown {
  constructor(run, tables, number, count) {
    this.run = run;
    this.tables = tables;
    this.number = number;
    this.several = count > 1;
    this.flows = run.summary ? run.summary.flows.map((flow) => flow.name) : Object.keys(run.scenario.flows ?? {});
    this.interval = seconds(run.scenario.record?.interval ?? "10 ms");
  }

  get end() {
    return this.run.summary?.virtual_s ?? this.run.manifest.reached_s ?? 0;
  }

  /** The name of a series: that of its run comes first where there are several. */
  named(text) {
    return this.several ? `${this.run.label}: ${text}` : text;
  }

  /** The look of a flow: neighbours differ in dashes, too, for print in grey and for lines that cover each other. */
  flowLook(flow) {
    const place = Math.max(0, this.flows.indexOf(flow));
    if (this.several) return this.look(place);
    return { colour: FLOWS[place % FLOWS.length], dash: DASHES[place % DASHES.length] };
  }

  /** The look of one of several things of the run; with several runs, its colour is that of the run. */
  look(place) {
    if (this.several) return { colour: CATEGORIES[this.number % CATEGORIES.length], dash: DASHES[(this.number + place) % DASHES.length] };
    const turn = Math.floor(place / CATEGORIES.length);
    return { colour: CATEGORIES[place % CATEGORIES.length], dash: DASHES[(place + turn) % DASHES.length] };
  }

  /** The look of a path of a flow, the same in all panels. */
  pathLook(flow, path) {
    return this.several ? this.flowLook(flow) : this.look(3 * Math.max(0, this.flows.indexOf(flow)) + path);
  }

  background(flow) {
    return Boolean(this.run.scenario.flows?.[flow]?.background);
  }
}

function seconds(text) {
  const [value, unit] = text.split(" ");
  return Number(value) * { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 }[unit];
}

/** All panels that some run has data for, in the order of the page. */
export function panels(runs) {
  const made = DEFINED.filter(({ table }) => runs.some((run) => table.some((name) => run.tables[name])));
  return made.map((definition) => ({
    ...definition,
    load: async () => (await Promise.all(runs.map(async (run) => limited(await definition.of(run), MOST_DRAWN / runs.length)))).flat(),
  }));
}

/** Series of a run, of which `most` are drawn at first; an area is none of them. */
function limited(found, most) {
  let drawn = 0;
  for (const each of found) {
    if (each.off || each.area) continue;
    drawn += 1;
    if (drawn > Math.max(2, most)) each.off = true;
  }
  return found;
}

const DEFINED = [
  { id: "throughput", title: "Throughput and capacity", unit: "bit/s", table: ["transport", "messages"], of: throughput },
  { id: "delay", title: "Delay of messages", unit: "s", table: ["messages"], of: delay },
  { id: "rtt", title: "Round-trip time", unit: "s", table: ["transport"], of: roundTrips },
  { id: "window", title: "Congestion window", unit: "B", table: ["transport"], of: windows },
  { id: "queue", title: "Queues of links", unit: "B", table: ["queues"], of: queues },
  { id: "events", title: "Losses and events", lanes: true, table: ["events", "losses"], of: eventLanes },
  { id: "buffer", title: "Send buffers of streams", unit: "B", table: ["streams"], of: buffers },
  { id: "rate", title: "Rate of links", unit: "bit/s", table: ["channel", "opportunities"], of: linkRates },
  { id: "states", title: "States of links", lanes: true, table: ["channel"], of: stateLanes },
  { id: "propagation", title: "Propagation delay of links", unit: "s", table: ["channel"], of: linkDelays },
  { id: "loss", title: "Loss probability of links", unit: "", table: ["channel"], of: linkLosses },
  { id: "spin", title: "Round trips by the spin bit", unit: "s", table: ["spin"], of: spins },
];

async function throughput(run) {
  const found = [];
  for (const [flow, paths] of await flowPaths(run, "bytes_delivered")) {
    const look = run.flowLook(flow);
    const name = run.named(flow);
    const sums = paths.map(([path, times, values]) => ({ path, series: new Rate(times, values, run.interval, run.end) }));
    const whole = sums.length === 1 ? sums[0].series : new Rate(...added(paths), run.interval, run.end);
    found.push({ name, look, width: 1.6, series: whole, off: run.background(flow) });
    if (sums.length > 1) {
      sums.forEach(({ path, series }, at) => found.push({
        name: `${name}, path ${path}`, series, off: run.several, look: run.pathLook(flow, at), width: 1.2,
      }));
    }
  }
  if (!found.length) found.push(...(await arrivals(run)));
  return [...(await capacities(run)), ...found];
}

/** Flows without samples of a sender: their data counts when it arrives. */
async function arrivals(run) {
  const groups = await messagesOf(run, ["flow"]);
  return groups.map(({ key, delivered, sizes }) => {
    const [times, values] = sorted(...known(delivered, sizes));
    const series = new Rate(times, totals(values), run.interval, run.end);
    return { name: run.named(key.flow), look: run.flowLook(key.flow), width: 1.6, series, off: run.background(key.flow) };
  });
}

/** The capacity of the narrowest link of each path, and the sum of a flow's paths: an area behind everything. */
async function capacities(run) {
  const table = run.tables.paths;
  if (!table) return [];
  const columns = await table.columns("t_ns", "flow", "path", "bottleneck_bps");
  const groups = grouped(columns, ["flow", "path"], table.rows).filter(({ key }) => !run.background(key.flow));
  const flows = Map.groupBy(groups, ({ key }) => key.flow);
  const look = (at) => (run.several ? { ...run.look(0), dash: DASHES[2] } : { colour: "edge", dash: DASHES[at % DASHES.length] });
  const found = [];
  for (const [flow, paths] of flows) {
    const steps = paths.map(({ key, rows }) => [key.path, picked(columns.t_ns, rows, SECOND), picked(columns.bottleneck_bps, rows)]);
    const first = found.length === 0 && run.number === 0;
    const name = flows.size > 1 ? `capacity of ${flow}` : "capacity";
    const [times, values] = steps.length > 1 ? added(steps) : steps[0].slice(1);
    found.push({ name: run.named(name), look: look(0), area: first, width: 1, off: !first, series: new Steps(times, values) });
    if (steps.length === 1) continue;
    steps.forEach(([path, ...own], at) => found.push({
      name: run.named(`${name}, path ${path}`), look: look(at + 1), width: 1, off: true, series: new Steps(...own),
    }));
  }
  return found;
}

async function flowPaths(run, column) {
  const table = run.tables.transport;
  const flows = new Map();
  if (!table) return flows;
  const columns = await table.columns("t_ns", "flow", "path", column);
  for (const { key, rows } of grouped(columns, ["flow", "path"], table.rows)) {
    if (!flows.has(key.flow)) flows.set(key.flow, []);
    flows.get(key.flow).push([key.path, picked(columns.t_ns, rows, SECOND), picked(columns[column], rows)]);
  }
  return flows;
}

/** The sum of what several paths have, at every time at which one of them changes. */
function added(paths) {
  const events = paths.flatMap(([, times, values], path) => Array.from(times, (time, at) => [time, path, values[at]]));
  events.sort((one, two) => one[0] - two[0]);
  const latest = paths.map(() => 0);
  let sum = 0;
  const result = [new Float64Array(events.length), new Float64Array(events.length)];
  events.forEach(([time, path, value], at) => {
    sum += value - latest[path];
    latest[path] = value;
    result[0][at] = time;
    result[1][at] = sum;
  });
  return result;
}

async function messagesOf(run, names) {
  const table = run.tables.messages;
  if (!table) return [];
  const columns = await table.columns(...names, "created_ns", "delivered_ns", "size_bytes");
  return grouped(columns, names, table.rows).map(({ key, rows }) => ({
    key,
    delivered: picked(columns.delivered_ns, rows, SECOND),
    created: picked(columns.created_ns, rows, SECOND),
    sizes: picked(columns.size_bytes, rows),
  }));
}

async function delay(run) {
  const ofFlow = new Map();
  const groups = await messagesOf(run, ["flow", "stream"]);
  for (const group of groups) ofFlow.set(group.key.flow, (ofFlow.get(group.key.flow) ?? 0) + 1);
  const made = groups.map(({ key, delivered, created }, at) => {
    const delays = Float64Array.from(delivered, (time, row) => time - created[row]);
    const one = ofFlow.get(key.flow) === 1;
    return {
      name: run.named(one ? key.flow : `${key.flow}, ${key.stream}`),
      look: one ? run.flowLook(key.flow) : run.look(at),
      width: 1,
      off: run.background(key.flow) || at >= MOST_SHOWN,
      series: new Line(...sorted(...known(delivered, delays))),
    };
  });
  return made.filter(({ series }) => series.times.length > 1);
}

/** Columns of the senders' samples, one series per flow and path. */
async function sampled(run, column, divisor, looks) {
  const found = [];
  for (const [flow, paths] of await flowPaths(run, column)) {
    paths.forEach(([path, times, values], at) => {
      if (divisor !== 1) for (let row = 0; row < values.length; row += 1) values[row] /= divisor;
      if (!values.some((value) => value === value)) return;
      const who = paths.length > 1 ? `${flow}, path ${path}` : flow;
      found.push({ series: new Line(times, values), ...looks(flow, at, who, paths.length) });
    });
  }
  return found;
}

async function roundTrips(run) {
  const alone = run.flows.length === 1 && !run.several;
  const latest = await sampled(run, "latest_rtt_ns", SECOND, (flow, at, who, paths) => ({
    name: run.named(`${who}: latest sample`), width: 0.7, off: !alone || paths > 1, look: alone ? { colour: "sky", dash: [] } : run.flowLook(flow),
  }));
  const smoothed = await sampled(run, "srtt_ns", SECOND, (flow, at, who, paths) => ({
    name: run.named(`${who}: smoothed`), width: 1.4, off: run.background(flow),
    look: paths > 1 ? run.pathLook(flow, at) : run.flowLook(flow),
  }));
  const table = run.tables.paths;
  if (!table) return [...latest, ...smoothed];
  const columns = await table.columns("t_ns", "flow", "path", "base_rtt_ns");
  const base = grouped(columns, ["flow", "path"], table.rows).map(({ key, rows }, at) => ({
    name: run.named(`${key.flow}${at && key.path ? `, path ${key.path}` : ""}: without queues`), width: 1,
    off: run.background(key.flow) || run.several, look: { colour: "ink", dash: DASHES[2] },
    series: new Steps(picked(columns.t_ns, rows, SECOND), picked(columns.base_rtt_ns, rows, SECOND)),
  }));
  // Flows over the same path have the same line.
  base.forEach((each, at) => (each.off ||= base.slice(0, at).some(({ series }) => equal(series, each.series))));
  return [...latest, ...smoothed, ...base];
}

async function windows(run) {
  const alone = run.flows.length === 1 && !run.several;
  const line = (column, words, width, looks, off) => sampled(run, column, 1, (flow, at, who, paths) => ({
    name: run.named(`${who}: ${words}`), width, off: off || run.background(flow) || (paths > 1 && width < 1),
    look: alone && paths === 1 ? looks : paths > 1 ? run.pathLook(flow, at) : run.flowLook(flow),
  }));
  return [
    ...(await line("in_flight_bytes", "in flight", 0.8, { colour: "sky", dash: [] }, !alone)),
    ...(await line("ssthresh_bytes", "slow-start threshold", 1, { colour: "ink", dash: DASHES[2] }, true)),
    ...(await line("cwnd_bytes", "congestion window", 1.5, { colour: "vermilion", dash: [] }, false)),
  ];
}

async function byLink(run, name, column, make) {
  const table = run.tables[name];
  if (!table) return [];
  const columns = await table.columns("t_ns", "link", column, ...(name === "channel" ? ["up"] : []));
  return grouped(columns, ["link"], table.rows).map(({ key, rows }, at) => ({
    name: run.named(key.link), look: run.look(at), width: 1.2, series: make(columns, rows),
  }));
}

const largest = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
const varies = (values) => values.some((value) => value !== values[0]);

async function queues(run) {
  const found = await byLink(run, "queues", "backlog_bytes", (columns, rows) =>
    new Line(picked(columns.t_ns, rows, SECOND), picked(columns.backlog_bytes, rows)));
  // A queue that hardly fills beside another is switched off.
  const most = Math.max(1, ...found.map(({ series }) => largest(series.values)));
  return found.map((each) => ({ ...each, off: largest(each.series.values) < 0.01 * most }));
}

async function buffers(run) {
  const table = run.tables.streams;
  if (!table) return [];
  const columns = await table.columns("t_ns", "flow", "stream", "backlog_bytes");
  const found = grouped(columns, ["flow", "stream"], table.rows).map(({ key, rows }, at) => ({
    name: run.named(`${key.flow}, ${key.stream}`), look: run.look(at), width: 1.2, off: at >= MOST_SHOWN,
    series: new Line(picked(columns.t_ns, rows, SECOND), picked(columns.backlog_bytes, rows)),
  }));
  return found.filter(({ series }) => largest(series.values) < ENDLESS);
}

/** The rates of links; equal ones of both directions once, and none while a link is down. */
async function linkRates(run) {
  const found = await byLink(run, "channel", "rate_bps", (columns, rows) => {
    const rates = picked(columns.rate_bps, rows);
    rows.forEach((row, at) => { if (columns.up[row] === 0) rates[at] = 0; });
    return new Steps(picked(columns.t_ns, rows, SECOND), rates);
  });
  const offered = await byLink(run, "opportunities", "offered_bytes", (columns, rows) =>
    new Rate(picked(columns.t_ns, rows, SECOND), picked(columns.offered_bytes, rows), run.interval, run.end));
  const numbers = found.filter(({ series }) => series.values.some((value) => value === value));
  return [...once(numbers), ...offered];
}

async function linkDelays(run) {
  const found = await byLink(run, "channel", "delay_ns", (columns, rows) =>
    new Steps(picked(columns.t_ns, rows, SECOND), picked(columns.delay_ns, rows, SECOND)));
  return found.some(({ series }) => varies(series.values)) ? once(found) : [];
}

async function linkLosses(run) {
  const found = await byLink(run, "channel", "loss", (columns, rows) =>
    new Steps(picked(columns.t_ns, rows, SECOND), picked(columns.loss, rows)));
  return found.some(({ series }) => largest(series.values) > 0) ? once(found) : [];
}

/** Series without those that equal an earlier one: the two directions of most links are the same. */
function once(found) {
  const kept = [];
  for (const each of found) {
    const link = (text) => text.replace(/\/[^/]*$/, "");
    const same = kept.find(({ name, series }) => link(name) === link(each.name) && equal(series, each.series));
    if (same) same.name = `${link(same.name)}, both ways`;
    else kept.push(each);
  }
  return kept;
}

/** Whether two links change between the same values; rows that repeat the value before do not count. */
function equal(one, other) {
  const changes = ({ times, values }) => Array.from(times, (time, at) => [time, values[at]]).filter(([, value], at) => !at || value !== values[at - 1]);
  const [left, right] = [changes(one), changes(other)];
  return left.length === right.length && left.every(([time, value], at) => time === right[at][0] && Object.is(value, right[at][1]));
}

async function spins(run) {
  const table = run.tables.spin;
  if (!table) return [];
  const columns = await table.columns("t_ns", "source", "destination", "rtt_ns");
  return grouped(columns, ["source", "destination"], table.rows).map(({ key, rows }, at) => ({
    name: run.named(`${key.source} to ${key.destination}`), look: run.look(at), width: 1,
    series: new Line(picked(columns.t_ns, rows, SECOND), picked(columns.rtt_ns, rows, SECOND)),
  }));
}
