// Series over time, and what of them a panel shows: the lowest and the highest value per half pixel.
//
// A panel is cut into `count` slices, each as wide as a pixel. `fill` writes two values per slice, so no peak is
// lost however many points there are. Lists of times are in seconds and never decrease.

/** The number of times before `limit`. */
export function before(times, limit) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Samples that a line joins. */
export class Line {
  constructor(times, values) {
    this.times = times;
    this.values = values;
  }

  get gaps() {
    return false;
  }

  fill(out, from, to, count) {
    const { times, values } = this;
    const width = (to - from) / count;
    const first = before(times, from);
    const end = before(times, to + width * 1e-9);
    let slice = -1;
    let low = -1;
    let high = -1;
    const flush = () => {
      if (slice < 0 || low < 0) return;
      const [one, two] = low <= high ? [low, high] : [high, low];
      out[2 * slice] = values[one];
      out[2 * slice + 1] = one === two ? null : values[two];
    };
    for (let at = first; at < end; at += 1) {
      const value = values[at];
      if (value !== value) continue;
      const own = Math.min(count - 1, Math.floor((times[at] - from) / width));
      if (own !== slice) {
        flush();
        slice = own;
        low = high = at;
      } else if (value < values[low]) low = at;
      else if (value > values[high]) high = at;
    }
    flush();
    if (out[0] === null) out[0] = this.between(first, from);
    if (out[2 * count - 1] === null) out[2 * count - 1] = this.between(end, to);
  }

  /** The value of the line at a time between the samples before `at` and at it. */
  between(at, time) {
    if (at <= 0 || at >= this.times.length) return null;
    const [start, end] = [this.times[at - 1], this.times[at]];
    const value = this.values[at - 1] + ((this.values[at] - this.values[at - 1]) * (time - start)) / (end - start || 1);
    return Number.isFinite(value) ? value : null;
  }

  /** The sample that is nearest before a time. */
  at(time) {
    const place = before(this.times, time + 1e-12) - 1;
    return place < 0 ? NaN : this.values[place];
  }

  rows() {
    return [this.times, this.values];
  }
}

/** Values that hold until the next change; not-a-number where there is none. */
export class Steps extends Line {
  get gaps() {
    return true;
  }

  fill(out, from, to, count) {
    const { times, values } = this;
    const width = (to - from) / count;
    let at = before(times, from + width * 1e-9);
    let held = at > 0 ? values[at - 1] : NaN;
    for (let slice = 0; slice < count; slice += 1) {
      const end = from + (slice + 1) * width;
      const entered = held;
      let low = held;
      let high = held;
      while (at < times.length && times[at] < end) {
        held = values[at];
        at += 1;
        if (held !== held) continue;
        if (!(low <= held)) low = held;
        if (!(high >= held)) high = held;
      }
      if (low !== low) continue; // no value in the whole slice
      const rises = entered !== entered || entered - low <= high - entered;
      out[2 * slice] = rises ? low : high;
      out[2 * slice + 1] = rises ? high : low;
    }
  }
}

/** The rate of a running total, as means over steps that fit the range shown. */
export class Rate {
  /** `totals` in bytes, `interval` the seconds between samples, `end` the last instant. */
  constructor(times, totals, interval, end) {
    this.times = times;
    this.totals = totals;
    this.interval = interval;
    this.end = end;
    const whole = totals.length ? totals[totals.length - 1] : 0;
    // Data arrives in clumps: a step holds 50 kB on average, as in the printed figures.
    this.least = Math.max(10 * interval, whole > 0 ? Math.min((end * 50e3) / whole, end / 20) : 0);
  }

  get gaps() {
    return true;
  }

  /** The step for a range: 1, 2 or 5 times a power of ten. */
  step(from, to) {
    const least = Math.max((to - from) / 300, this.least, 1e-6);
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9));
  }

  total(time) {
    const place = before(this.times, time + 1e-12) - 1;
    return place < 0 ? 0 : this.totals[place];
  }

  steps(from, to) {
    const step = this.step(from, to);
    const first = Math.floor(from / step);
    const last = Math.ceil(Math.min(to, this.end) / step);
    const times = [];
    const values = [];
    for (let number = first; number < last; number += 1) {
      const start = number * step;
      const end = Math.min(start + step, this.end);
      if (end - start < step * 1e-3) continue;
      times.push(start);
      values.push((8 * (this.total(end) - this.total(start))) / (end - start));
    }
    times.push(Math.min(last * step, this.end));
    values.push(NaN);
    return new Steps(Float64Array.from(times), Float64Array.from(values));
  }

  fill(out, from, to, count) {
    this.shown = this.steps(from, to);
    this.shown.fill(out, from, to, count);
  }

  at(time) {
    return this.shown ? this.shown.at(time) : NaN;
  }

  rows() {
    return (this.shown ?? this.steps(0, this.end)).rows();
  }
}

/** A running total of sizes. */
export function totals(sizes) {
  const sums = new Float64Array(sizes.length);
  let sum = 0;
  for (let at = 0; at < sizes.length; at += 1) {
    sum += Number.isFinite(sizes[at]) ? sizes[at] : 0;
    sums[at] = sum;
  }
  return sums;
}

/** The times and values of which both are numbers. */
export function known(times, values) {
  let count = 0;
  for (let at = 0; at < times.length; at += 1) if (times[at] === times[at] && values[at] === values[at]) count += 1;
  if (count === times.length) return [times, values];
  const kept = [new Float64Array(count), new Float64Array(count)];
  let place = 0;
  for (let at = 0; at < times.length; at += 1) {
    if (times[at] !== times[at] || values[at] !== values[at]) continue;
    kept[0][place] = times[at];
    kept[1][place] = values[at];
    place += 1;
  }
  return kept;
}

/** Times and values in order of time. */
export function sorted(times, values) {
  for (let at = 1; at < times.length; at += 1) {
    if (times[at] < times[at - 1]) {
      const order = Uint32Array.from(times.keys()).sort((one, two) => times[one] - times[two]);
      return [Float64Array.from(order, (place) => times[place]), Float64Array.from(order, (place) => values[place])];
    }
  }
  return [times, values];
}
