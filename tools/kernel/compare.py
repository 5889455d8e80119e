"""`python -m tools.kernel.compare`: figures of Linux's TCP beside those of leobench's over the same path."""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import Figures, of_leobench, of_linux
from .link import MILLISECOND
from .namespaces import obstacle
from .setups import SETUPS
from .shuttle import LATE_MAX_NS, LATE_P99_NS, carry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .setups import Setup

TRIES = 3
HEADER = ("setup", "figure", "Linux", "leobench", "leobench / Linux")


@dataclass
class Comparison:
    """The runs of one setup, the lateness of the emulation in them, and notes."""

    setup: Setup
    linux: list[Figures] = field(default_factory=list)
    leobench: list[Figures] = field(default_factory=list)
    late_p99_ns: int = 0
    late_max_ns: int = 0
    sysctls: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """A row for every figure that is not zero in all runs."""
        rows = []
        for name in dict.fromkeys(name for run in (*self.linux, *self.leobench) for name in run.figures):
            linux, ours = _values(self.linux, name), _values(self.leobench, name)
            if not any(linux) and not any(ours):
                continue
            base = statistics.mean(linux) if linux and ours else 0
            ratio = f"{statistics.mean(ours) / base:.2f}" if base else "-"
            rows.append((self.setup.title, name, _cell(linux), _cell(ours), ratio))
        return rows

    def others(self) -> str:
        """The counters of Linux without an equivalent in leobench, means over the runs."""
        names = dict.fromkeys(name for run in self.linux for name in run.others)
        means = (
            f"{name} {statistics.mean(run.others.get(name, 0) for run in self.linux):.3g}" for name in names
        )
        return ", ".join(means) or "none"


def _values(runs: Iterable[Figures], name: str) -> list[float]:
    return [run.figures[name] for run in runs if name in run.figures]


def _cell(values: Sequence[float]) -> str:
    """The mean, and the standard deviation of a run where runs differ."""
    if not values:
        return "-"
    mean = f"{statistics.mean(values):.4g}"
    return mean if min(values) == max(values) else f"{mean} ± {statistics.stdev(values):.2g}"


def compare(setup: Setup, seeds: int) -> Comparison:
    """Runs a setup with seeds from 1 on; an unusable run of Linux is repeated up to twice."""
    found = Comparison(setup)
    for seed in range(1, seeds + 1):
        for attempt in range(1, TRIES + 1):
            carried = carry(setup, seed)
            run = of_linux(setup, seed, carried)
            if not run.faults:
                break
            found.notes.append(
                f"{setup.title}, seed {seed}, try {attempt} is not usable: {'; '.join(run.faults)}"
            )
            _say(found.notes[-1])
        else:
            continue
        found.linux.append(run)
        found.leobench.append(of_leobench(setup, seed))
        found.late_p99_ns = max(found.late_p99_ns, carried.late_p99_ns)
        found.late_max_ns = max(found.late_max_ns, carried.late_max_ns)
        found.sysctls = carried.sender["sysctls"]
        _say(f"{setup.title}, seed {seed}: done")
    return found


def _alone(setup: Setup, seeds: int) -> Comparison:
    """Runs a setup with leobench only, with seeds from 1 on."""
    return Comparison(setup, leobench=[of_leobench(setup, seed) for seed in range(1, seeds + 1)])


def _say(line: str) -> None:
    """Reports progress."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def table(rows: Sequence[Sequence[str]], *, markdown: bool) -> str:
    """Rows under their header, as text or Markdown."""
    rows = [HEADER, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    if markdown:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        lines.insert(1, "|" + "---|" * len(HEADER))
    return "\n".join(lines)


def report(found: Sequence[Comparison], *, markdown: bool) -> str:
    """The table and its notes."""
    usable = [comparison for comparison in found if comparison.linux]
    parts = [table([row for comparison in usable for row in comparison.rows()], markdown=markdown), ""]
    bullet = "- " if markdown else ""
    allowed = f"{LATE_P99_NS / MILLISECOND:.0f} ms and {LATE_MAX_NS / MILLISECOND:.0f} ms are allowed"
    parts.append(f"{bullet}Linux {platform.release()}; means over the runs ± standard deviation of a run.")
    for comparison in usable:
        late = (
            f"{comparison.late_p99_ns / MILLISECOND:.2f} ms and {comparison.late_max_ns / MILLISECOND:.1f} ms"
        )
        parts.append(
            f"{bullet}{comparison.setup.title}: {len(comparison.linux)} runs; lateness at most {late}"
            f" (99th percentile and maximum; {allowed}); only in Linux: {comparison.others()}."
        )
    parts += [f"{bullet}{note}." for comparison in found for note in comparison.notes]
    if usable:
        parts.append(
            bullet + ", ".join(f"{name} = {value}" for name, value in usable[0].sysctls.items()) + "."
        )
    return "\n".join(parts) + "\n"


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.kernel.compare", description=__doc__)
    names = list(dict.fromkeys(setup.name for setup in SETUPS))
    parser.add_argument("--scenario", action="append", choices=names, help="only this one; may be repeated")
    parser.add_argument("--congestion", choices=("reno", "cubic"), help="only this controller")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="runs of each (default: 5)")
    parser.add_argument("--markdown", action="store_true", help="a table in Markdown")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report there too")
    parser.add_argument("--alone", action="store_true", help="run leobench only, which needs no root")
    parser.add_argument(
        "--toml", action="store_true", help="print leobench's scenarios instead of running anything"
    )
    arguments = parser.parse_args(words)
    if arguments.seeds < 1:
        parser.error(f"--seeds is {arguments.seeds}; at least 1 is needed")
    return arguments


def main(words: Sequence[str] | None = None) -> int:
    """The command line; 1 if a setup had no usable run, 2 if Linux's TCP cannot be run here."""
    arguments = _arguments(words)
    chosen = [
        setup
        for setup in SETUPS
        if (arguments.scenario is None or setup.name in arguments.scenario)
        and arguments.congestion in (None, setup.congestion)
    ]
    if arguments.toml:
        sys.stdout.write("\n".join(setup.toml() for setup in chosen))
        return 0
    if arguments.alone:
        alone = [row for setup in chosen for row in _alone(setup, arguments.seeds).rows()]
        sys.stdout.write(f"{table(alone, markdown=arguments.markdown)}\n")
        return 0
    if (reason := obstacle()) is not None:
        sys.stderr.write(f"skipped: {reason}\n")
        return 2
    found = [compare(setup, arguments.seeds) for setup in chosen]
    text = report(found, markdown=arguments.markdown)
    sys.stdout.write(text)
    if arguments.out is not None:
        arguments.out.write_text(text, encoding="utf-8")
    return 0 if all(comparison.linux for comparison in found) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
