// The figure and the numbers of the latest run, and what is going on.

import { EngineTable } from "playground/tables";
import { cards } from "report/cards";
import { el } from "report/dom";
import { count } from "report/format";
import { Range, Timeline } from "report/timeline";

/** The right side of the page. */
export class Outcome {
  constructor() {
    this.status = el("p", { class: "status", role: "status" }, "The engine is loading.");
    this.problem = el("p", { class: "note", role: "alert", hidden: true });
    this.cards = el("div", {});
    this.range = new Range(1);
    this.timeline = new Timeline([], new Map(), this.range);
    // Those of the toolbar; panels add their own, and go with their run.
    this.listeners = [...this.range.listeners];
    this.element = el("div", { class: "outcome" }, this.status, this.problem, this.cards, this.timeline.element);
  }

  waiting() {
    this.element.setAttribute("aria-busy", "true");
  }

  progress({ now, end }) {
    this.status.textContent = `Running: ${now.toFixed(1)} of ${end.toFixed(0)} s`;
  }

  /** Shows a complete run. */
  async done(told) {
    const run = {
      id: "run", label: told.summary.scenario, summary: told.summary, scenario: told.scenario, manifest: {},
      tables: Object.fromEntries(told.tables.map(({ name, rows }) => [name, rows])),
    };
    const tables = told.tables.filter(({ rows }) => rows > 0).map((table) => [table.name, new EngineTable(table)]);
    this.settle();
    this.clear();
    this.last = told;
    const { virtual_s: seconds, packets } = told.summary;
    this.status.textContent = `${seconds.toFixed(1)} s of virtual time and ${count(packets)} packets in ${(told.wall / 1000).toFixed(2)} s, seed ${told.summary.seed}`;
    this.cards.replaceChildren(cards(run));
    this.stretch(seconds);
    this.timeline.runs = [run];
    this.timeline.tables = new Map([[run.id, Object.fromEntries(tables)]]);
    this.timeline.chosen = new Set([run.id]);
    await this.timeline.fill();
    this.timeline.stack.style.minHeight = "";
    this.element.dataset.drawn = String(Number(this.element.dataset.drawn ?? 0) + 1);
  }

  /** Drops the panels of the run before; the page keeps its height, so that nothing jumps. */
  clear() {
    const { stack, panels } = this.timeline;
    stack.style.minHeight = `${stack.offsetHeight}px`;
    for (const panel of panels) panel.plot?.destroy();
    this.range.listeners = [...this.listeners];
  }

  /** Fits the axis of time to a run; a part that is looked at stays in view. */
  stretch(seconds) {
    const [from, to] = this.range.shown;
    const whole = from === this.range.whole[0] && to === this.range.whole[1];
    this.range.whole = [0, seconds || 1];
    if (whole || from >= seconds) this.range.reset();
    else this.range.set(from, to);
  }

  settle() {
    this.element.removeAttribute("aria-busy");
    this.problem.hidden = true;
    this.element.classList.remove("stale");
  }

  /** The scenario was refused; the last figure stays, greyed. */
  refused(message) {
    this.settle();
    this.status.textContent = "Not run.";
    this.problem.textContent = message;
    this.problem.hidden = false;
    this.element.classList.add("stale");
  }

  broken(message) {
    this.refused(`The engine stopped: ${message}. Please report it with the scenario file and the seed.`);
  }
}
