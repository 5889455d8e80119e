"""Scores a fit, or any series of round trips or rates, on recordings that it has not seen."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.cli import columns, options, terminal
from leobench.cli.progress import CampaignProgress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from leobench.fitting.score import Score
    from leobench.fitting.series import Quantity, Series

NAME = "score"
HELP = "score a fitted link, or another emulator's output, on recordings that it has not seen"
EXAMPLE = "leobench score fits/roof/roof.fit.json --data sunday.txt --train saturday.txt"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "forecast",
        metavar="FIT|[DIRECTION=]SERIES",
        type=options.text,
        help="a fit (a file by `leobench fit`, or the name of one that ships), or a recording of round trips "
        "or rates, such as another emulator's; a trace of Mahimahi needs `downlink=` or `uplink=`",
    )
    parser.add_argument(
        "--data",
        metavar="[DIRECTION=]FILE",
        nargs="+",
        required=True,
        help="recordings that the fit has not seen; a trace of Mahimahi needs `downlink=` or `uplink=`",
    )
    parser.add_argument(
        "--train",
        metavar="[DIRECTION=]FILE",
        nargs="+",
        default=[],
        help="the recordings that the fit was made from: forecasts without a model are then scored, too",
    )
    parser.add_argument(
        "--out",
        metavar="FOLDER",
        type=Path,
        help="write score.json, score.md and a figure for each statistic",
    )
    parser.add_argument(
        "--flows",
        action="store_true",
        help="also run CUBIC and BBR over the capacity of the fit and over the recorded one (minutes)",
    )
    parser.add_argument("--into", action="store_true", help="write the score into the fit")
    parser.add_argument("--force", action="store_true", help="replace an existing folder")
    parser.add_argument("--json", action="store_true", help="print the scores as JSON")


def main(args: argparse.Namespace) -> int:
    """Scores, writes what is asked for, and prints the table."""
    from leobench import folder
    from leobench.errors import InputError
    from leobench.fitting import fit_files, score_files, seen

    direction, file = _forecast(args.forecast)
    fit = fit_files.read(file) if fit_files.is_fit(file) else None
    if args.into and (fit is None or fit_files.is_shipped(file)):
        raise InputError(f"--into: {file} is not a fit; allowed: a file that `leobench fit` has written")
    if fit is None and args.flows:
        raise InputError(f"--flows: {file} is not a fit; allowed: a file that `leobench fit` has written")
    with ExitStack() as opened:
        partial = None
        if args.out is not None:
            writing = folder.writing(args.out, force=args.force, ours=score_files.is_ours)
            partial = opened.enter_context(writing)
        held, train = _read(args.data), _read(args.train)
        score = _of_series(file, direction, held, train) if fit is None else _of_fit(fit, held, train, args)
        if partial is not None:
            score_files.write(partial, file.name, score)
    if fit is not None and args.into:
        fit_files.write_score(file, score.as_json())
    if args.json:
        terminal.print_json(score.as_json())
    else:
        _print(score)
    warnings = seen.by_name(args.data, args.train) or seen.by_time(held, train)
    for warning in warnings or ([] if fit is None else seen.by_date(fit, held, train)):
        terminal.warn(warning)
    return 0


def _forecast(word: str) -> tuple[Quantity | None, Path]:
    """The direction, if one is named, and the file of a forecast, or the name of a fit that ships."""
    from leobench.errors import InputError
    from leobench.fitting import fit_files, readers

    direction, name = readers.named(word)
    file = options.path(name)
    fit_files.refuse_missing(file)
    if direction is not None and fit_files.is_fit(file):
        raise InputError(f"{word}: a fit has its directions; allowed: {file} without `{direction}=`")
    return direction, file


def _read(words: Sequence[str]) -> list[Series]:
    """The series of recordings; those of one quantity are joined."""
    from leobench.fitting import readers
    from leobench.fitting.series import joined

    found: dict[str, list[Series]] = {}
    for word in words:
        direction, name = readers.named(word)
        for series in readers.read(Path(name), direction):
            found.setdefault(series.quantity, []).append(series)
    return [joined(parts) if len(parts) > 1 else parts[0] for parts in found.values()]


def _of_fit(
    fit: Mapping[str, Any], held: Sequence[Series], train: Sequence[Series], args: argparse.Namespace
) -> Score:
    """The score of a fit, and that of flows over it if they are asked for."""
    from leobench.campaign import Status
    from leobench.fitting import score_flows
    from leobench.fitting.score import score_fit

    score = score_fit(fit, held, train)
    if not args.flows:
        return score
    with CampaignProgress(None, quiet=args.json) as progress:
        rows = score_flows.score(fit, held, train, lambda done, total: progress(Status(done, 0, total, 0)))
    return replace(score, flows=rows)


def _of_series(
    file: Path, direction: Quantity | None, held: Sequence[Series], train: Sequence[Series]
) -> Score:
    """The score of a recording as a forecast of another."""
    from leobench.errors import InputError
    from leobench.fitting import readers
    from leobench.fitting.score import score_series

    given = readers.read(file, direction)
    for forecast in given:
        same = next((each for each in held if each.quantity == forecast.quantity), None)
        if same is not None:
            trained = next((each for each in train if each.quantity == forecast.quantity), None)
            return score_series(forecast, same, trained)
    quantities = ", ".join(each.quantity for each in held)
    raise InputError(f"{file}: has {given[0].quantity}, and the data have {quantities}; allowed: the same")


def _print(score: Score) -> None:
    from leobench.fitting import score_page

    print(f"On {score.data}:\n")
    print(columns.table(score_page.HEAD, score_page.cells(score.rows), score_page.WORDS))
    for quantity, value in score.log_score.items():
        print(f"\n{quantity}: log density of a sample, given those before it: {value:.3f} on average")
    head = (("dependence", ""), ("measured", ""), ("modelled", ""), ("ratio", ""))
    print(f"\n{columns.table(head, score_page.dependence(score), 1)}")
    if score.flows:
        flows = columns.table(score_page.FLOWS_HEAD, score_page.flows(score.flows), score_page.FLOWS_WORDS)
        print(f"\nFlows over the recorded capacity, and over that of the fit:\n\n{flows}")
