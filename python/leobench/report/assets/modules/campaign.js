// A campaign: means with 95 % intervals by variant, as a drawing and as a table that sorts.

import { el, inline, section, svg } from "report/dom";
import { count, plural, quantity, scale } from "report/format";
import { command } from "report/scenario";
import { table } from "report/tables";

/** The section of a campaign. */
export function campaign(described, number, folded = false) {
  const done = described.rows.reduce((total, row) => Math.max(total, ...Object.values(row.metrics).map(({ n, missing }) => n + missing), 0), 0);
  const id = `campaign-${number}`;
  const failed = described.failed
    ? table({ id: `${id}-failures`, caption: `Failed runs: ${count(described.failed)}`, long: true, rows: described.failures, columns: ["variant", "replicate", "seed", "error"].map((key) => ({ label: key, value: (row) => row[key], show: key === "error" ? (row) => el("span", {}, inline(row.error)) : undefined })) })
    : null;
  const warned = described.warnings.length
    ? table({ id: `${id}-warnings`, caption: "Warnings", long: true, rows: described.warnings, columns: [
      { label: "variant", value: (row) => row.variant }, { label: "kind", value: (row) => row.kind }, { label: "runs", number: true, value: (row) => row.runs },
      { label: "first", value: (row) => row.warning, show: (row) => el("span", {}, inline(row.warning)) },
    ] })
    : null;
  const parts = [
    el("p", {}, `${plural(described.rows.length, "variant")}, ${plural(described.replicates, "replicate")} each${done < described.replicates ? ` (up to ${done} finished)` : ""}, `
      + `${described.seeds === "common" ? "the same seeds for every variant" : "seeds of its own for every variant"}. Means over runs with 95 % intervals.`),
    drawing(described),
    results(described, id),
    failed,
    warned,
    el("details", {}, el("summary", {}, `Campaign file of ${described.name}`), command(described.command), el("pre", { tabindex: 0 }, described.text)),
  ];
  const title = `Campaign ${described.name}`;
  return section(id, title, folded ? el("details", {}, el("summary", {}, `${title} in detail`), parts) : parts);
}

/** The intervals of one metric, by variant; the heading chooses which. */
function drawing(described) {
  const place = el("div", { class: "intervals" });
  const choice = el("select", { "aria-label": "Metric" }, described.metrics.map((metric) => el("option", { value: metric.name }, metric.label)));
  const show = () => {
    const metric = described.metrics.find(({ name }) => name === choice.value);
    place.replaceChildren(metric ? intervals(described, metric, place.clientWidth) : "");
  };
  choice.addEventListener("change", show);
  let width = -1;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    show();
  }).observe(place);
  show();
  return el("figure", { class: "panel" }, el("figcaption", {}, el("h3", {}, "Means and intervals of "), choice), place);
}

// Pixels of a row, and the font of names, which is that of the style sheet.
const ROW = 22;
const FONT = "13px system-ui, sans-serif";

