// The passport of a congestion controller: its checks with verdicts, the worst first.

import { badge } from "report/claims";
import { el, section } from "report/dom";
import { number } from "report/format";
import { table } from "report/tables";

/** The section of a passport. */
export function passport(described) {
  const { controller, counts, suite, verdicts } = described;
  const changed = Object.entries(suite.thresholds).map(([check, value]) => `${check} = ${value}`);
  return section(
    "passport",
    "Checks",
    el("div", { class: "tally" }, verdicts.filter((verdict) => counts[verdict]).map((verdict) => badge(verdict, `${counts[verdict]} × `))),
    suite.quick ? el("p", { class: "verdict doubt" }, "A quick look: fewer checks and runs than the whole suite.") : null,
    changed.length ? el("p", { class: "verdict doubt" }, `Thresholds that are not the suite's own: ${changed.join(", ")}.`) : null,
    checks(described),
    described.drawing ? el("img", { src: described.drawing, alt: `Checks of ${controller.name}`, class: "drawing" }) : null,
  );
}

function checks({ controller, checks: own, against, verdicts }) {
  const order = new Map(verdicts.map((verdict, at) => [verdict, at]));
  const rows = own.map((check, at) => ({ ...check, other: against?.checks[at] })).sort((one, two) => order.get(one.verdict) - order.get(two.verdict));
  const columns = [
    { label: "check", value: (row) => row.id, show: (row) => el("span", { title: `${row.measure}; case ${row.case}` }, row.question, " ", el("code", {}, row.id)) },
    { label: "verdict", value: (row) => order.get(row.verdict), show: (row) => badge(row.verdict), parts: [{ label: "verdict", value: (row) => row.verdict }] },
    { label: controller.name, value: (row) => row.value, show: measured, parts: ["value", "low", "high"].map((key) => ({ label: key, value: (row) => row[key] })) },
    { label: "warns", value: (row) => row.warn, show: (row) => limit(row, row.warn) },
    { label: "fails", value: (row) => row.fail, show: (row) => limit(row, row.fail) },
    ...(against
      ? [
          { label: "rank", value: (row) => row.rank },
          { label: against.controller.name, value: (row) => row.other.value, show: (row) => el("span", {}, measured(row.other), " ", badge(row.other.verdict)) },
        ]
      : []),
    { label: "thresholds from", value: (row) => row.source, show: (row) => (row.note ? `${row.source}. Note: ${row.note}` : row.source) },
  ];
  return table({ id: "checks", caption: "By verdict", long: true, rows, columns });
}

function measured(check) {
  if (check.value === null) return "–";
  const unit = check.unit ? ` ${check.unit}` : "";
  const range = check.low === null ? "" : ` [${number(check.low)}, ${number(check.high)}]`;
  return el("span", { class: "number" }, el("b", {}, number(check.value)), `${range}${unit}`);
}

function limit(check, value) {
  return value === null ? "–" : el("span", { class: "number" }, `${check.better === "higher" ? "<" : ">"} ${number(value)}`);
}
