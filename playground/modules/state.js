// What the page shows: a scenario, the values of its controls, and a seed. The address keeps it, so that a link leads back to it.

import { defaults, scenario } from "playground/scenarios";

const LARGEST_SEED = 2 ** 32 - 1;

/** The state of the page. */
export class State {
  constructor() {
    this.choose(scenario("").id);
    this.seed = 1;
    this.text = "";
  }

  static ofAddress() {
    const state = new State();
    state.readAddress();
    return state;
  }

  choose(id) {
    this.scenario = scenario(id);
    this.values = defaults(this.scenario);
    this.edited = false;
  }

  /** Takes over what the address says; values out of range become the nearest allowed ones. Returns whether it was news. */
  readAddress() {
    const told = new URLSearchParams(location.hash.slice(1));
    if (location.hash === this.address()) return false;
    this.choose(told.get("scenario") ?? "");
    this.seed = whole(told.get("seed"), 1);
    for (const control of this.scenario.controls) {
      const value = told.get(control.id);
      if (value !== null) this.values[control.id] = allowed(control, value);
    }
    return true;
  }

  address() {
    const values = this.scenario.controls.filter(({ id, value }) => this.values[id] !== value);
    const pairs = [["scenario", this.scenario.id], ["seed", this.seed], ...values.map(({ id }) => [id, this.values[id]])];
    return `#${new URLSearchParams(pairs)}`;
  }

  keep() {
    history.replaceState(null, "", this.address());
  }
}

function allowed({ words, least, most, value }, told) {
  if (words) return words.includes(told) ? told : value;
  const number = Number(told);
  return Number.isFinite(number) && told.trim() !== "" ? Math.min(most, Math.max(least, number)) : value;
}

/** A seed as the page takes them. */
export function whole(told, otherwise) {
  const number = Number(told);
  const fits = told !== null && String(told).trim() !== "" && Number.isInteger(number) && number >= 0 && number <= LARGEST_SEED;
  return fits ? number : otherwise;
}
