"""How long a file takes over leobench's QUIC beside picoquic's: `python -m tools.picoquic PICO_SIM`.

PICO_SIM is picoquic's simulator in virtual time, `pico_sim` of github.com/private-octopus/picoquic (`cmake
-DBUILD_PICO_SIM=ON`, `make pico_sim`, beside github.com/h2o/picotls). It runs in the folder of its sources,
where its certificates are. Both send one file over one link with a drop-tail queue. A row of the table is a
controller and a round trip; the cells are leobench's time to completion over picoquic's, by `QUEUES`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import leobench

SCENARIO = Path(__file__).with_suffix(".toml")
RATE_MBPS = 20
ROUND_TRIPS_MS = (40, 300)
SIZES_MB = (1, 5, 20)
# Of the bandwidth-delay product.
QUEUES = (0.5, 1, 2)
CONTROLLERS = {"newreno": "newreno", "cubic": "cubic", "bbr": "bbr3"}
_LONGEST_S = 300


@dataclass(frozen=True)
class Cell:
    """One file over one link."""

    controller: str
    round_trip_ms: int
    size_mb: int
    queue: float

    @property
    def queue_ms(self) -> float:
        """The longest wait in the queue."""
        return self.round_trip_ms * self.queue


def picoquic(program: Path, cell: Cell) -> float:
    """Seconds that picoquic's simulator takes until it has nothing left to do.

    Raises:
        RuntimeError: If the simulation fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "spec.txt"
        lines = {
            "main_scenario_text": f"=b1:*1:397:{cell.size_mb * 1_000_000};",
            "main_cc_algo": cell.controller,
            "nb_connections": 1,
            "data_rate_in_gbps": RATE_MBPS / 1000,
            "latency": cell.round_trip_ms * 500,
            "queue_delay_max": round(cell.queue_ms * 1000),
            "main_target_time": _LONGEST_S * 1_000_000,
        }
        spec.write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
        done = subprocess.run(
            [program, spec], cwd=sources(program), capture_output=True, text=True, timeout=120, check=False
        )
    found = re.search(r"Success, \d+, (\d+)", done.stdout + done.stderr)
    if done.returncode or found is None:
        raise RuntimeError(f"{program} fails: {done.stdout}{done.stderr}")
    return int(found[1]) / 1e6


def sources(program: Path) -> Path:
    """The folder above a program that has picoquic's certificates.

    Raises:
        FileNotFoundError: If none has.
    """
    for folder in program.resolve().parents:
        if (folder / "certs").is_dir():
            return folder
    raise FileNotFoundError(f"no folder above {program} has `certs`: run it where it was built")


def ours(cell: Cell) -> float:
    """Seconds that leobench's own stack takes, with the start-up of picoquic."""
    controller: dict[str, Any] = {"kind": CONTROLLERS[cell.controller]}
    if controller["kind"] != "bbr3":
        controller["slow_start"] = "hystart"
    queue_bytes = round(RATE_MBPS * 1e6 / 8 * cell.queue_ms / 1e3)
    overrides = {
        "links.path.rate": f"{RATE_MBPS} Mbps",
        "links.path.delay": f"{cell.round_trip_ms / 2} ms",
        "links.path.queue.limit": f"{queue_bytes} B",
        "flows.file.transport.congestion": controller,
        "flows.file.source.size": f"{cell.size_mb} MB",
    }
    completion = leobench.run(SCENARIO, overrides=overrides).summary.flows["file"].completion_s
    if completion is None:
        raise RuntimeError(f"the file of {cell} is not complete after {_LONGEST_S} s")
    return completion


def main() -> None:
    """Prints a row per controller and round trip."""
    program = Path(sys.argv[1])
    print("| controller | round trip (ms) | " + " | ".join(f"{size} MB" for size in SIZES_MB) + " |")
    print("|---|---|" + "---|" * len(SIZES_MB))
    for controller, round_trip_ms in product(CONTROLLERS, ROUND_TRIPS_MS):
        columns = []
        for size in SIZES_MB:
            cells = [Cell(controller, round_trip_ms, size, queue) for queue in QUEUES]
            columns.append(", ".join(f"{ours(cell) / picoquic(program, cell):.2f}" for cell in cells))
        print(f"| {controller} | {round_trip_ms} | " + " | ".join(columns) + " |")


if __name__ == "__main__":
    main()
