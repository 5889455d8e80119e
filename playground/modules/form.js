// The controls on the left: scenario, sliders, seed; and the scenario's text with the command that repeats it.

import { SCENARIOS } from "playground/scenarios";
import { whole } from "playground/state";
import { commandOf } from "playground/text";
import { el, save } from "report/dom";

/** The form. It calls `chosen` when the scenario changes, `moved` when a control does, and `ran` when the text or the seed does. */
export class Form {
  constructor(state, { chosen, moved, ran }) {
    Object.assign(this, { state, chosen, moved, ran });
    this.about = el("p", { class: "about" });
    this.controls = el("div", { class: "controls" });
    this.pick = el("select", { id: "scenario", onchange: () => this.picked() }, SCENARIOS.map(({ id, title }) => el("option", { value: id }, title)));
    this.seed = el("input", { id: "seed", type: "number", min: 0, step: 1, oninput: () => this.seeded(this.seed.value) });
    const next = el("button", { type: "button", onclick: () => this.seeded(this.state.seed + 1) }, "Next");
    const reset = el("button", { type: "button", onclick: () => this.reset() }, "Reset");
    this.text = el("textarea", { id: "text", spellcheck: "false", rows: 24, wrap: "off", "aria-label": "Scenario file", oninput: () => this.edited() });
    this.command = el("code", { id: "command" });
    this.fileName = el("span", {});
    this.element = el(
      "form",
      { class: "form", onsubmit: (event) => event.preventDefault() },
      field("Scenario", this.pick),
      this.about,
      this.controls,
      field("Seed", el("span", { class: "row" }, this.seed, next, reset)),
      el(
        "details",
        { class: "file", open: matchMedia("(min-width: 901px)").matches },
        el("summary", {}, "Scenario file ", this.fileName),
        this.text,
        el("span", { class: "row" }, copy("Copy scenario", () => this.state.text), el("button", { type: "button", onclick: () => save(this.state.scenario.file, this.state.text, "application/toml") }, "Save")),
        el("p", { class: "repeat" }, "Saved under this name, the same run on the command line:"),
        el("span", { class: "row command" }, this.command, copy("Copy command", () => this.command.textContent)),
      ),
    );
    this.fill();
  }

  /** Makes the controls of the state's scenario. */
  fill() {
    const { scenario, values } = this.state;
    this.pick.value = scenario.id;
    this.about.textContent = scenario.about;
    this.controls.replaceChildren(...scenario.controls.map((control) => (control.words ? this.choice(control, values) : this.slider(control, values))));
  }

  /** Shows the text, the command and the seed of the state. */
  show() {
    const { state } = this;
    if (this.text.value !== state.text) this.text.value = state.text;
    if (this.seed.value !== String(state.seed)) this.seed.value = String(state.seed);
    this.command.textContent = commandOf(state);
    this.fileName.textContent = state.edited ? `${state.scenario.file}, edited` : state.scenario.file;
  }

  slider(control, values) {
    const { id, label, unit, least, most, step } = control;
    const told = el("output", { for: id }, `${values[id]} ${unit}`);
    const input = el("input", { id, type: "range", min: least, max: most, step, value: values[id] });
    input.addEventListener("input", () => {
      values[id] = Number(input.value);
      told.textContent = `${values[id]} ${unit}`;
      this.moved(control);
    });
    return field(label, input, told);
  }

  choice(control, values) {
    const { id, label, words } = control;
    const input = el("select", { id }, words.map((word) => el("option", { value: word, selected: word === values[id] }, word)));
    input.addEventListener("change", () => {
      values[id] = input.value;
      this.moved(control);
    });
    return field(label, input);
  }

  picked() {
    this.state.choose(this.pick.value);
    this.fill();
    this.chosen();
  }

  reset() {
    this.state.seed = 1;
    this.picked();
  }

  seeded(told) {
    const seed = whole(told, null);
    this.seed.setCustomValidity(seed === null ? "a whole number from 0 to 4294967295" : "");
    if (seed === null) return;
    this.state.seed = seed;
    this.ran();
  }

  edited() {
    this.state.text = this.text.value;
    this.state.edited = true;
    this.ran();
  }
}

function field(label, input, ...more) {
  const id = input.id || input.querySelector("input").id;
  return el("div", { class: "field" }, el("label", { for: id }, label), input, ...more);
}

/** A button that copies a text. */
function copy(label, text) {
  const button = el("button", { type: "button" }, label);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here: select the text instead";
    }
    setTimeout(() => { button.textContent = label; }, 2_000);
  });
  return button;
}
