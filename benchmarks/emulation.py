"""Benchmarks an emulated link against a bare relay between two TUN devices in the same run.

    python benchmarks/emulation.py target/fast/leobench-bench

Takes about two minutes (`--seconds`, `--rounds`), and needs iperf3, ping, root and `/dev/net/tun`. Without
a program for the relay, only the link is measured. Link and relay are measured in turn, so that other load on
the machine disturbs both alike. The programs have precedence over other processes.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import _core, errors
from leobench.emulation import check, hosts, kernel, session
from leobench.emulation.programs import Program
from leobench.engine import Recording
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = """\
name = "benchmark"
duration = "1 h"
"""
LINK = """\
[nodes.client{number}]
[nodes.server{number}]

[links.path{number}]
between = ["client{number}", "server{number}"]
rate = "{rate}"
delay = "{delay}"
queue = {{ kind = "fifo", limit = "{limit}" }}
"""
FASTEST = {"rate": "10 Gbps", "delay": "100 us", "limit": "10000 packets"}
DATAGRAMS = Path(__file__).with_name("datagrams.py")


class Relay:
    """The bare relay, in the place of `leobench._core.Emulation`."""

    program: list[str]

    def __init__(self, _: object, made: Any, *__: object) -> None:
        self.devices = [attached[0][1] for _, attached, _ in made]
        self.networks = [network for _, _, network in made]

    def run(self, _: float) -> tuple[str, str, dict[str, Any], str]:
        """Relays for the time that the program was given."""
        # As the driver's thread, but for what it starts, too.
        with contextlib.suppress(PermissionError):
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
        verdict = {"packets_in": told["packets"], "driver_cpu_s": told["cpu_s"], "driver_spin_s": 0}
        verdict["ring_overruns"] = sum(self._lost(network, "dev") for network in self.networks)
        verdict["socket_overruns"] = sum(self._lost(network, "snmp") for network in self.networks)
        return "{}", json.dumps(verdict), {}, "[]"

    def _lost(self, network: int, file: str) -> int:
        kernel.enter(network)
        text = Path(f"/proc/thread-self/net/{file}").read_text("ascii")
        if file == "dev":
            return sum(int(line.rpartition(":")[2].split()[11]) for line in text.splitlines()[2:])
        names, figures = (line.split() for line in text.splitlines() if line.startswith("Udp: "))
        return int(figures[names.index("RcvbufErrors")])

    def stop(self, *_: object) -> None:
        """Does nothing: it ends by itself."""


@dataclass(frozen=True)
class Load:
    """A load that programs put on the link.

    Attributes:
        name: Its name.
        programs: By the folder that they write to and the seconds.
        read: Reads the programs' results, by the folder and the seconds.
        link: The properties of each link.
        links: How many links there are, each between two hosts of its own.
    """

    name: str
    programs: Callable[[Path, int], list[Program]]
    read: Callable[[Path, int], dict[str, float]]
    link: dict[str, str]
    links: int = 1

    def scenario(self) -> str:
        """The text of the scenario."""
        numbers = range(self.links) if self.links > 1 else [""]
        return HEAD + "".join(LINK.format(number=number, **self.link) for number in numbers)


def by_iperf(name: str, options: str, **link: str) -> Load:
    """Iperf3 with these options."""

    def programs(folder: Path, seconds: int) -> list[Program]:
        # Its server loses datagrams while it begins: the first second does not count.
        client = f"iperf3 --client server --json --get-server-output --omit 1 --time {seconds} {options}"
        words = (*client.split(), "--logfile", f"{folder}/iperf")
        server = ("iperf3", "--server", "--one-off", "--logfile", "/dev/null")
        return [Program("server", server), Program("client", words)]

    def read(folder: Path, _: int) -> dict[str, float]:
        end = json.loads((folder / "iperf").read_text(encoding="utf-8"))["end"]
        total = end["sum"] if "sum" in end else end["sum_received"]
        received = end.get("sum_received", total)
        lost = total.get("lost_percent", 0.0)
        rate = received["bits_per_second"] * (1 if "sum_received" in end else 1 - lost / 100)
        cpu = end["cpu_utilization_percent"]
        programs = cpu["host_total"] + cpu["remote_total"]
        return {"Mbit/s": rate / 1e6, "lost %": lost, "programs %": programs, "seconds": total["seconds"] + 1}

    return Load(name, programs, read, {**FASTEST, **link})


def by_datagrams(rate: int) -> Load:
    """Datagrams of which 40 are sent at once, at a rate in Mbit/s."""

    def programs(folder: Path, seconds: int) -> list[Program]:
        own = (sys.executable, str(DATAGRAMS))
        sender = Program("client", (*own, "send", "server", str(rate), str(seconds)))
        return [sender, Program("server", (*own, "receive", str(folder / "received")))]

    def read(folder: Path, seconds: int) -> dict[str, float]:
        said = json.loads((folder / "received").read_text(encoding="utf-8"))
        sent = -(-rate * 1e6 * seconds // (1_400 * 40 * 8)) * 40
        lost = (1 - said["datagrams"] / sent) * 100
        goodput = said["datagrams"] * 1_400 * 8 / said["seconds"] / 1e6
        return {"Mbit/s": goodput, "lost %": lost, "programs %": float("nan"), "seconds": said["seconds"]}

    return Load(f"UDP GSO {rate / 1e3:g} Gbit/s", programs, read, FASTEST)


def by_links(count: int, rate: str, **link: str) -> Load:
    """As many links, each with iperf3 over TCP."""

    def programs(folder: Path, seconds: int) -> list[Program]:
        servers = [
            Program(f"server{number}", ("iperf3", "--server", "--one-off", "--logfile", "/dev/null"))
            for number in range(count)
        ]
        # One after the other, as 20 programs that start or end at once wait for each other. The main one, the
        # last, starts later by itself.
        waits = [f"{0.5 + 0.05 * number - 0.25 * (number == count - 1):.2f}" for number in range(count)]
        clients = []
        for number, wait in enumerate(waits):
            client = f"iperf3 --client server{number} --json -C cubic --time {seconds}"
            words = f"sleep {wait}; exec {client} --logfile {shlex.quote(str(folder))}/iperf{number}"
            clients.append(Program(f"client{number}", ("sh", "-c", words)))
        return [*servers, *clients]

    def read(folder: Path, _: int) -> dict[str, float]:
        files = [folder / f"iperf{number}" for number in range(count)]
        ends = [json.loads(file.read_text(encoding="utf-8"))["end"] for file in files]
        total = sum(end["sum_received"]["bits_per_second"] for end in ends)
        seconds = max(end["sum_received"]["seconds"] for end in ends)
        cpu = [end["cpu_utilization_percent"] for end in ends]
        programs = sum(each["host_total"] + each["remote_total"] for each in cpu)
        return {"Mbit/s": total / 1e6, "lost %": 0.0, "programs %": programs, "seconds": seconds}

    return Load(f"{count} x {rate}", programs, read, {"rate": rate, **link}, count)


LOADS = [
    by_iperf("TCP", "-C cubic"),
    by_iperf("TCP at 1.4 Gbit/s", "-C cubic", rate="1.4 Gbps", delay="1 ms", limit="1000 packets"),
    by_iperf("TCP at 4 Gbit/s", "-C cubic", rate="4 Gbps", delay="1 ms", limit="3000 packets"),
    by_iperf("UDP 1 Gbit/s", "-u -w 4M -l 1400 -b 1G"),
    by_datagrams(1_000),
    by_datagrams(1_500),
    by_datagrams(2_000),
    by_links(20, "20 Mbps", delay="10 ms", limit="100 packets"),
    by_links(20, "50 Mbps", delay="10 ms", limit="100 packets"),
]


def run(folder: Path, engine: type, load_: Load, programs: list[Program]) -> dict[str, Any]:
    """Runs programs over the link or the relay: the verdict."""
    path = folder / "scenario.toml"
    path.write_text(load_.scenario(), encoding="utf-8")
    scenario = load(path, None, {}, flows="unused")
    kept = _core.Emulation, hosts.OFFLOADS
    _core.Emulation = engine  # type: ignore[misc,assignment]
    hosts.OFFLOADS = hosts.Offloads.NONE if engine is Relay else hosts.OFFLOADS
    try:
        return session.run(scenario, programs, session.Settings.of(scenario), Recording()).verdict
    finally:
        _core.Emulation, hosts.OFFLOADS = kept  # type: ignore[misc]


def measure(engine: type, load_: Load, seconds: int) -> dict[str, float]:
    """One run: rate, losses and where they were, and what the network cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        verdict = run(folder, engine, load_, load_.programs(folder, seconds))
        said = load_.read(folder, seconds)
    packets = verdict["packets_in"]
    cpu = verdict["driver_cpu_s"] - verdict["driver_spin_s"]
    return {
        "Mbit/s": said["Mbit/s"],
        "lost %": said["lost %"],
        "in device": verdict["ring_overruns"],
        "in socket": verdict["socket_overruns"],
        "packets/s": packets / said["seconds"],
        "us/packet": cpu * 1e6 / max(packets, 1),
        "cpu %": cpu * 100 / said["seconds"],
        "programs %": said["programs %"],
        "queue": verdict.get("device_queue_peak", float("nan")),
        "wait ms": (verdict.get("device_wait_ms") or {"p99": float("nan")})["p99"],
        "late ms": (verdict.get("lateness_ms") or {"p99": float("nan")})["p99"],
        "waited %": verdict.get("programs_waited", float("nan")) * 100,
        "valid": float(verdict.get("verdict") == "valid") if engine is not Relay else float("nan"),
    }


