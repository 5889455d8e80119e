// The scenarios that the page offers: their text as shipped in `scenarios/`, what is changed in it from the start, and the
// sliders, each of which writes one value of the text.
//
// Another scenario needs an entry here and in `SCENARIOS`, and its name in the tests. A value that a slider writes has to stand on
// one line, in a table with a header of its own.

const CONTROLLERS = ["newreno", "cubic", "bbr", "bbr3", "vegas", "westwood", "hybla"];

/** A slider. `text` makes the value as TOML has it from the control's own and all others; `null` takes the key away. */
function slider(id, label, unit, [least, most, step, value], table, key, text) {
  return { id, label, unit, least, most, step, value, table, key, text: text ?? ((number) => `"${number} ${unit}"`) };
}

/** A choice among words. */
function choice(id, label, words, value, table, key, text) {
  return { id, label, words, value, table, key, text };
}

const packets = (number) => `{ kind = "fifo", limit = "${number} packets" }`;
const kilobytes = (number) => `{ kind = "fifo", limit = "${number} kB" }`;

/** Independent losses of a share in per cent; none for zero. */
const losses = (share) => (share === 0 ? null : `{ kind = "bernoulli", probability = ${Number((share / 100).toFixed(5))} }`);
const random = (table) => slider("loss", "Random loss", "%", [0, 2, 0.1, 0], table, "loss", losses);
const duration = (range) => slider("duration", "Duration", "s", range, "", "duration");

const FADING = {
  id: "ka",
  file: "ka.toml",
  title: "Fading in the Ka band",
  about: "QUIC over one land mobile satellite link of 80, 40 and 16 Mbit/s. In deep shadowing it is slower than the source, and the queue fills.",
  changes: [],
  controls: [
    slider("rate", "Rate of the source", "Mbps", [5, 60, 1, 35], "flows.main", "source", (rate) => `{ kind = "cbr", rate = "${rate} Mbps", size = "1000 B" }`),
    slider("delay", "One-way delay", "ms", [1, 100, 1, 10], "links.uplink", "delay"),
    slider("queue", "Queue", "packets", [5, 1000, 5, 300], "links.uplink", "queue", packets),
    random("links.uplink"),
    choice("controller", "Congestion controller", CONTROLLERS, "cubic", "flows.main", "transport", (name) => `{ kind = "quic", congestion = "${name}", scheduler = "rr" }`),
    duration([5, 60, 5, 20]),
  ],
};

const STARLINK = {
  id: "starlink",
  file: "starlink-hour.toml",
  title: "An hour of Starlink, cut short",
  about: "A download to a roof in Seattle over 4,408 satellites, at a constant rate. Another satellite may serve every 15 s; here is a minute or two of the hour.",
  changes: [
    ["", "record", '{ interval = "50 ms" }'],
    ["links.sky", "channel", null],
    ["links.sky", "forward", '{ rate = "12 Mbps" }'],
  ],
  controls: [
    slider("rate", "Rate of the downlink", "Mbps", [5, 150, 5, 60], "links.sky", "backward", (rate) => `{ rate = "${rate} Mbps" }`),
    slider("delay", "Delay besides the way", "ms", [0, 40, 1, 8], "links.sky", "delay"),
    slider("queue", "Queue", "kB", [20, 2000, 20, 300], "links.sky", "queue", kilobytes),
    slider("outage", "Outage per handover", "ms", [0, 500, 10, 40], "constellation", "outage"),
    random("links.sky"),
    choice("controller", "Congestion controller", [...CONTROLLERS, "leocc"], "cubic", "flows.download", "transport", (name) => `{ kind = "quic", congestion = "${name}" }`),
    duration([15, 300, 15, 45]),
  ],
};

const HANDOVER = {
  id: "handover",
  file: "handover-cost.toml",
  title: "From a terrestrial network to a satellite",
  about: "A file while a van moves between both networks every 20 s, from a random time on. The satellite's path is 30 ms longer one way.",
  changes: [["", "record", '{ messages = false, interval = "20 ms" }']],
  controls: [
    slider("rate", "Rate of the satellite link", "Mbps", [1, 60, 1, 10], "links.leo", "rate"),
    slider("delay", "Delay of the satellite link", "ms", [5, 300, 5, 40], "links.leo", "delay"),
    slider("queue", "Queue of the satellite link", "kB", [10, 1000, 10, 100], "links.leo", "queue", kilobytes),
    random("links.leo"),
    choice("controller", "Congestion controller", CONTROLLERS, "cubic", "flows.file", "transport", (name) => `{ kind = "quic", congestion = "${name}" }`),
    duration([20, 120, 10, 60]),
  ],
};

const QUEUES = {
  "drop-tail (fifo)": (size) => `{ kind = "fifo", limit = "${size} kB" }`,
  codel: (size) => `{ kind = "codel", limit = "${size} kB" }`,
  fq_codel: (size) => `{ kind = "fq_codel", limit = "${size} kB" }`,
  pie: (size) => `{ kind = "pie", limit = "${size} kB" }`,
};

const BUFFERBLOAT = {
  id: "bufferbloat",
  file: "bufferbloat.toml",
  title: "Bufferbloat at a terminal",
  about: "A file and a call share a queue that is much too deep. The call's delay is the queue's, until a smaller queue or a queue discipline keeps it short.",
  changes: [],
  controls: [
    slider("rate", "Rate of the link", "Mbps", [2, 60, 1, 20], "links.leo", "rate"),
    slider("delay", "One-way delay", "ms", [1, 150, 1, 25], "links.leo", "delay"),
    slider("queue", "Queue", "kB", [20, 4000, 20, 2000], "links.leo", "queue", (size, values) => QUEUES[values.discipline](size)),
    choice("discipline", "Queue discipline", Object.keys(QUEUES), "drop-tail (fifo)", "links.leo", "queue", (name, values) => QUEUES[name](values.queue)),
    random("links.leo"),
    choice("controller", "Congestion controller", CONTROLLERS, "cubic", "flows.file", "transport", (name) => `{ kind = "tcp", congestion = "${name}" }`),
    duration([5, 60, 5, 15]),
  ],
};

export const SCENARIOS = [FADING, STARLINK, HANDOVER, BUFFERBLOAT];

/** The scenario of this name, or the first one. */
export function scenario(id) {
  return SCENARIOS.find((each) => each.id === id) ?? SCENARIOS[0];
}

/** The values that all controls of a scenario have at first. */
export function defaults({ controls }) {
  return Object.fromEntries(controls.map(({ id, value }) => [id, value]));
}
