"""The processor's time for TCP over 1,156 satellites, by the rate of links: Fig. 2 of Kassing et al. 2020.

`python -m tools.hypatia_speed [MBPS=SECONDS ...]` prints the numbers of the report on this paper.
As in the authors' scripts (`paper/ns3_experiments/traffic_matrix_load`), every one of 100 cities sends to one
other and receives from it over Kuiper K1, and queues hold ten packets per Mbit/s.
"""

from __future__ import annotations

import argparse
import re
import resource
import tomllib
from typing import TYPE_CHECKING, Any

import leobench
from leobench import papers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FOLDER = papers.paper("hypatia2020").claims.parent
# Mbit/s of every link, and virtual seconds of the run.
RUNS: Mapping[int, float] = {1: 10.0, 10: 10.0, 25: 10.0, 100: 5.0, 250: 2.0, 1000: 0.5}


def scenario(mbps: int, seconds: float) -> dict[str, Any]:
    """The values that the run replaces in `pair.toml`, whose flows are left out."""
    queue = {"kind": "fifo", "limit": f"{10 * mbps} packets"}
    hop = {"rate": f"{mbps} Mbps", "queue": queue}
    tcp = {
        "kind": "tcp", "congestion": "newreno", "mss": "1380 B",
        "receive_buffer": "unlimited", "send_buffer": "unlimited",
    }  # fmt: skip
    return {
        "duration": f"{seconds} s",
        "record.series": False,
        "nodes": {},
        "links": {},
        "flows": {},
        "constellation.terminals": {},
        "constellation.gateways": {},
        "constellation.isl.rate": hop["rate"],
        "constellation.isl.queue": queue,
        "constellation.ground": hop,
        "traffic": {
            "places": cities(),
            "matrix": "pairing",
            "size": "bulk",
            "transport": tcp,
            "link": {"rate": hop["rate"]},
        },
    }


def cities() -> dict[str, dict[str, str]]:
    """The 100 cities of `pairs.toml`."""
    sky = tomllib.loads((FOLDER / "pairs.toml").read_text("utf-8"))["constellation"]
    places: dict[str, dict[str, str]] = {**sky["terminals"], **sky["gateways"]}
    return places


def rows(runs: Mapping[int, float]) -> Iterator[tuple[int, float, float, float]]:
    """Of each run: Mbit/s, virtual seconds, goodput of all flows in Gbit/s, and the processor's seconds."""
    for mbps, seconds in runs.items():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        result = leobench.run(FOLDER / "pair.toml", 1, scenario(mbps, seconds))
        spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
        goodput = result.summary["traffic"]["goodput_bps"]
        yield mbps, seconds, goodput / 1e9, spent


def run(word: str) -> tuple[int, float]:
    """A run as it is written on the command line: Mbit/s and virtual seconds, such as `10=20`."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}=[0-9]{1,3}(\.[0-9]+)?", word):
        raise argparse.ArgumentTypeError(f"{word}: not a run; allowed: Mbit/s=SECONDS, such as 10=20")
    rate, seconds = word.split("=")
    return int(rate), float(seconds)


def main(words: Sequence[str] | None = None) -> None:
    """Prints a row per rate, as soon as it is there."""
    parser = argparse.ArgumentParser(description="processor's time for TCP between 100 cities over Kuiper K1")
    parser.add_argument("runs", nargs="*", type=run, metavar="MBPS=SECONDS", help=f"default: {RUNS}")
    chosen = dict(parser.parse_args(words).runs)
    print("| links, Mbit/s | virtual, s | goodput, Gbit/s | processor, s | processor per virtual second, s |")
    print("|---|---|---|---|---|")
    for mbps, seconds, goodput, spent in rows(chosen or RUNS):
        print(f"| {mbps:,} | {seconds:g} | {goodput:.3f} | {spent:.1f} | {spent / seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
