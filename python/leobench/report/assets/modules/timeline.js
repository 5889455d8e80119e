// All panels of the runs over one time axis: the range shown is shared, and so is the cursor.

import { Chart, Lanes } from "report/chart";
import { el, failed, section } from "report/dom";
import { time } from "report/format";
import { handovers } from "report/lanes";
import { Shown, panels } from "report/panels";

/** The range of time that all panels show. */
export class Range {
  constructor(end) {
    this.whole = [0, end || 1];
    this.shown = this.whole;
    this.handovers = [];
    this.listeners = [];
    this.pointers = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  onPoint(listener) {
    this.pointers.push(listener);
  }

  set(from, to) {
    const [low, high] = this.whole;
    const least = Math.max((high - low) * 1e-7, 1e-6);
    const start = Math.max(low, Math.min(from, high - least));
    this.shown = [start, Math.max(start + least, Math.min(to, high))];
    for (const listener of this.listeners) listener();
  }

  reset() {
    this.set(...this.whole);
  }

  /** Shows `factor` times as much around the middle. */
  zoom(factor) {
    const [from, to] = this.shown;
    const half = ((to - from) * factor) / 2;
    this.set((from + to) / 2 - half, (from + to) / 2 + half);
  }

  /** Moves by a share of what is shown. */
  pan(share) {
    const [from, to] = this.shown;
    const [low, high] = this.whole;
    const by = Math.max(low - from, Math.min(share * (to - from), high - to));
    this.set(from + by, to + by);
  }

  point(at) {
    for (const pointer of this.pointers) pointer(at);
  }
}

// Pixels beyond the view within which panels are made, and of a panel with its legend.
const AHEAD = 300;
const PANEL_HEIGHT = 225;

/** The section with all panels. `chosen` are the runs shown, of which `all` can be. */
export class Timeline {
  /** `before` is the section that this one follows on a page that is watched. */
  constructor(runs, tables, range, before = null) {
    this.runs = runs;
    this.tables = tables;
    this.range = range;
    const chosen = before?.labels() ?? runs.slice(0, runs.length > 3 ? 2 : 3).map((run) => run.label);
    this.chosen = new Set(runs.filter((run) => chosen.includes(run.label)).map((run) => run.id));
    this.stack = el("div", { class: "stack" });
    this.slots = [];
    this.element = section("series", "Over time", this.picker(), this.toolbar(), this.stack);
    range.listen(() => this.panels.forEach((panel) => panel.refresh()));
    new ResizeObserver(() => this.resized()).observe(this.stack);
  }

  picker() {
    if (this.runs.length < 2) return null;
    return el("div", { class: "picker", role: "group", "aria-label": "Runs shown" }, this.runs.map((run) => {
      const button = el("button", { type: "button", class: "chip", "aria-pressed": String(this.chosen.has(run.id)) }, run.label);
      button.addEventListener("click", () => {
        if (!this.chosen.delete(run.id)) this.chosen.add(run.id);
        button.setAttribute("aria-pressed", String(this.chosen.has(run.id)));
        this.fill();
      });
      return button;
    }));
  }

  toolbar() {
    const button = (text, title, action) => el("button", { type: "button", title, "aria-label": title, onclick: action }, text);
    const told = el("output", { class: "range" });
    const tell = (at) => {
      const [from, to] = this.range.shown;
      const span = to - from;
      told.textContent = at === null || at === undefined ? `${time(from, span)} to ${time(to, span)}` : `at ${time(at, span)}`;
    };
    this.range.listen(() => tell(null));
    this.range.onPoint(tell);
    tell(null);
    return el(
      "div",
      { class: "toolbar" },
      button("◀", "Earlier", () => this.range.pan(-0.5)),
      button("▶", "Later", () => this.range.pan(0.5)),
      button("+", "Zoom in", () => this.range.zoom(0.5)),
      button("−", "Zoom out", () => this.range.zoom(2)),
      button("Whole run", "Show the whole run", () => this.range.reset()),
      told,
      el("span", { class: "hint" }, "Drag over a chart to zoom in; double-click for the whole run."),
    );
  }

  /** Shows the runs that are chosen. */
  async fill() {
    if (await this.prepare()) this.place();
  }

