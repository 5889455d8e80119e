// Reproduced figures: what their papers claim, whether it holds, and by which numbers.

import { el, section } from "report/dom";
import { number, plural } from "report/format";
import { command } from "report/scenario";
import { table } from "report/tables";

// Signs and tones of outcomes; the words beside them say the same.
const SIGNS = {
  "holds": ["✓", "good"],
  "holds under a reading": ["◐", "doubt"],
  "cannot tell": ["?", "doubt"],
  "not evaluated": ["–", "faint"],
  "pass": ["✓", "good"],
  "warn": ["!", "doubt"],
  "not measured": ["–", "faint"],
  "fail": ["✗", "bad"],
  "does not hold": ["✗", "bad"],
  "holds under no reading tried": ["✗", "bad"],
};

/** The section of a figure. */
export function figure(described) {
  const tally = described.outcomes
    .map((outcome) => [outcome, described.conclusions.filter((each) => each.outcome === outcome).length])
    .filter(([, many]) => many);
  return section(
    `figure-${described.figure}`,
    described.title,
    el("div", { class: "tally" }, tally.map(([outcome, many]) => badge(outcome, `${many} × `))),
    described.quick ? el("p", { class: "verdict doubt" }, "A quick look: fewer or shorter runs than the paper's, so the verdicts are preliminary.") : null,
    described.drawing ? el("img", { src: described.drawing, alt: described.title, class: "drawing" }) : null,
    claims(described),
    el("p", {}, `${plural(described.variants, "variant")}, ${plural(described.replicates, "replicate")} each. To repeat it:`),
    command(described.command),
  );
}

/** An outcome or verdict with its sign. */
export function badge(outcome, before = "") {
  const [sign, tone] = SIGNS[outcome] ?? ["?", "doubt"];
  return el("span", { class: `badge ${tone}` }, el("span", { class: "sign", "aria-hidden": "true" }, sign), ` ${before}${outcome}`);
}

function claims(described) {
  const order = new Map(described.outcomes.map((outcome, at) => [outcome, at]));
  return table({
    id: `claims-${described.figure}`,
    caption: "Claims",
    long: true,
    rows: described.conclusions,
    columns: [
      { label: "claim", value: (row) => row.says, show: (row) => el("span", { title: row.claim }, row.says, row.ours ? el("em", {}, " (ours)") : null) },
      { label: "case", value: (row) => row.case },
      { label: "outcome", value: (row) => order.get(row.outcome), show: (row) => badge(row.outcome), parts: [{ label: "outcome", value: (row) => row.outcome }] },
      { label: "measured", value: (row) => row.findings[0]?.value ?? null, show: (row) => measured(row.findings[0]), parts: ["value", "low", "high", "runs"].map((key) => ({ label: key, value: (row) => row.findings[0]?.[key] ?? null })) },
      { label: "expected", value: (row) => row.relation },
      { label: "readings", value: (row) => row.findings.slice(1).map((each) => `${each.reading}: ${each.verdict}`).join("; ") },
    ],
  });
}

function measured(finding) {
  if (!finding || finding.value === undefined || finding.value === null) return finding?.why || "–";
  const range = finding.low === null || finding.low === undefined ? "" : ` [${number(finding.low)}, ${number(finding.high)}]`;
  return el("span", { title: finding.why || null, class: "number" }, el("b", {}, number(finding.value)), range);
}
