"""Processor time per packet of NewReno built in, in Python (`examples/reno.py`) and in a shared library.

cargo build --release --manifest-path examples/controller_rust/Cargo.toml
python benchmarks/controllers.py
"""

from __future__ import annotations

import time
from pathlib import Path

import leobench

FOLDER = Path(__file__).resolve().parent.parent
SCENARIO = FOLDER / "scenarios" / "one-flow.toml"
LIBRARY = FOLDER / "examples" / "controller_rust" / "target" / "release" / "libreno.so"


def main() -> None:
    """Prints a row for each transport and controller."""
    import sys

    sys.path.insert(0, str(FOLDER / "examples"))
    for transport in ("quic", "tcp"):
        for congestion in ("newreno", {"python": "reno:Reno"}, {"library": str(LIBRARY)}):
            overrides = {
                "flows.main.transport": {"kind": transport, "congestion": congestion},
                "flows.main.source": {"kind": "bulk", "size": "1 GB"},
                "duration": "120 s",
                "record.series": False,
            }
            started = time.process_time()
            (flow, *_) = leobench.run(SCENARIO, overrides=overrides).summary["flows"]
            used = time.process_time() - started
            each = 1e6 * used / flow["sent_packets"]
            print(f"{transport} {flow['congestion']}: {each:.2f} us per packet sent")


if __name__ == "__main__":
    main()
