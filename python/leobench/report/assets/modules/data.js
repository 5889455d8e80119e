// Tables: Parquet in the page, or fetched from the server of a folder that is being watched; columns on demand.

import { parquetMetadata, parquetRead } from "hyparquet";

/** The bytes of a data element of the page. */
async function embedded(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no data ${id}`);
  const text = element.textContent;
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  if (!element.dataset.gzip) return bytes.buffer;
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

/** Bytes by their name, wherever the page keeps them: `table-0-queues`, `part-globe.gl.js`. */
export async function stored(name, live) {
  if (!live) return embedded(name);
  const answer = await fetch(name.replace(/^(table|part)-/, "$1/") + `?version=${live.version}`);
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

/** A text column: for each row the place of its word, -1 for a missing one. */
class Words {
  constructor(length) {
    this.codes = new Int32Array(length);
    this.words = [];
    this.places = new Map();
  }

  set(row, word) {
    if (word === null || word === undefined) {
      this.codes[row] = -1;
      return;
    }
    let code = this.places.get(word);
    if (code === undefined) {
      code = this.words.length;
      this.words.push(word);
      this.places.set(word, code);
    }
    this.codes[row] = code;
  }

  at(row) {
    return this.codes[row] < 0 ? null : this.words[this.codes[row]];
  }
}

/** A table of a run. Columns are read when they are first asked for, and kept. */
class Table {
  constructor(name, rows, load) {
    this.name = name;
    this.rows = rows;
    this.load = load;
    this.cached = new Map();
  }

  async file() {
    this.opened ??= this.load().then((buffer) => ({ buffer, metadata: parquetMetadata(buffer) }));
    return this.opened;
  }

  /** The names of all columns. */
  async names() {
    const { metadata } = await this.file();
    return metadata.schema.slice(1).map((column) => column.name);
  }

  /** Columns by name: numbers as `Float64Array` (missing ones not-a-number), texts as `Words`. */
  async columns(...names) {
    const wanted = names.filter((name) => !this.cached.has(name));
    if (wanted.length) await this.read(wanted);
    return Object.fromEntries(names.map((name) => [name, this.cached.get(name)]));
  }

  async read(names) {
    const { buffer, metadata } = await this.file();
    const rows = Number(metadata.num_rows);
    const types = new Map(metadata.schema.slice(1).map((column) => [column.name, column.type]));
    const found = names.filter((name) => types.has(name));
    for (const name of found) {
      this.cached.set(name, types.get(name) === "BYTE_ARRAY" ? new Words(rows) : new Float64Array(rows));
    }
    const onChunk = ({ columnName, columnData, rowStart }) => take(this.cached.get(columnName), columnData, rowStart);
    if (found.length && rows) await parquetRead({ file: buffer, metadata, columns: found, onChunk });
  }
}

function take(column, data, start) {
  if (column instanceof Words) {
    for (let row = 0; row < data.length; row += 1) column.set(start + row, data[row]);
    return;
  }
  for (let row = 0; row < data.length; row += 1) {
    const value = data[row];
    column[start + row] = value === null || value === undefined ? NaN : Number(value);
  }
}

/** The tables of a run of the page. */
export function tablesOf(run, live) {
  const make = ([name, rows]) => [name, new Table(name, rows, () => stored(`table-${run.id}-${name}`, live))];
  return Object.fromEntries(Object.entries(run.tables).map(make));
}

/** The rows of a table by the values of some columns: `key` in words, and the numbers of the rows. */
export function grouped(columns, names, rows) {
  const parts = names.map((name) => columns[name]);
  const codes = parts.map((part) => (part instanceof Words ? part.codes : part));
  const sizes = parts.map((part) => (part instanceof Words ? part.words.length + 1 : 4096));
  const places = new Map();
  const counts = [];
  const firsts = [];
  const groups = new Uint32Array(rows);
  let last = NaN;
  let group = -1;
  for (let row = 0; row < rows; row += 1) {
    let id = 0;
    for (let at = 0; at < codes.length; at += 1) id = id * sizes[at] + codes[at][row] + 1;
    // Rows of a group mostly follow each other.
    if (id !== last) {
      last = id;
      group = places.get(id) ?? -1;
      if (group < 0) {
        group = firsts.length;
        places.set(id, group);
        firsts.push(row);
        counts.push(0);
      }
    }
    groups[row] = group;
    counts[group] += 1;
  }
  const found = counts.map((count) => new Uint32Array(count));
  const filled = new Uint32Array(counts.length);
  for (let row = 0; row < rows; row += 1) found[groups[row]][filled[groups[row]]++] = row;
  const value = (part, row) => (part instanceof Words ? part.at(row) : part[row]);
  return found.map((own, at) => ({
    key: Object.fromEntries(names.map((name, place) => [name, value(parts[place], firsts[at])])),
    rows: own,
  }));
}

/** The values of some rows, each divided by `divisor`. */
export function picked(column, rows, divisor = 1) {
  const values = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at += 1) values[at] = column[rows[at]] / divisor;
  return values;
}
