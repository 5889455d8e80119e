// The tables of a run as the panels of reports read them, from the typed arrays of the engine.

import { Words } from "report/columns";

/** A table whose columns are in memory. */
export class EngineTable {
  constructor({ name, rows, columns }) {
    this.name = name;
    this.rows = rows;
    this.stored = new Map(columns.map((column) => [column.name, column]));
    this.cached = new Map();
  }

  async names() {
    return [...this.stored.keys()];
  }

  /** Columns by name: numbers as `Float64Array` (missing ones not-a-number), texts as `Words`. */
  async columns(...names) {
    const found = names.map((name) => [name, this.column(name)]);
    return Object.fromEntries(found);
  }

  column(name) {
    if (!this.cached.has(name) && this.stored.has(name)) this.cached.set(name, read(this.stored.get(name)));
    return this.cached.get(name);
  }
}

function read({ kind, values, present, texts }) {
  if (kind === "text") return Words.of(texts, Int32Array.from(values, (code, row) => (present && !present[row] ? -1 : code)));
  const numbers = kind === "i64" ? integers(values) : Float64Array.from(values);
  if (present) present.forEach((there, row) => { if (!there) numbers[row] = NaN; });
  return numbers;
}

/** 64-bit integers as numbers, which hold those of a run exactly: 2 to the 53rd nanoseconds are 104 days. */
function integers(values) {
  const halves = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < values.length; row += 1) {
    numbers[row] = halves.getInt32(8 * row + 4, true) * 2 ** 32 + halves.getUint32(8 * row, true);
  }
  return numbers;
}
