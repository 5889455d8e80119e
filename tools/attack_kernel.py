"""The harm of a found path to the kernel's own controller, in real time, beside that to leobench's.

`python -m tools.attack_kernel FOLDER [--controller NAME] [--tries N]` runs the scenario of an attack once
with the TCP of this kernel over the same path. NAME is that of a controller of the kernel; the attacked one
unless given. A run whose clock cannot be trusted does not count, and is repeated N times at most.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from leobench import engine
from leobench.attack import goals, write
from leobench.candidate import Candidate
from leobench.errors import InputError, LeobenchError
from leobench.manifest import INVALID
from leobench.scenario import load

# Controllers that the kernel calls otherwise.
_NAMES = {"newreno": "reno"}


def measure(folder: Path, controller: str | None, tries: int) -> dict[str, object]:
    """The harms to leobench's controller and to the kernel's, or why no run counts.

    Raises:
        InputError: If the folder is not that of an attack, or the kernel has no such controller.
    """
    try:
        attack = json.loads((folder / "attack.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{folder}: is no folder of a finished `leobench attack`") from None
    name = controller or _NAMES.get(attack["controller"], attack["controller"])
    kernel = Candidate.parse(f"kernel:{name}", "tcp")
    measured = goals.GOALS[attack["goal"]].measure
    changes = {"engine": "real", f"flows.{write.VICTIM}.transport": kernel.transport}
    reasons: list[object] = []
    for _ in range(tries):
        ended = engine.run(load(folder / "scenario.toml", None, changes), engine.Recording())
        clock = ended.clock or {}
        if clock.get("verdict") == INVALID:
            reasons.append(clock.get("reasons"))
            continue
        virtual = engine.run(load(folder / "scenario.toml"), engine.Recording())
        return {
            "controller": kernel.name,
            "unit": attack["unit"],
            "leobench": measured(goals.seen(virtual)),
            "kernel": measured(goals.seen(ended)),
        }
    return {"controller": kernel.name, "invalid": reasons}


def main() -> int:
    """Measures and prints JSON; 1 if no run counts, 2 for wrong input."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--controller", metavar="NAME")
    parser.add_argument("--tries", metavar="N", type=int, default=3)
    args = parser.parse_args()
    try:
        found = measure(args.folder, args.controller, args.tries)
    except InputError as error:
        print(f"attack_kernel: {error}", file=sys.stderr)
        return 2
    except LeobenchError as error:
        print(f"attack_kernel: {error}", file=sys.stderr)
        return 1
    print(json.dumps(found, indent=2))
    return 0 if "kernel" in found else 1


if __name__ == "__main__":
    sys.exit(main())
