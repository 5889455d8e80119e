// The resolved scenario of a run, the command that repeats it, and its tables as CSV.

import { quote } from "report/chart";
import { el, fileName, save } from "report/dom";
import { count } from "report/format";

/** A command with a button that copies it. */
export function command(text) {
  const button = el("button", { type: "button", class: "quiet" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  const code = el("code", {}, text);
  return el("div", { class: "command" }, el("span", { class: "prompt", "aria-hidden": "true" }, "$ "), code, button);
}

/** How to repeat a run. */
export function repeat(run) {
  const text = JSON.stringify(run.scenario, null, 2);
  const file = run.scenario_file;
  const button = el("button", { type: "button", onclick: () => save(file, `${text}\n`, "application/json") }, `Save ${file}`);
  const machine = run.manifest.machine;
  const made = [`leobench ${run.manifest.leobench}`, `engine ${run.manifest.engine}`, `seed ${run.manifest.seed}`];
  if (machine) made.push(`${machine.system} ${machine.architecture}, Python ${machine.python}`);
  if (run.manifest.wall_s !== undefined) made.push(`${run.manifest.wall_s} s of computing`);
  return el(
    "details",
    { class: "scenario", open: false },
    el("summary", {}, `Scenario of ${run.label}, every default spelled out`),
    el("p", {}, button, " and run it again. The same version gives the same tables, to the byte."),
    command(run.command),
    el("p", { class: "hint" }, `${made.join(", ")}. Results in ${run.folder}`),
    el("pre", { tabindex: 0 }, text),
  );
}

/** All tables of a run, each to be saved as CSV. */
export function downloads(run, tables) {
  const items = Object.entries(tables).map(([name, table]) => {
    const button = el("button", { type: "button", class: "quiet" }, "CSV");
    button.addEventListener("click", async () => {
      button.disabled = true;
      save(fileName(`${run.label}-${name}.csv`), await csv(table), "text/csv");
      button.disabled = false;
    });
    return el("li", {}, el("span", {}, `${name}, ${count(table.rows)} rows`), button);
  });
  const omitted = Object.entries(run.omitted).map(([name, rows]) => el("li", {}, `${name}, ${count(rows)} rows, was left out of this report`));
  return el("details", { class: "downloads" }, el("summary", {}, `Tables of ${run.label}`), el("ul", {}, items, omitted));
}

/** A whole table as CSV. Integers are exact: nanoseconds of a run stay far below 2^53. */
async function csv(table) {
  const names = await table.names();
  const columns = await table.columns(...names);
  const lines = [names.map(quote).join(",")];
  for (let row = 0; row < table.rows; row += 1) {
    lines.push(names.map((name) => cell(columns[name], row)).join(","));
  }
  return `${lines.join("\n")}\n`;
}

function cell(column, row) {
  if (column instanceof Float64Array) return Number.isNaN(column[row]) ? "" : String(column[row]);
  const word = column.at(row);
  return word === null ? "" : quote(word);
}
