// All panels of the runs over one time axis: the range shown is shared, and so is the cursor.

import { Chart, Lanes } from "report/chart";
import { el, section } from "report/dom";
import { time } from "report/format";
import { handovers } from "report/lanes";
import { Shown, panels } from "report/panels";
import { onTheme } from "report/theme";

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

// Pixels beyond the view within which panels are made.
const AHEAD = 300;

/** The section with all panels. `chosen` are the runs shown, of which `all` can be. */
export class Timeline {
  constructor(runs, tables, range) {
    this.runs = runs;
    this.tables = tables;
    this.range = range;
    this.chosen = new Set(runs.slice(0, runs.length > 3 ? 2 : 3).map((run) => run.id));
    this.stack = el("div", { class: "stack" });
    this.panels = [];
    this.element = section("series", "Over time", this.picker(), this.toolbar(), this.stack);
    range.listen(() => this.panels.forEach((panel) => panel.refresh()));
    onTheme(() => this.rebuild());
    addEventListener("beforeprint", () => this.all());
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

  /** Makes the panels of the runs that are chosen; each reads its series when it comes near the view. */
  async fill() {
    const filling = (this.filling = Symbol("filling"));
    const picked = this.runs.filter((run) => this.chosen.has(run.id));
    const shown = picked.map((run, number) => new Shown(run, this.tables.get(run.id), number, picked.length));
    const changes = shown.length ? await handovers(shown[0]) : [];
    if (filling !== this.filling) return;
    this.range.handovers = changes;
    this.panels = [];
    const places = panels(shown).map((definition) => {
      const place = el("div", { class: "placeholder", "data-for": definition.id });
      place.make = () => this.make(definition, place, filling);
      return place;
    });
    this.stack.replaceChildren(...places);
    if (!places.length) this.stack.append(el("p", { class: "note" }, picked.length ? "No series were recorded." : "No run is chosen."));
    const near = places.filter((place) => place.getBoundingClientRect().top < innerHeight + AHEAD);
    await Promise.all(near.map((place) => place.make()));
    const observer = new IntersectionObserver((seen) => seen.filter((each) => each.isIntersecting).forEach(({ target }) => {
      observer.unobserve(target);
      target.make();
    }), { rootMargin: `${AHEAD}px` });
    for (const place of places) if (place.isConnected) observer.observe(place);
  }

  /** Puts a panel in its place, or nothing if there is nothing to show. */
  async make(definition, place, filling) {
    if (place.making) return place.making;
    place.making = definition.load().then((found) => {
      if (filling !== this.filling) return;
      if (!found.length) {
        place.remove();
        return;
      }
      const panel = definition.lanes ? new Lanes(definition, found, this.range) : new Chart(definition, found, this.range);
      this.panels.push(panel);
      place.replaceWith(panel.element);
      panel.rebuild();
    });
    return place.making;
  }

  /** Makes all panels at once, for print. */
  async all() {
    await Promise.all([...this.stack.querySelectorAll(".placeholder")].map((place) => place.make()));
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
