// The page's side of the worker: one run at a time, of which only the latest one counts.

/** A worker with the engine. */
export class Client {
  /** `source` is the text of the worker, `module` the engine in base64; `told` hears of everything. */
  constructor(source, module, told) {
    this.latest = 0;
    this.worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    this.worker.onmessage = ({ data }) => {
      const late = typeof data.id === "number" && data.id !== this.latest;
      if (!late) told(data);
    };
    this.worker.onerror = (event) => told({ kind: "broken", id: null, message: event.message || "the worker cannot be started" });
    this.worker.postMessage({ kind: "load", module });
  }

  /** Runs a request; the one before is given up. */
  run(request) {
    this.forget();
    this.worker.postMessage({ kind: "run", id: this.latest, request });
  }

  /** Nobody waits for the run under way any more: what it has still to tell is not passed on. */
  forget() {
    this.latest += 1;
  }
}
