"""Mutates every shipped scenario and campaign, and shows what leobench does not answer or refuse in one line.

    python tools/mutate/scenarios.py --count 10000 --runs 500 --seed 1

Mutants go through the functions of `leobench check`, `leobench sweep` and `leobench run`; so do hostile
stream schedulers. A violation is anything but an answer, a line that refuses the input (exit code 2) or one
that says why a run failed (exit code 1): another exception, an abort, a message that is long or controls a
terminal, too much time or memory, a folder that is left half-written. Each is printed with the command that
shows it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import hostile
import mutations
from judge import Case, judge
from pool import Bounds, judged

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


class Plan(NamedTuple):
    """How much of each is tried.

    Attributes:
        checks: Mutants that are checked.
        runs: Mutants that are run for a second if they pass their check.
        plugins: Hostile schedulers.
    """

    checks: int
    runs: int
    plugins: int


def cases(plan: Plan, seed: int, folder: Path) -> Iterator[Case]:
    """Yields the cases. Each depends on the seed and its number only, not on how many others there are."""
    scenarios = sorted(folder.glob("scenarios/*.toml"))
    campaigns = sorted(folder.glob("campaigns/*.toml"))
    texts = {file: file.read_text(encoding="utf-8") for file in (*scenarios, *campaigns)}
    for number in range(plan.checks):
        random = Random(f"{seed}/check/{number}")
        base = random.choice(random.choice((scenarios, scenarios, campaigns)))
        kind = "campaign" if base in campaigns else "scenario"
        content = mutations.mutated(texts[base], random)
        yield Case(f"mutant-{seed}-{number:05}", folder, kind, str(base.relative_to(folder)), content)
    for number in range(plan.runs):
        random = Random(f"{seed}/run/{number}")
        base = random.choice(scenarios)
        content = mutations.mutated_tree(texts[base], random)
        yield Case(f"run-{seed}-{number:05}", folder, "run", str(base.relative_to(folder)), content)
    for number, name in enumerate(list(hostile.BODIES)[: plan.plugins]):
        yield Case(f"plugin-{number:02}", folder, "plugin", name, hostile.module(name).encode())


def workspace(folder: Path) -> None:
    """Copies the shipped scenarios and campaigns, whose files mutants name."""
    for part in ("scenarios", "campaigns"):
        shutil.copytree(ROOT / part, folder / part, dirs_exist_ok=True)


def violations(
    plan: Plan, seed: int, folder: Path, bounds: Bounds, *, workers: int = 2
) -> Iterator[tuple[Case, str]]:
    """Every case that leobench does not take as it should, with what is wrong."""
    workspace(folder)
    for number, (case, verdict) in enumerate(judged(cases(plan, seed, folder), judge, bounds, workers), 1):
        if number % 500 == 0:
            print(f"{number} tried", file=sys.stderr)
        if verdict is not None:
            yield case, verdict


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=10_000, help="mutants that are checked")
    parser.add_argument("--runs", type=int, default=500, help="mutants that are run for a second")
    parser.add_argument("--plugins", type=int, default=len(hostile.BODIES), help="hostile schedulers")
    parser.add_argument("--seed", type=int, default=1, help="seed of all mutations")
    parser.add_argument("--seconds", type=float, default=30, help="bound on the time of a case")
    parser.add_argument(
        "--out", type=Path, help="folder for the mutants that are shown; a new one unless given"
    )
    return parser.parse_args()


def main() -> int:
    """Prints every violation; returns 1 if there is any."""
    args = _arguments()
    folder = (args.out or Path(tempfile.mkdtemp(prefix="mutants-"))).absolute()
    plan = Plan(args.count, args.runs, args.plugins)
    kinds: Counter[str] = Counter()
    for case, verdict in violations(plan, args.seed, folder, Bounds(seconds=args.seconds)):
        kinds[case.kind] += 1
        print(f"{case.command}\n    of {case.base}: {verdict}", flush=True)
    found = ", ".join(f"{count} of {kind}" for kind, count in kinds.items()) or "none"
    print(f"seed {args.seed}: {sum(plan)} tried; violations: {found}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
