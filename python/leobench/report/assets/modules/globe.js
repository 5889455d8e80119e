// The constellation on a globe: satellites, places and serving links at the time of a slider, and handovers.
//
// The globe's library is large, so it is loaded when the section comes into view. Land is drawn onto its texture
// here, in the colours of the theme.

import { stored } from "report/data";
import { el, section } from "report/dom";
import { time } from "report/format";
import { Network } from "report/network";
import { before } from "report/series";
import { onEarth, positionAt } from "report/sphere";
import { colour, isDark, onTheme } from "report/theme";

// Tops of pictures that software renders take long to draw.
const HEIGHT = 460;

/** The section of the globe; `range` is that of the charts, whose cursor the slider follows. */
export class GlobeSection {
  constructor(described, live, range) {
    this.described = described;
    this.live = live;
    this.now = 0;
    this.place = el("div", { class: "globe" });
    this.told = el("output", { class: "globe-time" });
    this.serving = el("ul", { class: "serving" });
    this.network = described.network ? new Network(described.network, () => this.show(this.now)) : null;
    this.slider = el("input", { type: "range", min: 0, max: described.duration_s, step: described.duration_s > 100 ? 1 : 0.1, value: 0, "aria-label": "Time of the run" });
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    this.play = el("button", { type: "button", "aria-label": "Play", onclick: () => this.toggle() }, "▶");
    this.element = section(
      "globe",
      "Constellation",
      el("div", { class: "toolbar" },
        el("button", { type: "button", title: "The handover before", "aria-label": "Previous handover", onclick: () => this.jump(-1) }, "|◀"),
        this.play,
        el("button", { type: "button", title: "The next handover", "aria-label": "Next handover", onclick: () => this.jump(1) }, "▶|"),
        this.slider, this.told),
      this.marks(),
      el("div", { class: "globe-row" }, this.place, el("div", { class: "globe-side" }, this.network?.element, el("h3", {}, "Serving now"), this.serving, this.key())),
    );
    range.onPoint((at) => { if (at !== null && at !== undefined && this.globe) this.show(at); });
    this.tell();
    onTheme(() => this.dress());
  }

  /** Opens the globe when it comes near the view, and lets it rest while it is out of view. */
  watch() {
    new IntersectionObserver((seen) => {
      const near = seen[seen.length - 1].isIntersecting;
      if (near) this.opening ??= this.open();
      if (near) this.globe?.resumeAnimation();
      else this.globe?.pauseAnimation();
    }, { rootMargin: "200px" }).observe(this.place);
  }

  key() {
    const entry = (name, text) => el("li", {}, el("span", { class: `dot ${name}` }), text);
    return el("ul", { class: "key" }, entry("terminal", "terminals"), entry("gateway", "gateways"), entry("serves", "serving satellites"), entry("satellite", "satellites in view of a terminal"));
  }

  /** The handovers below the slider; pressing one goes there. */
  marks() {
    const { handovers, duration_s: end } = this.described;
    const bar = el("div", { class: "marks", "aria-hidden": "true" });
    const shown = handovers.length > 400 ? [] : handovers;
    for (const each of shown) bar.append(el("span", { style: `left: ${(100 * each.t_s) / end}%`, title: `${each.from} to ${each.to}` }));
    return el("div", { class: "marks-row" }, bar, el("p", { class: "hint" }, `${handovers.length} handovers`));
  }

  jump(way) {
    const times = this.described.handovers.map((each) => each.t_s);
    const found = way > 0 ? times.find((at) => at > this.now + 1e-3) : times.filter((at) => at < this.now - 1e-3).pop();
    if (found !== undefined) this.show(found);
  }

  toggle() {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    const started = performance.now();
    const from = this.now >= this.described.duration_s ? 0 : this.now;
    // The whole run in a minute, but no faster than a minute of the sky per second.
    const speed = Math.min(60, Math.max(1, this.described.duration_s / 60));
    const step = (at) => {
      if (!this.playing) return;
      this.show(Math.min(from + ((at - started) / 1e3) * speed, this.described.duration_s));
      if (this.now < this.described.duration_s) requestAnimationFrame(step);
      else this.toggle();
    };
    if (this.playing) requestAnimationFrame(step);
  }

