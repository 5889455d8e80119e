// Numbers with units, as the printed figures write them: three digits, and a prefix that fits.

const PREFIXED = {
  "bit/s": [[1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]],
  B: [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]],
  s: [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]],
};

// Sizes of units in those that have prefixes.
const SIZES = { ms: [1e-3, "s"], us: [1e-6, "s"], ns: [1e-9, "s"] };

/** The divisor and the name of the unit for values up to `largest`. */
export function scale(unit, largest) {
  const [size, base] = SIZES[unit] ?? [1, unit];
  const steps = PREFIXED[base];
  if (!steps) return [1, unit];
  const reached = Math.abs(largest) * size;
  if (reached === 0) return [1, unit];
  const [factor, name] = steps.find(([step]) => reached >= step) ?? steps[steps.length - 1];
  return [factor / size, name];
}

/** A number to three digits. */
export function number(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e6) return value.toLocaleString("en", { maximumFractionDigits: 0 });
  if (size >= 100 || value === Math.round(value)) return Math.round(value).toLocaleString("en");
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return size >= 0.01 ? value.toPrecision(2) : String(Number(value.toPrecision(2)));
}

/** A value with its unit; a dash if there is none. */
export function quantity(value, unit) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (unit === "B" && Math.abs(value) < 1e3) return `${number(value)} B`;
  const [factor, name] = scale(unit, value);
  return name ? `${number(value / factor)} ${name}` : number(value);
}

export const rate = (bps) => quantity(bps, "bit/s");
export const millis = (ms) => quantity(ms, "ms");
export const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
export const share = (value) => (value === null || value === undefined ? "–" : `${number(100 * value)} %`);

/** A time of the run in seconds, with as many digits as the range shown deserves. */
export function time(seconds, span) {
  const digits = span > 100 ? 1 : span > 1 ? 3 : 6;
  return `${seconds.toFixed(digits)} s`;
}

/** `3 packets`, `1 packet`. */
export function plural(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** The unit that the end of a metric's name says. */
export function unitOf(name) {
  const found = /_(bps|ms|s|ns|bytes)$/.exec(name);
  return found ? { bps: "bit/s", ms: "ms", s: "s", ns: "ns", bytes: "B" }[found[1]] : "";
}
