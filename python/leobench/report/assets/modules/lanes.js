// Lanes: states of links as coloured stretches, and events as ticks, over the same time axis as the series.

import { grouped, picked } from "report/columns";
import { sorted } from "report/series";

const SECOND = 1e9;
// Lanes of events beyond so many are left to the tables.
const MOST_LANES = 14;
// States of different rates are shades of blue, the darker the slower, as in the printed figures; others, such as
// satellites, take turns in colours light enough for words upon them.
const SHADES = ["sky", "blue", "green", "purple", "orange"];
const [PALEST, DARKEST, PLAIN] = [0.1, 0.62, 0.32];
const MOST_SHADES = 6;

/** The states of the links of a run: satellites that serve, states of fading, outages. */
export async function stateLanes(run) {
  const table = run.tables.channel;
  if (!table) return [];
  const columns = await table.columns("t_ns", "link", "label", "up", "rate_bps");
  const lanes = [];
  for (const { key, rows } of grouped(columns, ["link"], table.rows)) {
    const spans = stretches(columns, rows, run.end);
    if (spans.length < 2) continue;
    const told = spans.map(({ from, text }) => `${from} ${text}`).join();
    if (lanes.some((lane) => lane.told === told)) continue;
    lanes.push({ name: run.named(key.link), spans, told });
  }
  return lanes;
}

/** The times at which a link has the same state, each with a colour for its name. */
function stretches(columns, rows, end) {
  const rates = new Map();
  const spans = [];
  for (const row of rows) {
    const up = columns.up[row] !== 0;
    const text = up ? columns.label.at(row) : "down";
    const last = spans[spans.length - 1];
    if (last && last.text === text) continue;
    const from = columns.t_ns[row] / SECOND;
    if (last) last.to = from;
    if (up && !rates.has(text)) rates.set(text, columns.rate_bps[row]);
    spans.push({ from, to: end, text, closed: !up });
  }
  const look = looks(rates);
  for (const span of spans) Object.assign(span, span.closed ? { colour: "closed", alpha: 1 } : look.get(span.text));
  return spans.filter(({ from, to }) => to > from);
}

/** The colour of each state and how strong it is, by its rate. */
function looks(rates) {
  const states = [...rates.keys()];
  const ordered = [...new Set(rates.values())].sort((one, two) => two - one);
  const shaded = states.length <= MOST_SHADES && ordered.length === states.length && ordered.every(Number.isFinite);
  return new Map(states.map((state, at) => {
    if (!shaded) return [state, { colour: SHADES[at % SHADES.length], alpha: PLAIN }];
    const rank = ordered.indexOf(rates.get(state)) / Math.max(1, states.length - 1);
    return [state, { colour: "blue", alpha: PALEST + (DARKEST - PALEST) * rank }];
  }));
}

/** The events of a run by kind, and its lost packets by cause. */
export async function eventLanes(run) {
  const lanes = [];
  if (run.tables.losses) {
    const columns = await run.tables.losses.columns("dropped_ns", "declared_ns", "cause");
    for (const { key, rows } of grouped(columns, ["cause"], run.tables.losses.rows)) {
      const dropped = key.cause !== null;
      const times = picked(dropped ? columns.dropped_ns : columns.declared_ns, rows, SECOND);
      lanes.push(lane(run, dropped ? `dropped: ${key.cause}` : "declared lost, not dropped", times, "vermilion"));
    }
  }
  if (run.tables.events) {
    const columns = await run.tables.events.columns("t_ns", "kind");
    for (const { key, rows } of grouped(columns, ["kind"], run.tables.events.rows)) {
      if (key.kind === "drop" && run.tables.losses) continue;
      lanes.push(lane(run, key.kind, picked(columns.t_ns, rows, SECOND), "ink"));
    }
  }
  return lanes.filter(({ times }) => times.length).slice(0, MOST_LANES);
}

function lane(run, name, times, tone) {
  const present = times.filter((time) => time === time);
  const [ordered] = sorted(present, present);
  return { name: run.named(name), times: ordered, colour: tone };
}

/** The handovers of a run: when each begins and ends, and between which links or satellites. */
export async function handovers(run) {
  const table = run.tables.handovers;
  if (!table) return [];
  const columns = await table.columns("t_ns", "handover", "number", "node", "from_link", "to_link", "stage");
  const open = new Map();
  const found = [];
  for (let row = 0; row < table.rows; row += 1) {
    const name = `${columns.handover.at(row)}-${columns.number[row]}`;
    const time = columns.t_ns[row] / SECOND;
    if (columns.stage.at(row) === "begin") {
      const made = {
        name, node: columns.node.at(row), from: columns.from_link.at(row), to: columns.to_link.at(row), begin: time, end: time,
      };
      open.set(name, made);
      found.push(made);
    } else if (open.has(name)) open.get(name).end = time;
  }
  return found;
}