  show(at) {
    this.now = Math.max(0, Math.min(at, this.described.duration_s));
    this.slider.value = String(this.now);
    this.tell();
    if (this.globe) this.draw();
  }

  tell() {
    this.network?.tell(this.now);
    this.told.textContent = `${time(this.now, this.described.duration_s)} of ${time(this.described.duration_s, this.described.duration_s)}`;
    this.serving.replaceChildren(...this.described.links.map((link) => {
      const row = rowAt(link, this.now);
      const text = row?.satellite ? [row.satellite, row.gateway].filter(Boolean).join(" → ") : "no satellite";
      const more = row?.satellite && row.elevation_deg !== null ? ` (${row.elevation_deg.toFixed(0)}° high${row.hops ? `, ${row.hops} hops between satellites` : ""})` : "";
      return el("li", {}, el("b", {}, link.name), `: ${text}${more}`);
    }));
  }

  async open() {
    try {
      const [source, land] = await Promise.all([stored("part-globe.gl.js", this.live), stored("part-land.json", this.live)]);
      const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      const { default: Globe } = await import(address);
      this.land = polygons(JSON.parse(new TextDecoder().decode(land)));
      this.build(Globe);
    } catch (error) {
      this.place.replaceChildren(el("p", { class: "note" }, `The globe needs WebGL, which this browser does not offer here (${error.message}). The list beside it still follows the slider.`));
    }
  }

  build(Globe) {
    const globe = new Globe(this.place, { animateIn: false, rendererConfig: { antialias: true } });
    const height = Math.min(HEIGHT, Math.max(260, this.place.clientWidth));
    globe.width(this.place.clientWidth).height(height).backgroundColor("rgba(0,0,0,0)").showAtmosphere(true).atmosphereAltitude(0.12);
    globe.particlesList("spots").particleLat("lat").particleLng("lng").particleAltitude("altitude").particlesColor("tone").particlesSize("size").particlesSizeAttenuation(false);
    globe.pathPoints("points").pathPointLat((point) => point.lat).pathPointLng((point) => point.lng).pathPointAlt((point) => point.altitude);
    globe.pathColor("tone").pathStroke("stroke").pathTransitionDuration(0).pathResolution(1);
    globe.labelLat("lat").labelLng("lng").labelText("text").labelSize("size").labelIncludeDot(true).labelDotRadius(0.02).labelDotOrientation(() => "right").labelColor(() => colour("ink")).labelAltitude(0.004).labelsTransitionDuration(0);
    this.globe = globe;
    this.dress();
    globe.pointOfView(view(this.described), 0);
    new ResizeObserver(() => globe.width(this.place.clientWidth)).observe(this.place);
  }

  /** The texture in the colours of the theme. */
  dress() {
    if (!this.globe) return;
    this.globe.globeImageUrl(texture(this.land)).atmosphereColor(isDark() ? "#5b86a8" : "#8fb7d6");
    this.draw();
  }

  draw() {
    const { terminals, gateways, satellites, links } = this.described;
    const rows = links.map((link) => [link, rowAt(link, this.now)]);
    const serving = new Set(rows.flatMap(([, row]) => (row?.satellite ? [row.satellite] : [])));
    const used = new Set(rows.flatMap(([, row]) => (row?.gateway ? [row.gateway] : [])));
    const there = satellites.filter((each) => each.from_s <= this.now && this.now <= each.to_s);
    const spots = new Map(there.map((each) => [each.name, onEarth(positionAt(each, this.now))]));
    const grounds = (list) => list.map((each) => ({ ...onEarth(positionAt(each, this.now)), name: each.name }));
    const [low, gates] = [grounds(terminals), grounds(gateways)];
    const set = (spots, tone, size) => ({ spots, tone: colour(tone), size });
    const named = (names) => (spot) => names.has(spot.name);
    const network = this.network?.drawn(this.now, low, gates);
    const sky = there.map((each) => ({ ...spots.get(each.name), name: each.name }));
    this.globe.particlesData([
      set(sky.filter((spot) => !serving.has(spot.name)), "faint", 4),
      set(gates.filter((spot) => !used.has(spot.name)), "orange", 5),
      set(gates.filter(named(used)), "orange", 9),
      set(low, "vermilion", 9),
      set(sky.filter(named(serving)), "green", 9),
      ...(network ? [set(network.relays, "green", 6), set(network.drops, "purple", 15)] : []),
    ].filter((each) => each.spots.length));
    const size = 0.9 * view(this.described).altitude;
    this.globe.labelsData(low.map((each) => ({ ...each, size, text: `\u2002${each.name}` })));
    this.globe.pathsData(network?.paths ?? rows.flatMap(([link, row]) => this.ways(link, row, spots, low, gates)));
  }

