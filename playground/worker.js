// The engine in a worker of its own, so that the page never freezes. A classic script: a page opened from disk starts it from a Blob,
// where modules cannot be imported.
//
// To the worker: { kind: "load", module: base64 of the gzipped WebAssembly }, then { kind: "run", id, request } as often as
// one likes; a run that is under way when the next one comes is given up. From the worker: "ready", and for each run
// "progress", then "done" or "refused"; "broken" if the engine cannot go on. crates/playground/src/boundary.rs is the other side.
"use strict";

// Events between two looks at the messages: some milliseconds of work.
const SLICE_EVENTS = 20_000;
const [FINE, OVER] = [0, 1];

let compiled = null;
let engine = null;
let wanted = null;
let running = false;

const yields = new MessageChannel();
/** Lets messages in. A timer would wait four milliseconds each time. */
const pause = () => new Promise((resolve) => {
  yields.port1.onmessage = resolve;
  yields.port2.postMessage(null);
});

function bytesOf(address, length) {
  return new Uint8Array(engine.memory.buffer, address, length);
}

function answer() {
  return new TextDecoder().decode(bytesOf(engine.leobench_answer(), engine.leobench_answer_len()));
}

/** The message of a panic, if there was one. */
function panic() {
  return new TextDecoder().decode(bytesOf(engine.leobench_panic(), engine.leobench_panic_len()));
}

async function load(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  compiled = await WebAssembly.compile(await new Response(plain).arrayBuffer());
  engine = (await WebAssembly.instantiate(compiled, {})).exports;
}

/** The columns of a table, copied out of the engine's memory. */
function columnsOf({ rows, columns }) {
  return columns.map(({ name, kind, address, present, texts }) => {
    const made = { i64: BigInt64Array, f64: Float64Array, flag: Uint8Array, text: Uint32Array }[kind];
    const values = rows ? new made(engine.memory.buffer, address, rows).slice() : new made(0);
    const there = present === null ? null : rows ? bytesOf(present, rows).slice() : new Uint8Array(0);
    return { name, kind, values, present: there, texts };
  });
}

/** Runs one request to its end, unless another one comes. */
async function run({ id, request }) {
  const began = performance.now();
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const place = engine.leobench_request(bytes.length);
  bytesOf(place, bytes.length).set(bytes);
  if (engine.leobench_start() !== FINE) return postMessage({ kind: "refused", id, message: answer() });
  const scenario = answer();
  for (let state = FINE; state !== OVER; ) {
    state = engine.leobench_advance(SLICE_EVENTS);
    if (state !== FINE && state !== OVER) return postMessage({ kind: "refused", id, message: answer() });
    await pause();
    if (wanted) return;
    postMessage({ kind: "progress", id, now: engine.leobench_now(), end: engine.leobench_end() });
  }
  if (engine.leobench_finish() !== FINE) return postMessage({ kind: "refused", id, message: answer() });
  const text = answer();
  const told = JSON.parse(text);
  const tables = Object.entries(told.tables).map(([name, table]) => ({ name, rows: table.rows, columns: columnsOf(table) }));
  const buffers = tables.flatMap(({ columns }) => columns.flatMap(({ values, present }) => [values.buffer, ...(present ? [present.buffer] : [])]));
  const wall = performance.now() - began;
  const { summary, stalls } = told;
  postMessage({ kind: "done", id, wall, scenario: JSON.parse(scenario), summary, text, stalls, tables }, buffers);
}

async function serve() {
  if (running || !engine) return;
  running = true;
  while (wanted) {
    const now = wanted;
    wanted = null;
    try {
      await run(now);
    } catch (error) {
      const message = (engine && panic()) || String(error);
      engine = (await WebAssembly.instantiate(compiled, {})).exports;
      postMessage({ kind: "broken", id: now.id, message });
    }
  }
  running = false;
}

onmessage = async ({ data }) => {
  if (data.kind === "run") {
    wanted = data;
    return serve();
  }
  try {
    await load(data.module);
    postMessage({ kind: "ready" });
  } catch (error) {
    postMessage({ kind: "broken", id: null, message: `the engine cannot be loaded: ${error}` });
  }
  return serve();
};