def added_delay() -> float:
    """Milliseconds by which a round trip over a link of 20 ms each way takes longer, at the mean of 200."""
    words = ("ping", "-q", "-c", "200", "-i", "0.01", "server")
    with tempfile.TemporaryDirectory() as name:
        output = Path(name) / "ping"
        program = Program("client", ("sh", "-c", f"{shlex.join(words)} > {shlex.quote(str(output))}"))
        ping = Load("ping", lambda *_: [], lambda *_: {}, {**FASTEST, "delay": "20 ms"})
        run(Path(name), _core.Emulation, ping, [program])
        found = re.search(r"= [0-9.]+/([0-9.]+)/", output.read_text(encoding="ascii"))
    return float(found[1]) - 40 if found else float("nan")


@contextlib.contextmanager
def precedence(group: Path = Path("/proc/self/autogroup")) -> Iterator[None]:
    """Lets this process, and the programs that it starts, go before others, where that is allowed.

    Linux may share processors among sessions first, and by priority only within each: a session has a file
    `group` for its priority, which is empty where the process belongs to none (sched(7), autogroups).
    """
    if os.geteuid() != 0:
        yield
        return
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        told = group.read_text("ascii").strip() if group.exists() else ""
        if told:
            group.write_text("-20", "ascii")
    except PermissionError:
        told = ""  # in a container, root may lack the right
    if not told:
        yield
        return
    try:
        yield
    finally:
        group.write_text(re.sub(r".* nice ", "", told), "ascii")


