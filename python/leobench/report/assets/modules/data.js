// Tables: Parquet in the page, or fetched from the server of a folder that is being watched; columns on demand.

import { parquetMetadata, parquetRead } from "hyparquet";
import { Words } from "report/columns";

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