  ways(link, row, spots, low, gates) {
    const satellite = row?.satellite ? spots.get(row.satellite) : null;
    const terminal = low.find(({ name }) => name === link.terminal);
    if (!satellite || !terminal) return [];
    const gateway = row.hops ? null : gates.find(({ name }) => name === row.gateway);
    const points = [{ ...terminal, altitude: 0.004 }, satellite, ...(gateway ? [{ ...gateway, altitude: 0.004 }] : [])];
    return [{ points, tone: colour("green"), stroke: 2.5 }];
  }
}

/** Where to look from: above the middle of the terminals, so far off that all of them are in view. */
function view({ terminals }) {
  const spots = terminals.map((each) => positionAt(each, 0)).map((spot) => spot.map((value) => value / Math.hypot(...spot)));
  const middle = [0, 1, 2].map((axis) => spots.reduce((total, spot) => total + spot[axis], 0));
  const size = Math.hypot(...middle) || 1;
  const apart = Math.max(0, ...spots.map((spot) => Math.acos(Math.min(1, spot.reduce((total, value, axis) => total + (value * middle[axis]) / size, 0)))));
  const { lat, lng } = onEarth(middle);
  return { lat: lat - 4, lng, altitude: Math.min(2.4, 0.75 + 1.6 * apart) };
}

/** The row of a link that holds at a time. */
function rowAt(link, now) {
  const place = before(link.serving.map((row) => row.t_s), now + 1e-9) - 1;
  return link.serving[place];
}

/** The rings of TopoJSON land: lists of longitudes and latitudes (the format's specification, section 2.1). */
function polygons({ arcs, transform, objects }) {
  const { scale: [sx, sy], translate: [tx, ty] } = transform;
  const lines = arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]) => [(x += dx) * sx + tx, (y += dy) * sy + ty]);
  });
  const ring = (parts) => parts.flatMap((part) => (part < 0 ? [...lines[~part]].reverse() : lines[part]));
  return objects.land.geometries.flatMap(({ type, arcs: own }) => (type === "Polygon" ? [own] : own)).map((polygon) => polygon.map(ring));
}

/** A map in plate carrée, as the address of an image. */
function texture(land) {
  const canvas = el("canvas", { width: 2048, height: 1024 });
  const draw = canvas.getContext("2d");
  draw.fillStyle = isDark() ? "#16222c" : "#dbe8f1";
  draw.fillRect(0, 0, 2048, 1024);
  draw.fillStyle = isDark() ? "#3a4a45" : "#f5f2e8";
  draw.strokeStyle = isDark() ? "#6d8078" : "#9aa5a0";
  draw.lineWidth = 1.2;
  for (const polygon of land) {
    draw.beginPath();
    for (const ring of polygon) {
      ring.forEach(([lng, lat], at) => draw[at ? "lineTo" : "moveTo"](((lng + 180) / 360) * 2048, ((90 - lat) / 180) * 1024));
      draw.closePath();
    }
    draw.fill("evenodd");
    draw.stroke();
  }
  draw.strokeStyle = isDark() ? "rgba(255,255,255,0.09)" : "rgba(0,0,0,0.09)";
  for (let lng = 0; lng < 2048; lng += 2048 / 24) line(draw, lng, 0, lng, 1024);
  for (let lat = 0; lat < 1024; lat += 1024 / 12) line(draw, 0, lat, 2048, lat);
  return canvas.toDataURL("image/png");
}

function line(draw, x1, y1, x2, y2) {
  draw.beginPath();
  draw.moveTo(x1, y1);
  draw.lineTo(x2, y2);
  draw.stroke();
}
