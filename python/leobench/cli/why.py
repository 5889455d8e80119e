"""Explains why several links carry less than each alone, by runs without one cause after the other.

Runs a flow with several paths over all links and over each alone, under the same seeds, with and without
each of these: flow-control windows, head-of-line blocking, its path scheduler, coupled congestion control,
random losses, handovers and outages. The parts of these causes add up to what is lost (docs/howto/why.md).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from leobench.cli import columns, options, terminal
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    import argparse

    from leobench.attribution import Explanation
    from leobench.stats.estimate import Estimate

NAME = "why"
HELP = "explain what a flow with several paths loses, and to what"
EXAMPLE = "leobench why scenarios/multipath.toml --set flows.upload.transport.connection_window='100 kB'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    options.add_scenario(parser)
    options.add_overrides(parser)
    options.add_seed(parser)
    parser.add_argument(
        "-n", "--seeds", metavar="N", type=options.whole, default=1,
        help="seeds, from --seed on; two or more give intervals (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--flow", metavar="NAME", type=options.text, help="the flow (default: the first with several paths)"
    )
    parser.add_argument(
        "--metric",
        metavar="METRIC",
        type=options.text,
        help="goodput, delay_p95 or delay_mean (default: goodput of bulk data, otherwise delay_p95)",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=options.path, help="folder for why.json and the figure why.png"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing folder of `why`")
    options.add_workers(parser)
    parser.add_argument("--json", action="store_true", help="print what why.json has")
    parser.add_argument("--quiet", action="store_true", help="print no progress and no explanation")


def main(args: argparse.Namespace) -> int:
    """Runs, prints a table and a sentence, and writes the folder."""
    from leobench import api
    from leobench.campaign import Status

    seed = [("seed", args.seed)] if args.seed is not None else []
    started = time.perf_counter()
    with CampaignProgress(None, quiet=args.quiet) as progress:
        explanation = api.why(
            args.scenario,
            overrides=dict([*args.overrides, *seed]),
            flow=args.flow,
            metric=args.metric,
            seeds=args.seeds,
            workers=args.workers,
            out=args.out,
            force=args.force,
            progress=lambda done, total: progress(Status(done, 0, total, 0)),
        )
    if args.json:
        terminal.print_json(explanation.to_dict())
    elif not args.quiet:
        print(render(explanation, time.perf_counter() - started))
        if args.out is not None:
            print(f"\nResults in {args.out}/: why.json, why.png")
    return 0


def render(explanation: Explanation, wall_s: float) -> str:
    """The explanation as a table and a sentence."""
    seeds = explanation.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    head = (
        f"{explanation.scenario}: {explanation.flow} over {', '.join(explanation.links)}, {which}: "
        f"{explanation.measure.label}, {explanation.count} runs in {wall_s:.2f} s"
    )
    each = [
        f"{link} {columns.NONE if value is None else explanation.measure.number(value.value)}"
        for link, value in explanation.each.items()
    ]
    head += f"\nEach link alone, as the scenario is: {', '.join(each)} {explanation.measure.unit}"
    notes = [
        f"{explanation.labels[cause]}: not measured{' in full' if cause in _measured(explanation) else ''}: "
        f"{'; '.join(reasons)}"
        for cause, reasons in explanation.unmeasured.items()
    ]
    said = [
        terminal.on_one_line(terminal.shown(text))
        for text in (explanation.sentence, explanation.advice)
        if text
    ]
    return "\n\n".join([head, _table(explanation), *(["\n".join(notes)] if notes else []), "\n".join(said)])


def _measured(explanation: Explanation) -> set[str]:
    return {part.cause for part in explanation.parts}


def _table(explanation: Explanation) -> str:
    """The yardstick, less the parts, is what was measured."""
    measure, several = explanation.measure, len(explanation.seeds) > 1
    unit = measure.unit
    head = [("", ""), ("", unit)]
    head += [("95 %", "from"), ("", "to")] if several else []
    head += [("one by one", f"too, {unit}"), ("repaired alone", f"regains {unit}")]

    def row(name: str, value: Estimate, *others: Estimate, sign: int = 1) -> list[str]:
        interval = [
            columns.NONE if end is None else measure.number(sign * end) for end in (value.low, value.high)
        ]
        ends = [measure.number(each.value) for each in others] or [columns.NONE] * 2
        return [name, measure.number(sign * value.value), *(interval[::sign] if several else []), *ends]

    every = len(explanation.links)
    yardstick = "the links one by one" if measure.sign > 0 else "the best link alone"
    rows = [row(f"{yardstick}, without all of these", explanation.ideal)]
    lost = -measure.sign
    rows += [row(part.label, part.lost, part.alone, part.regained, sign=lost) for part in explanation.parts]
    rows += [
        [explanation.labels[cause], *[columns.NONE] * (len(head) - 1)]
        for cause in explanation.labels
        if cause not in _measured(explanation)
    ]
    rows.append(row("unexplained", explanation.unexplained, sign=lost))
    rows.append(row(f"measured over {every} links", explanation.measured))
    return columns.table(head, rows, words=1)
