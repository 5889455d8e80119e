// The text of the scenario that the controls say.

import { withValue } from "playground/toml";

/** The shipped text of a state's scenario with the values of its controls in it. */
export function textOf({ scenario, values }, shipped) {
  let text = shipped[scenario.file];
  for (const [table, key, value] of scenario.changes) text = withValue(text, table, key, value);
  for (const control of scenario.controls) text = written(text, control, values);
  return text;
}

/** A text with the value of one control in it. */
export function written(text, { id, table, key, text: toml }, values) {
  return withValue(text, table, key, toml(values[id], values));
}

/** The command that repeats a run of a state from the saved text. */
export function commandOf({ scenario, seed }) {
  return `leobench run ${scenario.file} --seed ${seed}`;
}
