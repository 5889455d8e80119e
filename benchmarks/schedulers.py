"""Processor time per data packet of the stream schedulers of the guide, beside one that is built in.

python benchmarks/schedulers.py
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path

import leobench

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "howto" / "python-schedulers.md"
SCHEDULERS = {
    "rr": "rr",
    "First": {"python": "first:First"},
    "Shortest": {"python": "shortest:Shortest"},
    "InTime": {"python": "in_time:InTime"},
    "Rounds": {"python": "rounds:Rounds"},
}


def files(folder: Path) -> None:
    """Writes the files of the guide's page, each named by its first line."""
    page = GUIDE.read_text(encoding="utf-8")
    for block in re.findall(r"^```(?:toml|python)\n(# \w+\.\w+\n.*?)^```", page, re.DOTALL | re.MULTILINE):
        (folder / block.partition("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")


def main() -> None:
    """Prints a row for each scheduler."""
    seconds = os.environ.get("LEOBENCH_SECONDS", "600")
    with tempfile.TemporaryDirectory() as folder:
        files(Path(folder))
        for name, scheduler in SCHEDULERS.items():
            overrides = {"duration": f"{seconds} s", "flows.call.transport.scheduler": scheduler}
            started = time.process_time()
            (flow,) = leobench.run(Path(folder) / "call.toml", overrides=overrides).summary["flows"]
            used = time.process_time() - started
            print(f"{name:10} {used / flow['sent_packets'] * 1e6:.1f} us")


if __name__ == "__main__":
    main()
