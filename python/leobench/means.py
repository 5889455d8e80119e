"""The means of a sweep's metrics with their intervals, a row per variant, and formats for them.

`of` reads a campaign's result and makes a `MeansTable`: `Column`s of `Estimate`s in scaled units, and names
of the variants. A format is a function of `FORMATS` that makes text of one. `leobench table`, `leobench
sweep`, `leobench compare` and `leobench run --seeds` print them.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError
from leobench.plots import names, units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from leobench.campaign import CampaignResult
    from leobench.stats import Estimate

NONE = "-"
# Places beyond which a variant is told by its name.
_MOST_PLACES = 4
# The values of a frame, by variant and metric.
_BY = ("variant", "metric")


@dataclass(frozen=True)
class Column:
    """A metric of every variant.

    Attributes:
        metric: Its path.
        name: The metric in words.
        unit: The unit of the numbers, scaled to fit them; may be empty.
        divisor: What divides values in the metric's own unit.
        estimates: The means by variant; `None` where no run has a value.
    """

    metric: str
    name: str
    unit: str
    divisor: float
    estimates: Sequence[Estimate | None]

    @property
    def head(self) -> str:
        """The name and the unit on one line."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    @property
    def is_measured(self) -> bool:
        """Whether any run has a value."""
        return any(each is not None for each in self.estimates)

    def scaled(self) -> Iterator[tuple[float | None, ...]]:
        """Mean, lower and upper bound of every variant, in the unit of the column."""
        for each in self.estimates:
            found = (None, None, None) if each is None else (each.value, each.low, each.high)
            yield tuple(None if value is None else value / self.divisor for value in found)

    def cells(self, plus_minus: str = "±", *, grouped: bool = False) -> list[str]:
        """The means with their intervals as text, all to the same decimals.

        Symmetric intervals are written `60.3 ± 0.2`, others `60.3 [60.1, 60.6]`, alike in the whole column.
        """
        rows = list(self.scaled())
        decimals = units.decimals(
            [mean for mean, *_ in rows if mean is not None],
            [(high - low) / 2 for _, low, high in rows if low is not None and high is not None],
        )
        symmetric = all(
            each is None or each.method == "t" or each.low == each.high for each in self.estimates
        )

        def text(value: float | None, infinite: str = NONE) -> str:
            return infinite if value is None else units.fixed(value, decimals, grouped=grouped)

        made = []
        for (mean, low, high), estimate in zip(rows, self.estimates, strict=True):
            if mean is None or (low is None and high is None):
                made.append(text(mean))
            elif symmetric and low is not None and high is not None and estimate is not None:
                made.append(f"{text(mean)} {plus_minus} {text((high - low) / 2)}")
            else:
                made.append(f"{text(mean)} [{text(low, '-inf')}, {text(high, 'inf')}]")
        return made


@dataclass(frozen=True)
class MeansTable:
    """Means by variant.

    Attributes:
        keys: Names of the columns that tell the variants apart.
        rows: The values of these columns, by variant.
        columns: The metrics.
        notes: What a reader must know about the numbers.
    """

    keys: Sequence[str]
    rows: Sequence[Sequence[str]]
    columns: Sequence[Column]
    notes: Sequence[str]

    def part(self, columns: Sequence[Column]) -> MeansTable:
        """The same variants with some of the columns."""
        return MeansTable(self.keys, self.rows, columns, self.notes)


def of(result: CampaignResult, metrics: Sequence[str] = (), confidence: float = 0.95) -> MeansTable:
    """The table of a finished campaign, without metrics that no run has a value of.

    Args:
        result: The campaign.
        metrics: Paths of metrics, or their last words, which select every metric that ends so; all of the
            campaign unless given.
        confidence: Share of the intervals meant to cover the true mean.

    Raises:
        InputError: If the campaign has no such metric, or the confidence is no share.
    """
    identity = result.manifest["identity"]
    variants = [variant["name"] for variant in identity["variants"]]
    known = identity["metrics"]
    chosen = (
        list(dict.fromkeys(path for word in metrics for path in names.find_metrics(word, known))) or known
    )
    keys, rows = _labels(result.runs, variants)
    made = of_frame(result.runs, variants, chosen, confidence)
    measured = [column for column in made if column.is_measured]
    notes = [about(measured, confidence), *_missing(made, variants, identity["replicates"])]
    return MeansTable(keys, rows, measured, [note for note in notes if note])


def of_frame(
    runs: pl.DataFrame, variants: Sequence[str], metrics: Sequence[str], confidence: float = 0.95
) -> list[Column]:
    """A column for each metric of a frame with the columns `variant`, `metric` and `value`, a row per run."""
    from leobench import stats

    found = {
        (variant, metric): stats.mean_interval(values, confidence)
        for (variant, metric), rows in runs.group_by(_BY, maintain_order=True)
        if metric in metrics and len(values := rows["value"].drop_nulls().to_numpy())
    }
    described = [names.metric(metric) for metric in metrics]
    flows = {each.owner for each in described if each.part == "flows"}
    owners = {each.owner for each in described}
    columns = []
    for metric, words in zip(metrics, described, strict=True):
        obvious = len(owners) == 1 or (words.part == "flows" and len(flows) == 1)
        estimates = [found.get((variant, metric)) for variant in variants]
        sizes = [abs(each.value) for each in estimates if each is not None]
        divisor, unit = units.scale(words.unit, max(sizes)) if sizes else (1.0, words.unit)
        name = words.head if obvious or not words.owner else f"{words.head} of {words.owner}"
        columns.append(Column(metric, name, unit, divisor, estimates))
    return columns


