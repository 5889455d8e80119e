// The playground: what the sliders say becomes the text of a scenario, the engine runs it, and the figure is drawn again.

import { Client } from "playground/client";
import { Form } from "playground/form";
import { Outcome } from "playground/outcome";
import { textOf, written } from "playground/text";
import { State } from "playground/state";
import { el } from "report/dom";
import { toggle } from "report/theme";

const TABLES = ["channel", "events", "handovers", "losses", "messages", "paths", "queues", "routes", "transport"];
const SHIPPED = JSON.parse(document.getElementById("scenarios").textContent);
const content = (id) => document.getElementById(id).textContent;

/** The page. */
class Playground {
  constructor(state) {
    this.state = state;
    this.form = new Form(state, { chosen: () => this.chosen(), moved: (control) => this.moved(control), ran: () => this.run() });
    this.outcome = new Outcome();
    this.client = new Client(content("worker"), content("engine"), (told) => this.hear(told));
    this.element = el("div", { class: "playground" }, this.form.element, this.outcome.element);
    this.chosen();
  }

  /** Another scenario: its shipped text with the values of all controls. */
  chosen() {
    this.state.text = textOf(this.state, SHIPPED);
    this.run();
  }

  /** A control has moved: it writes its value into the text, which somebody may have changed. */
  moved(control) {
    const { state } = this;
    try {
      state.text = written(state.text, control, state.values);
    } catch (error) {
      this.client.forget();
      this.outcome.refused(`${control.label}: ${error.message}`);
      return;
    }
    this.run();
  }

  /** Runs the text as it is. */
  run() {
    const { state } = this;
    this.form.show();
    state.keep();
    this.outcome.waiting();
    this.client.run({ file: state.scenario.file, text: state.text, overrides: [], seed: String(state.seed), tables: TABLES });
  }

  hear(told) {
    if (told.kind === "ready") this.ready = true;
    else if (told.kind === "progress") this.outcome.progress(told);
    else if (told.kind === "done") this.outcome.done(told);
    else if (told.kind === "refused") this.outcome.refused(told.message);
    else this.outcome.broken(told.message);
  }
}

const state = State.ofAddress();
const playground = new Playground(state);
const theme = el("button", { type: "button", class: "quiet", onclick: toggle }, "Light or dark");
document.getElementById("page").append(
  el(
    "header",
    {},
    el("h1", {}, "leobench playground"),
    el("p", {}, "The engine of leobench runs in this page. The same scenario and seed give the same numbers on the command line."),
    theme,
  ),
  playground.element,
);
addEventListener("hashchange", () => {
  if (state.readAddress()) {
    playground.form.fill();
    playground.chosen();
  }
});
// For tests, and for the curious at the console.
globalThis.playground = playground;
