"""Shapers on a router before a link whose rate varies: what each does to delay and goodput.

    python examples/shapers.py --out results/shapers

Each run is a transfer over TCP from or to a LAN, with pings beside it (`under_load.py`), behind `router.sh`:
without a shaper, with two static rates, and with `autorate.py` by round trips and by one-way delays.
Replicate k begins 3 (k - 1) s after the trace, in all cases. A run whose clock cannot be trusted is repeated.
Prints a table of means over replicates with 95 % intervals; each run is a line of `runs.jsonl` there.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import real_runs

from leobench.data_files import absolute
from leobench.emulation import ends
from leobench.errors import InputError
from leobench.scenario import load
from leobench.stats import mean_intervals, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
COLUMNS = ("p50_ms", "p95_ms", "p99_ms", "lost_percent", "goodput_mbps")
_DIRECTIONS = ("download", "upload")
_KEYS = ("replicate", "direction", "router")
_STAGGER_S, _ATTEMPTS = 3, 20


def routers(args: argparse.Namespace) -> dict[str, str]:
    """The commands of the routers, by what they do."""
    script, low, high = f"env PYTHON={shlex.quote(sys.executable)} {HERE / 'router.sh'}", args.low, args.high
    adaptive = f"{script} {low} {low}"
    adaptive += "".join(f" --{way} {args.minimum} {low} {high}" for way in ("up", "down"))
    return {
        "no shaper": "true",
        f"static, {args.mean} Mbit/s": f"{script} {args.mean} {args.mean}",
        f"static, {low} Mbit/s": f"{script} {low} {low}",
        "autorate, round trips": f"{adaptive} server",
        "autorate, one-way delays": f"{adaptive} --one-way server",
    }


def run(
    args: argparse.Namespace, spec: dict[str, Any], router: str, direction: str, begin: int
) -> dict[str, float]:
    """The numbers of a run."""
    # Without packages, Python starts with less work for the processors.
    loaded = [sys.executable, "-I", "-S", str(HERE / "under_load.py"), "server"]
    loaded += ["--seconds", str(args.seconds), "--after", str(begin)]
    loaded += ["--reverse"] if direction == "download" else []
    server = (ends.of_resolved(spec).far, "iperf3 --server --one-off --logfile /dev/null")
    words = ["emulate", "--settle", str(real_runs.SETTLE_MS), "--busy", str(args.busy), "--router", router]
    words += ["--on", *server, "--host", "lan", "--", *loaded]
    printed, _ = real_runs.valid_run(spec, words, _ATTEMPTS)
    said = json.loads(printed)
    times = said["round_trips_ms"]
    delays = {f"p{percent}_ms": quantile(times, percent / 100) for percent in (50, 95, 99)}
    lost = 100 * said["lost"] / (said["lost"] + len(times))
    return delays | {"lost_percent": lost, "goodput_mbps": said["goodput_bps"] / 1e6}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The means in Markdown."""
    frame = pl.DataFrame(rows)
    by = ["direction", "router"]
    lines = [f"| {' | '.join([*by, *COLUMNS])} |", "|---" * (len(by) + len(COLUMNS)) + "|"]
    for (direction, router), members in frame.group_by(by, maintain_order=True):
        cells = [str(direction), str(router)]
        for column in COLUMNS:
            (made,) = mean_intervals(members, [], column).iter_rows(named=True)
            bounds = "" if made["low"] is None else f" [{made['low']:.3g}, {made['high']:.3g}]"
            cells.append(f"{made['mean']:.3g}{bounds}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Runs all cases in turn, so that what the machine does meanwhile meets all of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenario", type=Path, default=HERE.parent / "scenarios" / "trace.toml")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--resume", action="store_true", help="go on where an earlier command stopped")
    parser.add_argument("--replicates", type=int, default=5)
    parser.add_argument("--directions", nargs="+", choices=_DIRECTIONS, default=list(_DIRECTIONS))
    parser.add_argument("--seconds", type=int, default=30, help="of a transfer (default: the trace's length)")
    for name, rate, what in (
        ("mean", "4.4", "a static rate, the mean of the link's"),
        ("low", "2.8", "a static rate near the link's lowest, and the base of the adaptive one"),
        ("minimum", "2", "the least that the adaptive rate may be"),
        ("high", "6", "the most"),
    ):
        parser.add_argument(f"--{name}", default=rate, help=f"{what}, in Mbit/s (default: {rate})")
    parser.add_argument("--busy", type=float, default=0.95, help="as for `leobench emulate` (default: 0.95)")
    args = parser.parse_args()
    # A scenario from another folder needs the whole paths of its files.
    spec = absolute(json.loads(load(args.scenario).to_json()), args.scenario.parent)
    file = args.out / "runs.jsonl"
    if file.exists() and not args.resume:
        raise InputError(f"{file}: exists; allowed: another folder, or --resume")
    args.out.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {tuple(row[key] for key in _KEYS) for row in rows}
    for replicate in range(args.replicates):
        for direction in args.directions:
            for name, router in routers(args).items():
                key = (replicate + 1, direction, name)
                if key in done:
                    continue
                begin = _STAGGER_S * replicate
                numbers = run(args, spec, router, direction, begin)
                rows.append(dict(zip(_KEYS, key, strict=True)) | numbers)
                with file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(rows[-1]) + "\n")
    rows.sort(key=lambda row: row["direction"])
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(real_runs.told(main))
