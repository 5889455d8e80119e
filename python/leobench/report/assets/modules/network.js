// The network in orbit on the globe: routes of links, lasers by their utilisation, and drops at a time.

import { el } from "report/dom";
import { before } from "report/series";
import { onEarth, positionAt } from "report/sphere";
import { isDark } from "report/theme";

// From lasers that never send to those that always do: red, green and blue at equal distances.
const SCALE = [[86, 180, 233], [230, 159, 0], [190, 20, 60]];
// Routes are drawn this far above lasers, in radii of the Earth, so that both can be seen.
const ABOVE = 0.008;
const GROUND = 0.004;
// Hops with drops that are listed; all of them have marks.
const LISTED = 5;

/** Colour of a laser that sends for this share of the time. */
export function shade(share) {
  const place = Math.min(share, 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(place), SCALE.length - 2);
  const mixed = SCALE[low].map((value, at) => Math.round(value + (place - low) * (SCALE[low + 1][at] - value)));
  return `rgb(${mixed.join(", ")})`;
}

/** The network in orbit; `redraw` is called when other routes are chosen. */
export class Network {
  constructor(described, redraw) {
    this.described = described;
    this.chosen = "";
    const option = (value, text) => el("option", { value }, text);
    const choose = (event) => { this.chosen = event.target.value; redraw(); };
    this.told = el("ul", { class: "in-orbit" });
    const choice = el("select", { "aria-label": "Routes shown", onchange: choose },
      option("", "Routes of all links"),
      described.routes.map(({ link }) => option(link, link)));
    this.element = el("div", {}, el("h3", {}, "Network in orbit"), choice, this.told, key());
  }

  /** Routes, lasers and drops at a time. */
  at(now) {
    const interval = Math.max(0, Math.ceil(now / this.described.step_s - 1e-9) - 1);
    const routes = this.described.routes
      .filter(({ link }) => !this.chosen || link === this.chosen)
      .map((route) => {
        const place = before(route.changes.map(([t]) => t), now + 1e-9) - 1;
        const [, from, satellites, to, delay] = route.changes[place] ?? [0, null, [], null, null];
        return { ...route, from, satellites, to, delay };
      });
    const value = (pairs) => pairs[before(pairs.map(([t]) => t), interval)];
    const held = (pairs) => (value(pairs)?.[0] === interval ? value(pairs)[1] : 0);
    const lasers = this.described.lasers.map(({ ends, busy }) => ({ ends, share: held(busy) })).filter(({ share }) => share > 0);
    const drops = this.described.drops.map((each) => ({ ...each, packets: held(each.packets) })).filter(({ packets }) => packets > 0);
    return { interval, routes, lasers, drops };
  }

  /** Tells in words what the globe shows. */
  tell(now) {
    const { interval, routes, lasers, drops } = this.at(now);
    const { step_s: step, satellites } = this.described;
    const there = routes.filter((route) => route.satellites.length);
    const busiest = lasers.reduce((one, other) => (other.share > (one?.share ?? 0) ? other : one), null);
    const [route] = routes;
    const passed = () => [route.from, ...route.satellites.map((each) => satellites[each].name), route.to].join(" → ");
    const single = () => (there.length ? `${passed()} (${route.delay.toFixed(1)} ms)` : "no route");
    const most = [...drops].sort((one, other) => other.packets - one.packets);
    const between = `from ${(interval * step).toFixed(1)} to ${((interval + 1) * step).toFixed(1)} s`;
    this.told.replaceChildren(
      el("li", {}, this.chosen ? single() : `${there.length} of ${routes.length} directions of links have a route`),
      el("li", {}, busiest ? `Busiest laser ${between}: ${busiest.ends.map((each) => satellites[each].name).join(" and ")}, ${(100 * busiest.share).toFixed(0)} %` : `No laser sent ${between}`),
      ...most.slice(0, LISTED).map(({ hop, packets }) => el("li", { class: "drop" }, el("span", { class: "dot drop" }), `${hop}: ${packets} packets dropped`)),
      ...(most.length > LISTED ? [el("li", {}, `and drops at ${most.length - LISTED} more hops`)] : []),
    );
  }

  /** Paths and marks on the globe; `low` and `gates` are terminals and gateways with their places. */
  drawn(now, low, gates) {
    const spots = this.described.satellites.map((each) => ({ ...onEarth(positionAt(each, now)), name: each.name }));
    const { routes, lasers, drops } = this.at(now);
    const place = (list, name) => ({ ...list.find((each) => each.name === name), altitude: GROUND });
    const line = ({ from_terminal: forward, from, satellites, to }) => {
      const [start, end] = forward ? [low, gates] : [gates, low];
      const above = satellites.map((each) => ({ ...spots[each], altitude: spots[each].altitude + ABOVE }));
      return { points: [place(start, from), ...above, place(end, to)], tone: isDark() ? "#ffffff" : "#111111", stroke: this.chosen ? 2.2 : 0.9 };
    };
    const laser = ({ ends, share }) => ({ points: ends.map((each) => spots[each]), tone: shade(share), stroke: 1.5 + 3.5 * share });
    const found = routes.filter((route) => route.satellites.length);
    const used = new Set(found.flatMap((route) => route.satellites));
    const mark = ({ satellite, station }) => (station === undefined ? spots[satellite] : place([...low, ...gates], station));
    return {
      paths: [...lasers.map(laser), ...found.map(line)],
      relays: [...used].map((each) => spots[each]),
      drops: drops.map((each) => ({ ...mark(each), name: each.hop })).filter(({ lat }) => lat !== undefined),
    };
  }
}

function key() {
  const stops = [0, 0.25, 0.5, 0.75, 1].map(shade).join(", ");
  return el("ul", { class: "key" },
    el("li", {}, el("span", { class: "scale", style: `background: linear-gradient(to right, ${stops})` }), "lasers by utilisation, 0 to 100 %"),
    el("li", {}, el("span", { class: "route" }), "routes"),
    el("li", {}, el("span", { class: "dot drop" }), "queues that dropped packets"));
}