  /**
   * Reads the series of the panels that are shown first; `place` then shows them all at once. False if the choice of
   * runs has changed meanwhile. Further panels read their series when they come near the view.
   */
  async prepare(drawn = null) {
    const filling = (this.filling = Symbol("filling"));
    const picked = this.runs.filter((run) => this.chosen.has(run.id));
    const shown = picked.map((run, number) => new Shown(run, this.tables.get(run.id), number, picked.length));
    const changes = shown.length ? await handovers(shown[0]).catch(() => []) : [];
    const slots = panels(shown).map((definition) => new Slot(definition, this));
    const first = Math.ceil(innerHeight / PANEL_HEIGHT);
    await Promise.all(slots.filter(({ definition }, at) => (drawn ? drawn.has(definition.id) : at < first)).map((slot) => slot.read()));
    if (filling !== this.filling) return false;
    this.range.handovers = changes;
    this.slots = slots;
    this.none = picked.length ? "No series were recorded." : "No run is chosen.";
    return true;
  }

  /** Puts what was prepared into the page. */
  place() {
    this.observer?.disconnect();
    this.stack.replaceChildren(...this.slots.filter((slot) => !slot.empty).map((slot) => slot.element));
    if (!this.slots.length) this.stack.append(el("p", { class: "note" }, this.none));
    this.rebuild();
    this.observer = new IntersectionObserver((seen) => seen.filter((each) => each.isIntersecting).forEach(({ target }) => {
      this.observer.unobserve(target);
      this.slots.find((slot) => slot.placeholder === target)?.open();
    }), { rootMargin: `${AHEAD}px` });
    for (const slot of this.slots) if (!slot.panel && !slot.empty && !slot.broken) this.observer.observe(slot.element);
  }

  get panels() {
    return this.slots.flatMap((slot) => slot.panel ?? []);
  }

  /** The ids of the panels that have been drawn. */
  drawn() {
    return new Set(this.panels.map((panel) => panel.id));
  }

  /** Shows only the series of a stream or a path in all charts that have some; the same name again shows all. */
  async only(name) {
    await this.all();
    this.alone = this.alone === name ? null : name;
    for (const panel of this.panels) panel.only?.(this.alone);
  }

  /** Reads the series of all panels while the page has nothing else to do: print waits for no reading. */
  async readAll() {
    for (const slot of this.slots) {
      await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 }));
      await slot.read();
      if (slot.empty) slot.show();
    }
    this.element.dataset.read = "";
  }

  /** Draws all panels at once, for print: at once those whose series were read, the others when they are. */
  print() {
    for (const slot of this.slots) slot.show();
    return this.all();
  }

  /** Makes all panels at once. */
  async all() {
    await Promise.all(this.slots.map((slot) => slot.open()));
  }

  /** The labels of the runs that are chosen. */
  labels() {
    return this.runs.filter((run) => this.chosen.has(run.id)).map((run) => run.label);
  }

  rebuild() {
    for (const panel of this.panels) panel.rebuild();
  }

  resized() {
    const width = this.stack.clientWidth;
    if (width === this.width) return;
    this.width = width;
    this.rebuild();
  }
}

/** The place of a panel: first a space of its size, then the panel, or nothing if there is nothing to show. */
class Slot {
  constructor(definition, timeline) {
    this.definition = definition;
    this.timeline = timeline;
    this.placeholder = el("div", { class: "placeholder", "data-for": definition.id });
    this.element = this.placeholder;
    this.panel = null;
    this.empty = false;
  }

  /** Reads the series and makes the panel, which is not on the page yet. */
  read() {
    this.reading ??= this.definition.load().then((found) => {
      this.empty = !found.length;
      if (this.empty) return;
      const Kind = this.definition.lanes ? Lanes : Chart;
      this.panel = new Kind(this.definition, found, this.timeline.range);
      this.element = this.panel.element;
    }).catch((error) => {
      this.element = failed(this.definition.title, error);
      this.broken = true;
    });
    return this.reading;
  }

  /** Reads the series and shows the panel in its place. */
  async open() {
    await this.read();
    this.show();
  }

  /** Shows the panel in its place if its series were read. */
  show() {
    if (this.empty) this.element.remove();
    else if ((this.panel || this.broken) && this.placeholder.isConnected) {
      this.placeholder.replaceWith(this.element);
      this.panel?.rebuild();
    }
  }
}