def show(rows: dict[tuple[str, str], list[dict[str, float]]]) -> None:
    """Prints the medians of runs, and how the link compares with the relay."""
    columns = next(iter(rows.values()))[0].keys()
    print(f"{'':25}" + "".join(f"{column:>11}" for column in columns))
    for (load_name, name), measured in rows.items():
        medians = [statistics.median(row[column] for row in measured) for column in columns]
        shown = (f"{median:11,.0f}" if abs(median) >= 100 else f"{median:11,.3g}" for median in medians)
        print(f"{load_name:19}{name:6}" + "".join(shown).replace("nan", "  -"))
    for load_name, name in rows:
        if name == "relay":
            rates = [[row["Mbit/s"] for row in rows[load_name, each]] for each in ("link", "relay")]
            ratio = statistics.median(rates[0]) / statistics.median(rates[1])
            print(f"{load_name}: {ratio:.2f} of the bare relay")


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("bench", type=Path, nargs="?", help="the program leobench-bench, which has the relay")
    parser.add_argument("--seconds", type=int, default=3, help="per run (default: 3)")
    parser.add_argument("--rounds", type=int, default=3, help="how often (default: 3)")
    parser.add_argument("--only", default="", help="only what starts so: TCP, UDP, ...")
    args = parser.parse_args()
    try:
        check.check_machine()
    except errors.InputError as error:
        print(f"emulated link: not measured: {error}")
        return 0
    for program in ("iperf3", "ping"):
        if shutil.which(program) is None:
            print(f"emulated link: not measured: {program} is not installed")
            return 0
    engines: dict[str, type] = {"link": _core.Emulation}
    if args.bench is not None:
        Relay.program = [str(args.bench.resolve()), "relay", str(args.seconds + 3)]
        engines = {"relay": Relay, **engines}
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    # What the link is slower than the relay at on purpose is not compared.
    runs = [
        (load_, name, engine)
        for load_ in LOADS
        for name, engine in engines.items()
        if load_.name.startswith(args.only) and (engine is not Relay or load_.link == FASTEST)
    ]
    with precedence():
        for load_, name, engine in runs * args.rounds:
            rows.setdefault((load_.name, name), []).append(measure(engine, load_, args.seconds))
        ping = added_delay()
    print(f"Medians of {args.rounds} runs of {args.seconds} s; relay: two TUN devices, read and write")
    show(rows)
    print(f"ping over 40 ms: {ping:+.3f} ms at the mean")
    return 0


if __name__ == "__main__":
    sys.exit(main())
