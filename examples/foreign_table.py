"""The table of `foreign.py`: a row per program, with the means of every variant and their intervals.

`markdown` makes it of the campaign folders, by the columns and the intervals of `leobench table`. Programs
meet the same channel in the same replicate, and so do two variants: their difference is that of pairs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from leobench import means, stats
from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.campaign import CampaignResult
    from leobench.stats import Estimate

GOODPUT, COMPLETION, QUEUE, OTHERWISE = (
    "goodput_bps",
    "completion_s",
    "dropped at queues",
    "dropped otherwise",
)
NOTHING = "-"
_LEAST_PAIRS = 2


class _Column(means.Column):
    """A column whose cells have the decimals of their own intervals: losses differ a hundredfold."""

    def cells(self, plus_minus: str = "±", *, grouped: bool = False) -> list[str]:
        """The means with their intervals as text."""
        alone = [
            means.Column(self.metric, self.name, self.unit, self.divisor, [estimate])
            for estimate in self.estimates
        ]
        return [text for column in alone for text in column.cells(plus_minus, grouped=grouped)]


def markdown(results: Mapping[str, CampaignResult], controllers: Mapping[str, str]) -> str:
    """The table.

    Args:
        results: Finished campaigns by program, all of the same variants.
        controllers: How each program controls congestion; that of the scenario where empty.

    Raises:
        InputError: If the campaigns have other variants than each other.
    """
    variants = _variants(results)
    programs = list(results)
    runs = pl.concat([_values(program, result) for program, result in results.items()])
    columns: list[means.Column] = []
    for metric in (GOODPUT, COMPLETION):
        columns += _by_variant(runs, programs, variants, metric)
    if len(variants) == 2:
        columns.append(_difference(runs, programs, variants))
    columns += _by_variant(runs, programs, variants, QUEUE)
    notes = [means.about(columns)]
    if runs.filter(pl.col("metric") == OTHERWISE)["value"].sum() == 0:
        notes.append("No packet was dropped but by a queue.")
    else:
        columns += _by_variant(runs, programs, variants, OTHERWISE)
    rows = [
        [program, controllers[program] or _of_scenario(results[program]), _invalid(results[program])]
        for program in programs
    ]
    table = means.MeansTable(
        ["program", "congestion control", "invalid runs, repeated"], rows, columns, notes
    )
    return means.as_markdown(table)


def _variants(results: Mapping[str, CampaignResult]) -> list[str]:
    """The names of the variants, which all campaigns share."""
    names = {
        program: [variant["name"] for variant in result.manifest["identity"]["variants"]]
        for program, result in results.items()
    }
    first = next(iter(names.values()))
    for program, others in names.items():
        if others != first:
            raise InputError(f"{program}: has the variants {', '.join(others)}; allowed: {', '.join(first)}")
    return first


def _records(result: CampaignResult) -> list[dict[str, Any]]:
    """The stored runs that did not fail."""
    files = sorted((result.folder / "runs").glob("*.json"))
    records = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    return [record for record in records if record["summary"] is not None]


def _values(program: str, result: CampaignResult) -> pl.DataFrame:
    """A row per run and metric of the table."""
    rows = []
    for record in _records(result):
        (flow,) = record["summary"]["flows"]
        drops = [link["dropped_packets"] for link in record["summary"]["links"]]
        queue = sum(each["queue"] for each in drops)
        values = {
            GOODPUT: flow["goodput_bps"],
            COMPLETION: flow["completion_s"],
            QUEUE: queue,
            OTHERWISE: sum(sum(each.values()) for each in drops) - queue,
        }
        rows += [
            (program, record["variant"], record["replicate"], metric, value)
            for metric, value in values.items()
        ]
    names = {
        "program": pl.String,
        "variant": pl.String,
        "replicate": pl.Int64,
        "metric": pl.String,
        "value": pl.Float64,
    }
    return pl.DataFrame(rows, names, orient="row", strict=False)


def _by_variant(
    runs: pl.DataFrame, programs: Sequence[str], variants: Sequence[str], metric: str
) -> list[means.Column]:
    """A column per variant, with a row per program."""
    made = []
    for variant in variants:
        of = runs.filter(pl.col("variant") == variant).select("metric", "value", variant="program")
        (column,) = means.of_frame(of, programs, [metric])
        name = f"{column.name}, {variant}"
        made.append(_Column(column.metric, name, column.unit, column.divisor, column.estimates))
    return made


def _difference(runs: pl.DataFrame, programs: Sequence[str], variants: Sequence[str]) -> means.Column:
    """The difference of the completion times of the first variant and the second, by pairs of a replicate."""
    took = runs.filter(pl.col("metric") == COMPLETION).drop_nulls("value")
    estimates: list[Estimate | None] = []
    for program in programs:
        first, second = (
            took.filter((pl.col("program") == program) & (pl.col("variant") == variant))
            for variant in variants
        )
        pairs = first.join(second, on="replicate", suffix="_of_second").sort("replicate")
        enough = len(pairs) >= _LEAST_PAIRS
        estimates.append(
            stats.paired(pairs["value_of_second"].to_numpy(), pairs["value"].to_numpy()).difference
            if enough
            else None
        )
    return _Column(COMPLETION, f"{variants[0]}: longer than {variants[1]}", "ms", 1e-3, estimates)


def _of_scenario(result: CampaignResult) -> str:
    """The congestion control of the scenario's flow."""
    scenario = result.manifest["identity"]["variants"][0]["scenario"]
    (flow,) = scenario["flows"].values()
    return str(flow["transport"]["congestion"]["kind"])


def _invalid(result: CampaignResult) -> str:
    """The number of runs that did not count; older folders do not have it."""
    counts = [record["summary"].get("invalid_runs") for record in _records(result)]
    return NOTHING if None in counts else str(sum(counts))
