// The page: its content from itself or from the server of a folder that is being watched, section by section.

import { campaign } from "report/campaign";
import { cards, comparison, details, verdict } from "report/cards";
import { figure } from "report/claims";
import { tablesOf } from "report/data";
import { el, inline, section, tried } from "report/dom";
import { count, time } from "report/format";
import { GlobeSection } from "report/globe";
import { passport } from "report/passport";
import { command, downloads, repeat } from "report/scenario";
import { onTheme, toggle } from "report/theme";
import { Range, Timeline } from "report/timeline";

// Milliseconds between two looks at a folder that is being written.
const EVERY = 2000;

const page = document.getElementById("page");
let range = null;
let timeline = null;

/** Fills the page with a content. */
async function show(content) {
  document.title = content.title;
  const { runs, live } = content;
  const tables = new Map(runs.map((run) => [run.id, tablesOf(run, live)]));
  const finished = runs.filter((run) => run.summary);
  range = kept(range, ends(content));
  const parts = [header(content), live ? progress(live) : null];
  if (content.kind === "run" && finished.length) parts.push(section("summary", "Summary", verdict(finished[0].manifest.validity), tried("The summary", () => cards(finished[0]))));
  if (content.kind === "runs") parts.push(section("summary", "Summary", worst(finished), tried("The summary", () => comparison(finished))));
  parts.push(...content.passports.map(passport), ...content.figures.map(figure), ...content.campaigns.map((each, number) => campaign(each, number, content.kind === "reproduction")));
  const drawn = timeline?.drawn() ?? null;
  timeline = runs.length ? new Timeline(runs, tables, range, timeline) : null;
  await timeline?.prepare(drawn?.size ? drawn : null);
  parts.push(timeline?.element);
  const globe = content.globe ? new GlobeSection(content.globe, live, range) : null;
  parts.push(globe?.element);
  if (content.kind === "run" && finished.length) parts.push(section("details", "Details", tried("The details", () => details(finished[0], zoom, only))));
  if (runs.length) parts.push(section("repeat", "Repeat it", folded("Scenarios", runs.map(repeat)), folded("Tables", runs.map((run) => downloads(run, tables.get(run.id))))));
  parts.push(content.notes.length ? section("notes", "Notes", el("ul", {}, content.notes.map((note) => el("li", {}, inline(note))))) : null);
  const place = remembered();
  page.replaceChildren(navigation(parts), ...parts.filter(Boolean));
  timeline?.place();
  place.restore();
  globe?.watch();
  performance.mark("ready");
  document.documentElement.dataset.ready = String(content.live?.version ?? "yes");
  // A folder that is being written is read again and again: there, only what is looked at.
  if (!live || live.complete) timeline?.readAll();
}

/** Parts of runs, in one that opens where they would fill the view. */
function folded(what, parts) {
  return parts.length > 3 ? el("details", {}, el("summary", {}, `${what} of ${parts.length} runs`), parts) : parts;
}

/** Where the reader is on the page, which parts are open, and what is chosen, to be restored after a change. */
function remembered() {
  const { scrollY } = window;
  const open = [...page.querySelectorAll("details")].map((each) => each.open);
  const chosen = [...page.querySelectorAll("select")].map((each) => each.value);
  const restore = () => {
    page.querySelectorAll("details").forEach((each, at) => (each.open = open[at] ?? each.open));
    page.querySelectorAll("select").forEach((each, at) => {
      if (!chosen[at] || each.value === chosen[at]) return;
      each.value = chosen[at];
      each.dispatchEvent(new Event("change"));
    });
    window.scrollTo(0, scrollY);
  };
  return { restore };
}

function ends({ runs }) {
  return Math.max(0, ...runs.map((run) => run.summary?.virtual_s ?? run.manifest.reached_s ?? 0));
}

/** The range of time of the page before, if it showed a part, so that a look at a live run stays where it is. */
function kept(old, end) {
  const made = new Range(end);
  if (old && (old.shown[0] !== old.whole[0] || old.shown[1] !== old.whole[1])) made.set(...old.shown);
  return made;
}

function zoom(from, to) {
  range.set(from, to);
  document.getElementById("series")?.scrollIntoView();
}

async function only(name) {
  await timeline.only(name);
  document.getElementById("series")?.scrollIntoView();
}

function header(content) {
  const [first] = content.runs;
  const commits = new Set([...content.runs.map((run) => run.manifest.commit), ...content.campaigns.map((each) => each.commit)].filter(Boolean));
  const told = content.kind === "run" && first ? [first.manifest.engine === "real" ? "in real time" : first.manifest.engine && "in virtual time"] : [];
  if (content.kind === "run" && first?.summary) told.push(`${time(first.summary.virtual_s, 1000)} long`, `${count(first.summary.packets)} packets`);
  if (told.length && Number.parseFloat(first.scenario.warm_up) > 0) told.push(`summary without the first ${first.scenario.warm_up} (warm-up)`);
  return el(
    "header",
    {},
    el("div", {}, el("h1", {}, content.title), content.description ? el("p", { class: "lead" }, content.description) : null,
      el("p", { class: "hint" }, [`leobench ${content.leobench}`, ...[...commits].map((commit) => `commit ${commit.replace(",", "")}`), ...told].filter(Boolean).join(", "))),
    el("button", { type: "button", class: "quiet theme", onclick: toggle, title: "Light or dark" }, "◐ Theme"),
  );
}

function navigation(parts) {
  const links = parts.filter((part) => part?.tagName === "SECTION").map((part) => el("a", { href: `#${part.id}` }, part.querySelector("h2").textContent));
  return el("nav", { "aria-label": "Sections" }, links);
}

/** The verdicts of several runs, together. */
function worst(runs) {
  const order = ["valid", "warnings", "invalid"];
  const all = runs.map(({ manifest }) => manifest.validity);
  const most = all.reduce((one, two) => (order.indexOf(two.verdict) > order.indexOf(one.verdict) ? two : one));
  const warnings = runs.flatMap((run) => run.manifest.validity.warnings.map((warning) => `${run.label}: ${warning}`));
  return verdict({ verdict: most.verdict, warnings });
}

/** How far a folder is that is being written. */
function progress(live) {
  const share = live.total ? Math.min(1, live.done / live.total) : null;
  return el(
    "div",
    { class: "progress", role: "status" },
    el("strong", {}, live.state),
    share === null ? null : el("progress", { max: 1, value: share, "aria-label": "Progress" }),
    el("span", {}, live.text),
    live.command ? command(live.command) : null,
  );
}

/** Looks at the server again and again until the folder is complete. */
async function watch() {
  let version = null;
  for (;;) {
    try {
      const answer = await fetch(`content?version=${version ?? ""}`);
      if (answer.status === 200) {
        const content = await answer.json();
        version = content.live.version;
        await show(content);
        if (content.live.complete) return;
      } else if (answer.status !== 204) throw new Error((await answer.text()) || answer.statusText);
      document.documentElement.dataset.lost = "";
    } catch (error) {
      if (document.documentElement.dataset.lost !== error.message) {
        document.documentElement.dataset.lost = error.message;
        page.prepend(el("p", { class: "note lost", role: "alert" }, `leobench view does not answer: ${error.message}`));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
}

onTheme(() => timeline?.rebuild());
addEventListener("beforeprint", () => timeline?.print());
const content = JSON.parse(document.getElementById("content").textContent);
try {
  if (content === null) await watch();
  else await show(content);
} catch (error) {
  page.append(el("p", { class: "note", role: "alert" }, `This page cannot be shown: ${error.message}`));
  throw error;
}
