"""Fig. 5 of Khan et al. 2023 in real time: quic-go and the kernel's TCP beside virtual time.

    python examples/khan2023_fig5.py --out results/khan2023-fig5-real

A client sends messages of 1000 bytes by blocking writes through the satellite link of the figure, over
quic-go with its own defaults, or over the kernel's TCP. Then the same campaign runs in virtual time, under
the same seeds and so over the same channels, with leobench's models of both, and the claims of the paper are
judged by each. `--out` has two campaigns, `real` and `virtual`, and `claims.md`. It needs Go.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import real_runs

import leobench
from leobench.papers import claims, findings_text, khan2023, verdicts, words
from leobench.papers.khan2023 import figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leobench.campaign import CampaignResult, Status
    from leobench.papers.readings import Reading
    from leobench.papers.verdicts import Finding

CAMPAIGN = Path(__file__).with_suffix(".toml")
# The reading whose delay is that of messages, instead of the wait before the link.
MESSAGES = "blocking"
_UNITS = {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "ms": 1e-3, "s": 1.0, "min": 60.0}
_CONFIDENCE = 0.95


def commands(program: Path, spec: Mapping[str, Any]) -> real_runs.Commands:
    """Who sends, and who receives."""
    (flow,) = spec["flows"].values()
    protocol = flow["transport"]["kind"]
    rate, seconds = quantity(flow["source"]["rate"]), quantity(spec["duration"])
    # CUBIC is Linux's own default; a machine may be set to another one.
    sends = "tcp/cubic" if protocol == "tcp" else protocol
    load = f"{program} load {sends} {flow['to']}:4433 {rate:.0f} {seconds:g} {flow['streams']}"
    return real_runs.Commands(
        other=(flow["to"], f"{program} sink {protocol} [::]:4433"), main=(flow["from"], load)
    )


def quantity(text: str) -> float:
    """A quantity of a scenario in bits per second, or in seconds."""
    number, unit = text.split()
    return float(number) * _UNITS[unit]


def measure(said: dict[str, Any]) -> dict[str, Any]:
    """What the program says of its messages."""
    return {
        "goodput_bps": said["goodput_mbps"] * 1e6,
        "delay_ms": said["delay_ms"],
        "messages": said["messages"],
    }


def judged(result: CampaignResult) -> list[tuple[str, Finding]]:
    """The claims about the figure, as written and by the delay of messages."""
    runs = words.rename(result.runs, figures.WORDS)
    found = []
    for claim in claims.read(khan2023.PAPER.claims):
        if claim.figure != "fig5":
            continue
        is_delay = claim.unit == "ms"
        found += [
            ("wait" if is_delay else "goodput", each) for each in verdicts.judge([claim], runs, _CONFIDENCE)
        ]
        if is_delay:
            reading = next(each for each in known_readings() if each.id == MESSAGES)
            again = verdicts.judge_reading(claim, reading, runs, _CONFIDENCE)
            found += [("messages", each) for each in again]
    return found


def known_readings() -> list[Reading]:
    """The readings of the paper's claims."""
    return [reading for claim in claims.read(khan2023.PAPER.claims) for reading in claim.readings]


def markdown(real: CampaignResult, virtual: CampaignResult) -> str:
    """The verdicts of both, as a table."""
    lines = [
        "| claim | of | case | must be | real: means | statistic | verdict | virtual: statistic | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (of, finding), (_, other) in zip(judged(real), judged(virtual), strict=True):
        means, statistic, must, verdict = cells(finding)
        _, beside, _, modelled = cells(other)
        row = [finding.claim.id, of, finding.case, must, means, statistic, verdict, beside, modelled]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def cells(finding: Finding) -> list[str]:
    """Means, statistic with its interval, what that must be, and the verdict."""
    return list(findings_text.rows([finding])[0][2:])


def main() -> int:
    """Runs both campaigns and prints the verdicts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--campaign", type=Path, default=CAMPAIGN, help="another one like that beside this script"
    )
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--force", action="store_true")
    args = parser.parse_args()
    again = {"resume": args.resume, "force": args.force}
    with tempfile.TemporaryDirectory() as folder:
        program = real_runs.build_go("quic_go", Path(folder))
        executor = real_runs.RealTime(partial(commands, program), measure)
        real = leobench.sweep(args.campaign, args.out / "real", executor, **again, progress=report)
    virtual = leobench.sweep(args.campaign, args.out / "virtual", workers=1, **again)
    text = markdown(real, virtual)
    (args.out / "claims.md").write_text(text, encoding="utf-8")
    print(text)
    failures = [*real.failures["error"], *virtual.failures["error"]]
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def report(status: Status) -> None:
    """Says how far the runs are."""
    print(f"{status.done} of {status.total} runs, {status.failed} failed", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(real_runs.told(main))
