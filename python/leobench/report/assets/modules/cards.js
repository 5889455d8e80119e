// What a run comes to: the verdict, a sentence, and cards; and tables of flows, streams, paths, handovers and links.

import { el, inline } from "report/dom";
import { count, millis, number, plural, quantity, rate, share, unitOf } from "report/format";
import { table } from "report/tables";

const VERDICTS = {
  valid: ["✓", "No warnings."],
  warnings: ["!", "Read these warnings before the numbers."],
  invalid: ["✗", "These numbers cannot be trusted."],
};

/** The verdict with its reasons. */
export function verdict(validity) {
  const [sign, text] = VERDICTS[validity.verdict] ?? VERDICTS.warnings;
  const reasons = validity.warnings.map((warning) => el("li", {}, inline(warning)));
  return el(
    "div",
    { class: `verdict ${validity.verdict === "valid" ? "good" : validity.verdict === "invalid" ? "bad" : "doubt"}`, role: "status" },
    el("strong", {}, el("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${validity.verdict}`),
    el("span", {}, text),
    reasons.length ? el("ul", {}, reasons) : null,
  );
}

/** The cards of a run with one flow, or with several: those of the network, and the table of flows tells the rest. */
export function cards(run) {
  const { summary } = run;
  const flows = summary.flows.filter((flow) => !run.scenario.flows?.[flow.name]?.background);
  const shown = flows.length === 1 ? ofFlow(run, flows[0]) : flows.length ? ofFlows(run, flows) : [];
  return el("div", { class: "cards" }, shown.filter(Boolean).map(([label, value, more, tone]) =>
    el("div", { class: `card ${tone ?? ""}` }, el("span", { class: "card-label" }, label), el("strong", {}, value), el("span", { class: "card-more" }, more ?? ""))));
}

function ofFlow(run, flow) {
  const narrow = bottleneck(run);
  const paths = flow.paths?.length ?? 1;
  const used = !narrow ? "" : paths > 1 ? `over ${paths} paths` : `${share(flow.goodput_bps / narrow.mean_rate_bps)} of ${rate(narrow.mean_rate_bps)} on ${narrow.name}`;
  const lost = flow.lost_packets + sum(flow.dropped_packets) * (flow.transport === "udp");
  const moves = flow.handovers;
  return [
    ["Goodput", rate(flow.goodput_bps), used],
    flow.page
      ? ["Page load time", quantity(flow.page.completion_s, "s"), plural(flow.page.objects.length, "object")]
      : flow.messages <= 1 || flow.delay_ms.p50 === null
        ? endless(run, flow) ? null : ["Completion", quantity(flow.completion_s, "s"), flow.completion_s === null ? "did not end within the run" : "until the last byte arrived"]
        : ["Delay of messages", millis(flow.delay_ms.p50), `median; 95 % below ${millis(flow.delay_ms.p95)}`],
    ["Round-trip time", millis(flow.rtt_ms.mean), `mean; 95 % below ${millis(flow.rtt_ms.p95)}`],
    ["Packets lost", flow.sent_packets ? share(lost / flow.sent_packets) : "–", `${count(lost)} of ${count(flow.sent_packets)}; ${plural(flow.congestion_events, "congestion event")}`],
    narrow ? ["Queueing delay", millis(narrow.queue_delay_ms.mean), `mean on ${narrow.name}; 95 % below ${millis(narrow.queue_delay_ms.p95)}`] : null,
    moves && moves.count ? ["Handovers", count(moves.count), `${millis(moves.outage_ms.mean)} without data on average`] : null,
    flow.undelivered_messages && flow.messages > 1 ? ["Not delivered", count(flow.undelivered_messages), `of ${plural(flow.messages, "message")}`] : null,
  ];
}

function ofFlows(run, flows) {
  const all = flows.reduce((total, flow) => total + (flow.goodput_bps ?? 0), 0);
  const best = flows.reduce((one, two) => ((two.goodput_bps ?? 0) > (one.goodput_bps ?? 0) ? two : one));
  const slow = flows.filter((flow) => flow.delay_ms.p95 !== null);
  const worst = slow.length ? slow.reduce((one, two) => (two.delay_ms.p95 > one.delay_ms.p95 ? two : one)) : null;
  const { fairness_jain: fairness } = run.summary;
  const lost = flows.reduce((total, flow) => total + flow.lost_packets, 0);
  const sent = flows.reduce((total, flow) => total + flow.sent_packets, 0);
  return [
    ["Goodput of all flows", rate(all), `${plural(flows.length, "flow")}; most: ${best.name}, ${rate(best.goodput_bps)}`],
    fairness !== null && fairness !== undefined ? ["Fairness", number(fairness), "Jain's index; 1 is equal shares"] : null,
    worst ? ["Longest delays", millis(worst.delay_ms.p95), `95 % quantile of ${worst.name}`] : null,
    ["Packets lost", sent ? share(lost / sent) : "–", `${count(lost)} of ${count(sent)}`],
  ];
}

/** Whether a flow, or a stream of it, sends without an end: it never completes, and is never delivered as a whole. */
function endless(run, flow, stream = null) {
  const { streams, source } = run.scenario.flows?.[flow.name] ?? {};
  const several = Array.isArray(streams) ? streams : null;
  const at = stream === null ? -1 : flow.streams.indexOf(stream);
  const sources = !several ? [source] : at < 0 ? several.map((each) => each.source) : [several[at]?.source];
  return sources.length > 0 && sources.every((each) => each === "bulk" || (each?.kind === "bulk" && (each.size ?? null) === null));
}

/** The column of messages that were not delivered; `of` makes a flow and its run, or a stream of it, of a row. */
const missed = (of) => ({ ...column("not delivered", (row) => (endless(...of(row)) ? null : of(row).at(-1).undelivered_messages), count), number: true });
const column = (label, value, show) => ({ label, value, show: (row) => show(value(row)) });

/** The link that its packets use most. */
function bottleneck(run) {
  const used = run.summary.links.filter((link) => link.utilisation !== null && link.mean_rate_bps);
  return used.length ? used.reduce((one, two) => (two.utilisation > one.utilisation ? two : one)) : null;
}

function sum(counts) {
  return Object.values(counts ?? {}).reduce((total, value) => total + value, 0);
}

const named = (label, key, unit) => ({
  label, number: true, value: (row) => at(row, key), show: (row) => (unit === undefined ? count(at(row, key)) : quantity(at(row, key), unit)),
});
const at = (row, key) => key.split(".").reduce((value, word) => value?.[word], row) ?? null;

/** The tables of a run: flows, streams, paths, handovers, links, satellites. `zoom` shows a range of time, `only` a stream or a path. */
export function details(run, zoom, only) {
  const { flows, links, satellites } = run.summary;
  const made = [table({
    id: "flows", caption: "Flows", rows: flows, columns: [
      { label: "flow", value: (flow) => flow.name },
      { label: "transport", value: (flow) => [flow.transport, flow.congestion].filter(Boolean).join(" ") },
      named("offered", "offered_bps", "bit/s"), named("goodput", "goodput_bps", "bit/s"), named("completion", "completion_s", "s"),
      named("messages", "messages"), missed((flow) => [run, flow]),
      named("delay mean", "delay_ms.mean", "ms"), named("p50", "delay_ms.p50", "ms"), named("p95", "delay_ms.p95", "ms"), named("p99", "delay_ms.p99", "ms"),
      named("RTT mean", "rtt_ms.mean", "ms"), named("sent packets", "sent_packets"), named("lost", "lost_packets"), named("timeouts", "timeouts"),
    ],
  })];
  const streams = flows.flatMap((flow) => (flow.streams ?? []).map((stream) => ({ ...stream, flow: flow.name, of: [run, flow, stream] })));
  if (streams.length > flows.length) made.push(table({
    id: "streams", caption: "Streams (press a row to see it alone)", rows: streams, onRow: (row) => only(`${row.flow}, ${row.name}`), columns: [
      { label: "stream", value: (row) => `${row.flow}, ${row.name}` }, named("goodput", "goodput_bps", "bit/s"), named("messages", "messages"),
      missed((row) => row.of), named("delay mean", "delay_ms.mean", "ms"), named("p50", "delay_ms.p50", "ms"),
      named("p95", "delay_ms.p95", "ms"), named("jitter", "jitter_ms", "ms"), ...(streams.some((row) => "late_messages" in row) ? [named("late", "late_messages")] : []),
    ],
  }));
  const paths = flows.flatMap((flow) => (flow.paths ?? []).map((path) => ({ flow: flow.name, ...path })));
  if (paths.length > flows.length) made.push(table({
    id: "paths", caption: "Paths (press a row to see it alone)", rows: paths, onRow: (row) => only(`${row.flow}, path ${row.path}`), columns: [
      { label: "path", value: (row) => `${row.flow}, path ${row.path}` }, named("smoothed RTT", "srtt_ms", "ms"), named("sent", "sent_bytes", "B"),
      named("sent packets", "sent_packets"), named("lost", "lost_packets"), named("reinjected", "reinjected_bytes", "B"),
      named("packet delay mean", "packet_delay_ms.mean", "ms"), named("p95", "packet_delay_ms.p95", "ms"), named("timeouts", "timeouts"),
    ],
  }));
  const moves = flows.flatMap((flow) => (flow.handovers?.each ?? []).map((each) => ({ flow: flow.name, ...each })));
  if (moves.length) made.push(handoverTable(moves, zoom));
  made.push(table({
    id: "links", caption: "Links", rows: links, columns: [
      { label: "link", value: (link) => link.name }, named("mean rate", "mean_rate_bps", "bit/s"), { label: "utilisation", number: true, value: (link) => link.utilisation, show: (link) => share(link.utilisation) },
      named("packets", "delivered_packets"), { label: "dropped", number: true, value: (link) => sum(link.dropped_packets), show: (link) => count(sum(link.dropped_packets)) },
      { label: "drops by cause", value: (link) => causes(link.dropped_packets) },
      named("queueing delay mean", "queue_delay_ms.mean", "ms"), named("p95", "queue_delay_ms.p95", "ms"),
    ],
  }));
  if (satellites?.length) made.push(table({
    id: "satellites", caption: "Satellites", rows: satellites, columns: [
      { label: "satellite", value: (each) => each.name }, named("served", "served_s", "s"), { label: "utilisation", number: true, value: (each) => each.utilisation, show: (each) => share(each.utilisation) },
      named("sent packets", "sent_packets"), named("queueing delay mean", "queue_delay_ms.mean", "ms"), named("longest", "queue_delay_ms.max", "ms"),
    ],
  }));
  return made;
}

function causes(counts) {
  return Object.entries(counts ?? {}).filter(([, value]) => value).map(([cause, value]) => `${count(value)} ${cause}`).join(", ");
}

// Names of metrics of handovers in the terms of the field.
const WORDS = { no_way_ms: "no route", retransmitted_in_vain_bytes: "spurious retransmissions" };

/** A row per handover; pressing one shows it in all charts. */
function handoverTable(moves, zoom) {
  const keys = ["outage_ms", "recovery_ms", "dip_ms", "no_way_ms", "detection_ms", "validation_ms", "retransmission_ms", "slow_start_ms", "lost_bytes", "retransmitted_bytes", "retransmitted_in_vain_bytes"];
  const words = (key) => WORDS[key] ?? key.replace(/_(ms|bytes)$/, "").replaceAll("_", " ");
  const columns = keys.filter((key) => moves.some((move) => key in move)).map((key) => named(words(key), key, unitOf(key)));
  const view = (move) => {
    const after = Math.max(move.outage_ms ?? 0, move.recovery_ms ?? 0, 500) / 1e3;
    zoom(move.at_s - Math.max(0.5, after / 2), move.at_s + 2 * after);
  };
  return table({
    id: "handovers", caption: "Handovers (press a row to see it in the charts)", rows: moves, onRow: view,
    columns: [{ label: "handover", value: (row) => `${row.name}${moves.some((move) => move.flow !== row.flow) ? `, ${row.flow}` : ""}` }, named("at", "at_s", "s"), ...columns],
  });
}

/** Runs side by side. */
export function comparison(runs) {
  const rows = runs.flatMap((run) => run.summary.flows.map((flow) => ({ run, flow })));
  const several = rows.length > runs.length;
  const of = (label, key, unit) => ({
    label, number: true, value: ({ flow }) => at(flow, key), show: ({ flow }) => (unit === undefined ? count(at(flow, key)) : quantity(at(flow, key), unit)),
  });
  return table({
    id: "runs", caption: "Runs", rows, columns: [
      { label: "run", value: ({ run }) => run.label }, ...(several ? [{ label: "flow", value: ({ flow }) => flow.name }] : []),
      { label: "verdict", value: ({ run }) => run.manifest.validity.verdict },
      of("goodput", "goodput_bps", "bit/s"), of("completion", "completion_s", "s"), of("delay mean", "delay_ms.mean", "ms"), of("p95", "delay_ms.p95", "ms"),
      of("RTT mean", "rtt_ms.mean", "ms"), of("lost packets", "lost_packets"), missed(({ run, flow }) => [run, flow]),
    ],
  });
}

