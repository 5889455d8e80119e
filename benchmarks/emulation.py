"""What an emulated link carries, beside a bare relay between two TUN devices in the same run.

    python benchmarks/emulation.py target/fast/leobench-bench

Takes about 80 seconds (`--seconds`), and needs iperf3, root and `/dev/net/tun`. Each is measured in turn:
what else runs on the machine disturbs them alike.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from leobench import _core, errors
from leobench.emulation import check, hosts, session
from leobench.scenario import load

SCENARIO = """\
name = "benchmark"
duration = "1 h"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "10 Gbps"
delay = "{delay}"
queue = {{ kind = "fifo", limit = "10000 packets" }}

[flows.main]
transport = {{ kind = "udp" }}
from = "client"
to = "server"
source = {{ kind = "cbr", rate = "1 Mbps", size = "1000 B" }}
"""
SETTINGS = session.Settings(lateness=10.0, stall=10.0)


class Relay:
    """The bare relay, in the place of `leobench._core.Emulation`."""

    program: list[str]

    def __init__(self, _: object, devices: Any, *__: object) -> None:
        self.devices = [made[0][1] for _, made in devices]

    def run(self, _: float) -> tuple[str, str]:
        """Relays for the time that the program was given."""
        # As the driver's thread, but for what it starts, too.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        said = subprocess.run(
            self.program,
            stdin=self.devices[0],
            stdout=self.devices[1],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        told = json.loads(said.stderr)
        return "{}", json.dumps(
            {"packets_in": told["packets"], "driver_cpu_s": told["cpu_s"], "driver_spin_s": 0}
        )

    def stop(self, *_: object) -> None:
        """Does nothing: it ends by itself."""


def measure(folder: Path, engine: type, options: str, *, delay: str = "100 us") -> dict[str, Any]:
    """One run of iperf3: what it says at its end, and the verdict."""
    path = folder / "scenario.toml"
    path.write_text(SCENARIO.format(delay=delay), encoding="utf-8")
    said = folder / "said.json"
    said.unlink(missing_ok=True)
    programs = [
        session.Program("server", ("iperf3", "--server", "--one-off", "--logfile", "/dev/null")),
        session.Program(
            "client",
            tuple(f"iperf3 --client server --json --get-server-output --logfile {said} {options}".split()),
        ),
    ]
    is_relay = engine is Relay
    kept = _core.Emulation, hosts.OFFLOADS
    _core.Emulation = engine  # type: ignore[misc,assignment]
    hosts.OFFLOADS = not is_relay
    try:
        ended = session.run(load(path, None, {}), programs, SETTINGS, None)
    finally:
        _core.Emulation, hosts.OFFLOADS = kept  # type: ignore[misc]
    return {**json.loads(said.read_text(encoding="utf-8"))["end"], "verdict": ended.verdict}


def figures(said: dict[str, Any]) -> dict[str, float]:
    """Rate, loss and what the network cost."""
    verdict = said["verdict"]
    total = said["sum"] if "sum" in said else said["sum_received"]
    received = said.get("sum_received", total)
    lost = total.get("lost_percent", 0.0)
    rate = received["bits_per_second"] * (1 if "sum_received" in said else 1 - lost / 100)
    packets = verdict["packets_in"]
    return {
        "Mbit/s": rate / 1e6,
        "lost %": lost,
        "packets/s": packets / total["seconds"],
        "CPU us/packet": (verdict["driver_cpu_s"] - verdict["driver_spin_s"]) * 1e6 / max(packets, 1),
        "queue": verdict.get("device_queue_peak", 0),
        "overruns": verdict.get("ring_overruns", 0),
        "late p99 ms": (verdict.get("lateness_ms") or {"p99": 0})["p99"],
    }


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("bench", type=Path, help="the program leobench-bench, which has the relay")
    parser.add_argument("--seconds", type=int, default=4, help="per run (default: 4)")
    parser.add_argument("--rounds", type=int, default=3, help="how often (default: 3)")
    parser.add_argument("--only", default="", help="only what starts so: TCP, UDP")
    args = parser.parse_args()
    try:
        check.check_machine()
    except errors.InputError as error:
        print(f"emulated link: not measured: {error}")
        return 0
    if shutil.which("iperf3") is None:
        print("emulated link: not measured: iperf3 is not installed")
        return 0
    Relay.program = [str(args.bench.resolve()), "relay", str(args.seconds + 1.5)]
    loads = {
        "TCP": "-C cubic",
        "UDP 600 Mbit/s": "-u -w 2M -l 1400 -b 600M",
        "UDP 1 Gbit/s": "-u -w 2M -l 1400 -b 1G",
    }
    loads = {name: load for name, load in loads.items() if name.startswith(args.only)}
    engines = {"relay": Relay, "link": _core.Emulation}
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for load_name, options in loads.items():
                for name, engine in engines.items():
                    said = measure(Path(folder), engine, f"{options} --time {args.seconds}")
                    rows.setdefault((load_name, name), []).append(figures(said))
    columns = next(iter(rows.values()))[0].keys()
    print(f"Medians of {args.rounds} runs of {args.seconds} s; relay: two TUN devices, read and write")
    print(f"{'':22}" + "".join(f"{column:>15}" for column in columns))
    for (load_name, name), measured in rows.items():
        medians = [statistics.median(row[column] for row in measured) for column in columns]
        print(f"{load_name:15}{name:7}" + "".join(f"{median:15,.3f}" for median in medians))
    for load_name in loads:
        rates = {name: statistics.median(row["Mbit/s"] for row in rows[load_name, name]) for name in engines}
        print(f"{load_name}: {rates['link'] / rates['relay']:.2f} of the bare relay")
    return 0


if __name__ == "__main__":
    sys.exit(main())
