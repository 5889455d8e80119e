// A panel with a chart: a legend that reads values at the cursor, and series thinned to the range shown.

import uPlot from "uplot";
import { el, fileName, save, svg } from "report/dom";
import { number, quantity, scale } from "report/format";
import { colour } from "report/theme";

const HEIGHT = 170;
const SYNC = uPlot.sync("time");
const FONT = "11px system-ui, sans-serif";

// Which series the reader has switched on or off, by panel and name: a page that is watched is made again and again.
const switched = new Map();

// Panels whose legends name the series that are switched off, too.
const unfolded = new Set();

// Series switched off at first, beyond which a legend names them on request only.
const MOST_OFF = 2;

// Pixels of the line in a legend.
const SAMPLE = 30;

// Pixels of a lane, and of the name above what it has.
const LANE = 32;
const NAME = 15;

/** The options that all charts share. */
function options(panel, width, height) {
  const axis = { stroke: () => colour("faint"), font: FONT, grid: { stroke: () => colour("grid"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    padding: [6, 12, 0, 0],
    scales: { x: { time: false, range: () => panel.range.shown }, y: { range: (_, low, high) => panel.extent(low, high) } },
    cursor: {
      sync: { key: SYNC.key, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      points: { show: false },
      bind: { dblclick: () => () => panel.range.reset() },
    },
    axes: [
      { ...axis, size: 26, space: 70, values: (_, splits) => splits.map((at) => `${Number(at.toFixed(6))}`) },
      { ...axis, size: 52, space: 32, grid: { ...axis.grid, show: panel.levels }, values: (_, splits) => splits.map((at) => panel.tick(at)) },
    ],
    hooks: {
      drawClear: [(plot) => panel.before(plot)],
      draw: [(plot) => panel.after(plot)],
      setSelect: [(plot) => panel.selected(plot)],
      setCursor: [(plot) => panel.pointed(plot)],
    },
  };
}

/** What charts of series and of lanes have in common. */
class Panel {
  constructor(title, range) {
    this.range = range;
    this.title = title;
    this.heading = el("h3", {}, title);
    this.buttons = el("span", { class: "panel-buttons" });
    this.legend = el("div", { class: "legend" });
    this.place = el("div", { class: "plot" });
    this.element = el("figure", { class: "panel", "aria-label": title }, el("figcaption", {}, this.heading, this.buttons), this.legend, this.place);
    this.element.chart = this;
  }

  /** Whether lines mark the ticks of the vertical axis. */
  get levels() {
    return true;
  }

  get width() {
    return Math.max(120, this.place.clientWidth);
  }

  /** Makes the chart where the panel now is; again when the width or the theme has changed. */
  build(height, series) {
    this.plot?.destroy();
    this.slices = Math.max(50, Math.round(this.width - 64));
    this.plot = new uPlot({ ...options(this, this.width, height), series }, this.data(), this.place);
    this.read();
  }

  refresh() {
    if (this.plot) this.plot.setData(this.data());
  }

  selected(plot) {
    if (plot.select.width < 3) return;
    const [from, to] = [plot.posToVal(plot.select.left, "x"), plot.posToVal(plot.select.left + plot.select.width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.range.set(from, to);
  }

  pointed(plot) {
    const { left } = plot.cursor;
    const time = left >= 0 ? plot.posToVal(left, "x") : null;
    if (time === (this.time ?? null)) return;
    this.time = time;
    this.read();
    this.range.point(time);
  }

  after() {}

  tick(value) {
    return number(value);
  }

  /** The times of the middles of both halves of all slices. */
  times() {
    const [from, to] = this.range.shown;
    const width = (to - from) / this.slices;
    return Float64Array.from({ length: 2 * this.slices }, (_, at) => from + (at / 2 + 0.25) * width);
  }

  /** Shades the handovers of the first run, and marks where each begins. */
  before(plot) {
    const { ctx } = plot;
    const { left, top, width, height } = plot.bbox;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    const dense = this.range.handovers.length > width / 3;
    for (const { begin, end } of dense ? [] : this.range.handovers) {
      const [from, to] = [plot.valToPos(begin, "x", true), plot.valToPos(end, "x", true)];
      if (to < left || from > left + width) continue;
      if (to - from > 1) {
        ctx.fillStyle = colour("closed");
        ctx.fillRect(from, top, to - from, height);
      }
      ctx.strokeStyle = colour("handover");
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(from, top);
      ctx.lineTo(from, top + height);
      ctx.stroke();
    }
    ctx.restore();
  }

  csvButton() {
    return el("button", { type: "button", class: "quiet", title: "Save these series as CSV: all points of the whole run", onclick: () => this.csv() }, "CSV");
  }
}

/** A panel with lines. */
export class Chart extends Panel {
  constructor(definition, series, range) {
    super(definition.title, range);
    this.id = definition.id;
    this.unit = definition.unit;
    this.shown = series;
    this.values = [];
    this.element.dataset.panel = definition.id;
    this.buttons.append(this.csvButton());
    this.legend.append(...series.map((each, at) => this.chip(each, at)), ...this.folding());
  }

  /** Leaves the series that are off at first out of the legend if they are many; a button shows them. */
  folding() {
    const off = this.shown.filter((each) => each.usual);
    if (off.length <= MOST_OFF) return [];
    off.forEach((each) => each.chip.classList.add("spare"));
    this.more = el("button", { type: "button", class: "quiet more", onclick: () => this.unfold() });
    this.legend.classList.toggle("open", unfolded.has(this.id));
    this.tellMore();
    return [this.more];
  }

  unfold() {
    if (!unfolded.delete(this.id)) unfolded.add(this.id);
    this.legend.classList.toggle("open", unfolded.has(this.id));
    this.tellMore();
  }

  /** How many series the legend does not name. */
  tellMore() {
    if (!this.more) return;
    const left = this.shown.filter((each) => each.usual && each.off).length;
    const open = unfolded.has(this.id);
    this.more.textContent = open ? "Fewer" : `${left} more`;
    this.more.title = open ? "Name the series shown only" : "Series that are not shown: name them, to show some";
    this.more.setAttribute("aria-expanded", String(open));
    this.more.hidden = !open && left === 0;
  }

  chip(each, at) {
    const value = el("output", {});
    const key = `${this.id} ${each.name}`;
    each.usual = Boolean(each.off);
    each.off = switched.get(key) ?? each.usual;
    this.values.push(value);
    each.line = svg("line", { x1: 0, x2: SAMPLE, y1: 4, y2: 4 });
    const sample = svg("svg", { class: "sample", width: SAMPLE, height: 8, "aria-hidden": "true" }, each.line);
    const chip = el("button", { type: "button", class: "chip", "aria-pressed": String(!each.off), title: "Show or hide" }, sample, each.name, value);
    each.chip = chip;
    each.turn = (off) => {
      each.off = off;
      switched.set(key, off);
      chip.setAttribute("aria-pressed", String(!off));
      this.tellMore();
    };
    chip.addEventListener("click", () => {
      each.turn(!each.off);
      this.rebuild();
    });
    return chip;
  }

  /** Shows only the series of a stream or a path, by its name, or all as usual; areas stay. */
  only(name) {
    const own = (each) => each.name === name || each.name.startsWith(`${name}:`);
    const alone = name !== null && this.shown.some(own);
    for (const each of this.shown) each.turn(alone && !each.area ? !own(each) : each.usual);
    this.rebuild();
  }

  rebuild() {
    const series = this.shown.map((each) => ({
      label: each.name,
      show: !each.off,
      stroke: colour(each.look.colour),
      width: each.width ?? 1.2,
      dash: each.look.dash,
      fill: each.area ? colour("area") : undefined,
      spanGaps: !each.series.gaps,
      points: { show: false },
    }));
    for (const each of this.shown) {
      each.line.style.cssText = `stroke: ${colour(each.look.colour)}; stroke-width: ${Math.max(2, 1.6 * (each.width ?? 1.2))}; stroke-dasharray: ${each.look.dash.join(" ") || "none"}`;
    }
    this.build(HEIGHT, [{}, ...series]);
  }

  data() {
    const [from, to] = this.range.shown;
    const lines = this.shown.map((each) => {
      const out = new Array(2 * this.slices).fill(null);
      if (!each.off) each.series.fill(out, from, to, this.slices);
      return out;
    });
    return [this.times(), ...lines];
  }

  /** From zero to a little more than the largest value; also sets the unit of the axis. */
  extent(_, high) {
    const most = high > 0 ? 1.06 * high : 1;
    [this.factor, this.unitName] = scale(this.unit, most);
    const text = this.unitName ? `${this.title} (${this.unitName})` : this.title;
    if (this.heading.textContent !== text) this.heading.textContent = text;
    return [0, most];
  }

  tick(value) {
    return number(value / (this.factor ?? 1));
  }

  /** Writes the values at the cursor into the legend. */
  read() {
    this.shown.forEach((each, at) => {
      const value = (this.time ?? null) === null || each.off ? NaN : each.series.at(this.time);
      this.values[at].textContent = (this.time ?? null) === null || each.off ? "" : quantity(value, this.unit);
    });
  }

  csv() {
    const lines = [`t_s,series,value_${this.unit.replace(/\W/g, "_") || "1"}`];
    for (const { name, series } of this.shown) {
      const [times, values] = series.rows();
      const quoted = quote(name);
      for (let at = 0; at < times.length; at += 1) {
        if (values[at] === values[at]) lines.push(`${seconds(times[at])},${quoted},${values[at]}`);
      }
    }
    save(fileName(`${this.id}.csv`), `${lines.join("\n")}\n`, "text/csv");
  }
}

/** Seconds with the nanoseconds that tables have, and no digits that floating-point numbers add. */
function seconds(time) {
  return String(Number(time.toFixed(9)));
}

/** A text as a field of CSV; one that a spreadsheet would take for a formula begins with an apostrophe. */
export function quote(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A panel with a lane per link or kind of event. */
export class Lanes extends Panel {
  constructor(definition, lanes, range) {
    super(definition.title, range);
    this.id = definition.id;
    this.element.dataset.panel = definition.id;
    this.lanes = lanes;
    this.values = lanes.map(() => el("output", {}));
    this.buttons.append(this.csvButton());
    if (lanes[0].spans) this.legend.append(...states(lanes));
    this.names = lanes.map((lane, at) => {
      const name = el("div", { class: "lane", title: lane.name }, el("span", {}, lane.name), this.values[at]);
      name.style.top = `${at * LANE}px`;
      return name;
    });
  }

  rebuild() {
    this.build(34 + LANE * this.lanes.length, [{}, { show: true, stroke: "transparent", points: { show: false } }]);
    this.plot.over.append(...this.names);
  }

  data() {
    return [this.times(), new Array(2 * this.slices).fill(null)];
  }

  extent() {
    return [0, 1];
  }

  get levels() {
    return false;
  }

  tick() {
    return "";
  }

  after(plot) {
    const { ctx } = plot;
    const { left, top, width } = plot.bbox;
    const [lane, name] = [LANE * devicePixelRatio, NAME * devicePixelRatio];
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, plot.bbox.height);
    ctx.clip();
    this.lanes.forEach((each, at) => {
      const above = top + at * lane + name;
      const high = lane - name - 2 * devicePixelRatio;
      if (each.spans) this.spans(plot, each, above, high);
      else this.ticks(plot, each, above, high);
    });
    ctx.restore();
  }

  spans(plot, lane, above, high) {
    const { ctx } = plot;
    ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    for (const { from, to, text, colour: tone, alpha } of lane.spans) {
      const start = Math.max(plot.bbox.left, plot.valToPos(from, "x", true));
      const end = Math.min(plot.bbox.left + plot.bbox.width, plot.valToPos(to, "x", true));
      if (end <= start) continue;
      ctx.globalAlpha = alpha;
      ctx.fillStyle = colour(tone);
      ctx.fillRect(start, above, Math.max(end - start - 0.5, 1), high);
      ctx.globalAlpha = 1;
      if (ctx.measureText(text).width + 6 * devicePixelRatio > end - start) continue;
      ctx.fillStyle = colour("ink");
      ctx.fillText(text, start + 3 * devicePixelRatio, above + high / 2);
    }
  }

  ticks(plot, lane, above, high) {
    const { ctx } = plot;
    ctx.fillStyle = colour(lane.colour);
    let last = -1;
    const [from, to] = this.range.shown;
    for (const time of lane.times) {
      if (time < from || time > to) continue;
      const at = Math.round(plot.valToPos(time, "x", true));
      if (at !== last) ctx.fillRect(at, above, Math.max(1, 1.5 * devicePixelRatio), high);
      last = at;
    }
  }

  refresh() {
    super.refresh();
    this.read();
  }

  /** The state at the cursor, or the number of events in the range shown. */
  read() {
    const [from, to] = this.range.shown;
    this.lanes.forEach((lane, at) => {
      if (lane.times) this.values[at].textContent = number(lane.times.filter((time) => time >= from && time <= to).length);
      else if ((this.time ?? null) === null || this.time === undefined) this.values[at].textContent = "";
      else this.values[at].textContent = lane.spans.find((span) => span.from <= this.time && this.time < span.to)?.text ?? "";
    });
  }

  csv() {
    const lines = this.lanes.flatMap((lane) =>
      lane.spans
        ? lane.spans.map(({ from, to, text }) => [quote(lane.name), seconds(from), seconds(to), quote(text)].join(","))
        : Array.from(lane.times, (time) => [quote(lane.name), seconds(time), "", ""].join(",")));
    save(fileName(`${this.id}.csv`), ["lane,from_s,to_s,state", ...lines, ""].join("\n"), "text/csv");
  }
}

/** What the colours of states mean, if there are few. */
function states(lanes) {
  const tones = new Map(lanes.flatMap((lane) => lane.spans.map(({ text, colour: tone, alpha }) => [text, [tone, alpha]])));
  if (tones.size > 6) return [];
  return [...tones].map(([text, [tone, alpha]]) => {
    const sample = el("span", { class: "swatch" });
    sample.style.background = colour(tone);
    sample.style.opacity = alpha;
    return el("span", { class: "chip still" }, sample, text);
  });
}
