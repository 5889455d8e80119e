"""Compares the ratios that `make bench` prints with those stored in `ratios.json`.

    python benchmarks/ratios.py target/fast/leobench-bench          # exits 1 if a ratio grew too much
    python benchmarks/ratios.py --write target/fast/leobench-bench  # stores the ratios of this machine
    python benchmarks/ratios.py --from FILE                         # reads the output of an earlier run

Times depend on the machine, ratios of two costs in one run much less. The tolerance of 25 % is wide, so that
it finds a lost optimisation, on any machine, rather than a busy minute.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

BASELINE = Path(__file__).with_name("ratios.json")
TOLERANCE = 0.25

# The name of each part of the output, and how its heading begins.
_PARTS = {
    "engine": "One QUIC connection",
    "memory": "Peak memory",
    "schedulers": "Schedulers alone",
    "two streams": "QUIC: two endless streams",
    "many streams": "QUIC: ten endless streams",
    "coupled": "Two paths, coupled",
    "path schedulers": "Two paths by scheduler",
    "transports": "One bulk transfer",
    "scale": "TCP flows that share",
    "sky": "QUIC flows of 10 Mbit/s",
    "viewers": "Viewers of",
}
_STACK = re.compile(r"stack (\w+)")
# A row's name, which ends at two spaces or at the first number of its own.
_LABEL = re.compile(r"\s*(.+?)(?=\s{2,}|\s+\d+(?:\.\d+)?(?:\s|$))")
_IN_BRACKETS = re.compile(r"\(\s*(\d+\.\d+)[,)]")
_TIMES = re.compile(r"(\d+\.\d+) times ")
_RATIO = re.compile(r"ratio (\d+\.\d+)")
_LAST_COLUMNS = {"engine": -1, "transports": -2}


def ratios(lines: Iterable[str]) -> dict[str, float]:
    """The ratios of the output of `leobench-bench`, by part, row and, of several in a row, their number."""
    found: dict[str, float] = {}
    part = stack = ""
    for line in lines:
        heading = next((name for name, start in _PARTS.items() if line.startswith(start)), None)
        if heading is not None:
            part, stack = heading, ""
            continue
        named = _STACK.match(line)
        if named:
            stack = f"{named[1]}, "
            continue
        values = list(_of_row(part, line))
        label = _LABEL.match(line)
        if not part or label is None:
            continue
        name = "" if part == "memory" else f"/{stack}{label[1]}"
        if part == "transports" and values:
            name = "/" + " ".join(line.split()[:-5])
        for number, value in enumerate(values, 1):
            found[f"{part}{name}{f'/{number}' if len(values) > 1 else ''}"] = value
    return found


def _of_row(part: str, line: str) -> Iterator[float]:
    """The ratios of a row."""
    if part in _LAST_COLUMNS:
        words = line.split()
        if len(words) >= 6 and all(re.fullmatch(r"\d+(\.\d+)?", word) for word in words[-5:]):
            yield float(words[_LAST_COLUMNS[part]])
        return
    for pattern in (_IN_BRACKETS, _TIMES, _RATIO):
        yield from (float(text) for text in pattern.findall(line))


def compared(measured: Mapping[str, float], stored: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """The failures, and the remarks."""
    failed, told = [], []
    for name, before in stored.items():
        now = measured.get(name)
        if now is None:
            failed.append(f"{name}: was not measured; its ratio was {before:.2f}")
        elif now > before * (1 + TOLERANCE):
            failed.append(f"{name}: {now:.2f}, more than {before:.2f} by over {TOLERANCE:.0%}")
        elif now < before * (1 - TOLERANCE):
            told.append(
                f"{name}: {now:.2f}, less than {before:.2f} by over {TOLERANCE:.0%}; store it with --write"
            )
    told += [f"{name}: {measured[name]:.2f} has no stored ratio" for name in measured if name not in stored]
    return failed, told


def output(program: str) -> Iterator[str]:
    """The lines of the benchmark, which are printed as they come."""
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 (a pipe was asked for)
        for line in process.stdout:
            print(line, end="", flush=True)
            yield line.rstrip("\n")
    if process.returncode:
        sys.exit(f"{program}: exit code {process.returncode}")


def main() -> int:
    """Measures, and compares or stores."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("program", nargs="?", help="the benchmark, target/fast/leobench-bench")
    source.add_argument("--from", dest="file", type=Path, help="the output of an earlier run")
    parser.add_argument("--write", action="store_true", help="store the ratios")
    parser.add_argument("--note", default="profile fast", help="how they were measured, stored beside them")
    args = parser.parse_args()
    lines = args.file.read_text("utf-8").splitlines() if args.file else output(args.program)
    measured = ratios(lines)
    if args.write:
        stored = {"tolerance": TOLERANCE, "note": args.note, "ratios": measured}
        BASELINE.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")
        print(f"{BASELINE.name}: {len(measured)} ratios stored")
        return 0
    failed, told = compared(measured, json.loads(BASELINE.read_text("utf-8"))["ratios"])
    for line in [*told, *failed]:
        print(line, file=sys.stderr)
    print(f"{len(measured)} ratios: {len(failed)} beyond the tolerance of {TOLERANCE:.0%}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