def _labels(runs: pl.DataFrame, variants: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """The columns that tell variants apart: the places that all of them set, or otherwise their names."""
    places = names.varied(runs)
    usable = 0 < len(places) <= _MOST_PLACES and not any(runs[place].null_count() for place in places)
    if not usable or len(variants) == 1 or set(runs["variant"].unique()) != set(variants):
        return ["variant"], [[variant] for variant in variants]
    texts = names.as_text(runs.unique("variant", maintain_order=True), places)
    by_name = {row["variant"]: [row[place] for place in places] for row in texts.iter_rows(named=True)}
    return [names.short(place, places) for place in places], [by_name[variant] for variant in variants]


def about(columns: Sequence[Column], confidence: float = 0.95) -> str:
    """A sentence on the meaning of the cells."""
    from leobench.stats.estimate import percent

    made = [each for column in columns for each in column.estimates if each is not None]
    if not made:
        return ""
    counts = {each.n for each in made}
    runs = f"{min(counts)} to {max(counts)} runs" if len(counts) > 1 else f"{max(counts)} runs"
    if max(counts) == 1:
        return "One run of each variant: there is no interval; more replicates give one."
    method = "Student's t" if all(each.method == "t" for each in made) else "the studentised bootstrap"
    note = f"Means with their {percent(confidence)} confidence intervals by {method}, {runs} of each variant."
    if all(each.low == each.high for each in made):
        note += " All runs of a variant are equal: nothing in the scenario depends on the seed."
    return note


def _missing(columns: Sequence[Column], variants: Sequence[str], planned: int) -> list[str]:
    """A line for each metric without values, and for each other mean that does not cover all runs."""
    unmeasured = [f"{column.metric}: no run has a value." for column in columns if not column.is_measured]
    return unmeasured + [
        f"{column.metric} of {variant}: {0 if each is None else each.n} of {planned} runs have a value."
        for column in columns
        if column.is_measured
        for variant, each in zip(variants, column.estimates, strict=True)
        if each is None or each.n != planned
    ]


def as_markdown(table: MeansTable) -> str:
    """A table of GitHub Flavored Markdown, notes below."""
    head = [*table.keys, *(column.head for column in table.columns)]
    rule = [*("---" for _ in table.keys), *("---:" for _ in table.columns)]
    rows = _transposed(table, [column.cells() for column in table.columns])
    lines = ["| " + " | ".join(map(_for_markdown, row)) + " |" for row in (head, *rows)]
    lines.insert(1, "| " + " | ".join(rule) + " |")
    notes = [_for_markdown(note) for note in table.notes]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def as_latex(table: MeansTable) -> str:
    r"""A `tabular` of LaTeX, with the rules of the package booktabs; notes are comments."""
    head = [_for_latex(text) for text in (*table.keys, *(column.head for column in table.columns))]
    cells = [[_numbers(cell) for cell in column.cells(r"\pm")] for column in table.columns]
    labels = [[_for_latex(label) for label in row] for row in table.rows]
    rows = [[*row, *numbers] for row, *numbers in zip(labels, *cells, strict=True)]
    lines = [f"  {' & '.join(row)} \\\\" for row in rows]
    return "\n".join([
        *(f"% {note}" for note in ("Needs \\usepackage{booktabs}.", *table.notes)),
        rf"\begin{{tabular}}{{{'l' * len(table.keys)}{'r' * len(table.columns)}}}",
        r"  \toprule",
        f"  {' & '.join(head)} \\\\",
        r"  \midrule",
        *lines,
        r"  \bottomrule",
        r"\end{tabular}",
    ]) + "\n"  # fmt: skip


def as_csv(table: MeansTable) -> str:
    """Comma-separated values (RFC 4180): for every metric the mean, both bounds, and the number of runs."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    head = list(table.keys)
    numbers = []
    for column in table.columns:
        head += [column.head, f"{column.name} low", f"{column.name} high", f"{column.name} runs"]
        counts = (0 if each is None else each.n for each in column.estimates)
        numbers.append([
            [*("" if value is None else f"{value:.9g}" for value in row), str(count)]
            for row, count in zip(column.scaled(), counts, strict=True)
        ])  # fmt: skip
    writer.writerow(head)
    for index, row in enumerate(table.rows):
        writer.writerow([*row, *(text for column in numbers for text in column[index])])
    return written.getvalue()


FORMATS: Mapping[str, Callable[[MeansTable], str]] = {
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}


def _transposed(table: MeansTable, cells: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[*row, *(column[index] for column in cells)] for index, row in enumerate(table.rows)]


def _for_markdown(text: str) -> str:
    """A text without the characters that would end a cell or begin markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "µ": r"\textmu{}",
    ">": r"\textgreater{}",
    "<": r"\textless{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def _for_latex(text: str) -> str:
    """A text with the characters escaped that are commands."""
    return "".join(_LATEX.get(char, char) for char in " ".join(text.split()))


def _numbers(cell: str) -> str:
    """A cell of numbers in math mode, where a minus is one."""
    return "--" if cell == NONE else f"${cell.replace('inf', chr(92) + 'infty')}$"


def refuse_unknown_format(name: str) -> None:
    """Checks the name of a format.

    Raises:
        InputError: If there is none of that name.
    """
    from leobench.errors import allowed

    known = ["text", *FORMATS]
    if name not in known:
        raise InputError(f"--format = {name}: unknown format; {allowed(name, known)}")