function intervals(described, metric, room) {
  const rows = described.rows.map((row) => ({ name: shown(described, row), told: row.metrics[metric.name] }));
  const values = rows.flatMap(({ told }) => (told ? [told.low ?? told.mean, told.high ?? told.mean] : [])).filter(Number.isFinite);
  if (!values.length) return el("p", { class: "note" }, "No run has a value yet.");
  const most = Math.max(...values);
  const least = Math.min(0, ...values);
  const width = Math.min(1000, Math.max(320, room));
  const wide = widths();
  const names = rows.map(({ name }) => fitting(name, 0.45 * width, wide));
  const left = Math.ceil(Math.max(...names.map(wide))) + 16;
  const x = (value) => left + (width - 24 - left) * ((value - least) / (most - least || 1));
  const [factor, unit] = scale(metric.unit, most);
  const high = ROW * rows.length + 38;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${high}`, width, height: high, role: "img", "aria-label": `${metric.label} by variant` });
  for (const at of ticks(least / factor, most / factor, (width - left) / 90)) {
    picture.append(
      svg("line", { x1: x(at * factor), x2: x(at * factor), y1: 4, y2: high - 34, class: "grid" }),
      svg("text", { x: x(at * factor), y: high - 20, class: "tick" }, String(at)),
    );
  }
  rows.forEach(({ name, told }, at) => {
    const y = ROW * (at + 0.5) + 4;
    picture.append(svg("text", { x: left - 10, y: y + 4, class: "name" }, names[at], svg("title", {}, name)));
    if (!told || !Number.isFinite(told.mean)) return;
    const text = `${quantity(told.mean, metric.unit)}${told.low === null ? "" : ` (${quantity(told.low, metric.unit)} to ${quantity(told.high, metric.unit)})`}, ${plural(told.n, "run")}`;
    picture.append(svg("line", { x1: x(least), x2: x(told.mean), y1: y, y2: y, class: "bar" }, svg("title", {}, text)));
    if (told.low !== null) picture.append(svg("path", { d: `M${x(told.low)} ${y - 4}v8m0-4H${x(told.high)}m0-4v8`, class: "whisker" }, svg("title", {}, text)));
    picture.append(svg("circle", { cx: x(told.mean), cy: y, r: 4.5, class: "mean" }, svg("title", {}, text)));
  });
  picture.append(svg("text", { x: x((least + most) / 2), y: high - 5, class: "tick" }, `${metric.label}${unit ? ` (${unit})` : ""}`));
  return picture;
}

/** A function of a name that tells its pixels. */
function widths() {
  const drawing = el("canvas").getContext("2d");
  drawing.font = FONT;
  return (name) => drawing.measureText(name).width;
}

/** A name, cut where it is wider than there is room. */
function fitting(name, room, wide) {
  if (wide(name) <= room) return name;
  let letters = name.length - 1;
  while (letters > 1 && wide(`${name.slice(0, letters)}…`) > room) letters -= 1;
  return `${name.slice(0, letters)}…`;
}

/** Round numbers between two values. */
function ticks(low, high, most) {
  const rough = (high - low || 1) / Math.max(2, Math.min(6, most));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

/** A variant by the values that differ. */
function shown(described, row) {
  const told = described.places.filter(({ place }) => place in row.set).map(({ place, label }) => `${label} ${inWords(row.set[place])}`);
  return told.join(", ") || row.variant;
}

function inWords(value) {
  if (Array.isArray(value)) return value.map(inWords).join(" ");
  if (value === null || typeof value !== "object") return String(value);
  return Object.entries(value).map(([key, held]) => (key === "kind" ? inWords(held) : `${key} ${inWords(held)}`)).join(", ");
}

function results(described, id) {
  const places = described.places.length
    ? described.places.map(({ place, label }) => ({ label, title: place, name: true, value: (row) => (place in row.set ? inWords(row.set[place]) : null) }))
    : [{ label: "variant", name: true, value: (row) => row.variant }];
  const metrics = described.metrics.map((metric) => {
    const of = (row) => row.metrics[metric.name] ?? {};
    return {
      label: metric.label,
      title: metric.name,
      number: true,
      value: (row) => of(row).mean ?? null,
      show: (row) => interval(of(row), metric.unit),
      parts: ["mean", "low", "high", "n"].map((key) => ({ label: key === "mean" ? metric.name : `${metric.name} ${key}`, value: (row) => of(row)[key] ?? null })),
    };
  });
  return table({ id: `${id}-results`, caption: "Results by variant", rows: described.rows, columns: [...places, ...metrics] });
}

/** `37.6 [36.9, 38.3] Mbit/s`, and how many runs there are. */
function interval({ mean, low, high, n, missing }, unit) {
  if (mean === null || mean === undefined) return el("span", { class: "hint" }, missing ? "not measured" : "no run yet");
  const [factor, name] = scale(unit, Math.max(Math.abs(mean), Math.abs(high ?? 0)));
  const digits = (value) => quantity(value / factor, "");
  const range = low === null ? "" : ` [${digits(low)}, ${digits(high)}]`;
  return el("span", { title: `${plural(n, "run")}${missing ? `, ${missing} without a value` : ""}` }, el("b", {}, digits(mean)), range, name ? ` ${name}` : "");
}
