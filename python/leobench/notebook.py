"""Results as a notebook shows them: short tables in HTML, every text of the user's escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leobench.campaign import CampaignResult
    from leobench.result import Result
    from leobench.summary import FlowSummary, LinkSummary

_NONE = "\N{EN DASH}"
# Rows of a table: a page with thousands of them is slow, and nobody reads it.
_MOST_ROWS = 20

_FLOWS = (
    "flow", "transport", "goodput (Mbit/s)", "delay p50 (ms)", "p95 (ms)", "RTT mean (ms)", "lost packets",
    "completed (s)",
)  # fmt: skip
_LINKS = ("link", "mean rate (Mbit/s)", "used", "dropped packets", "queued p95 (ms)")
_CAMPAIGN = ("variant", "metric", "runs", "mean", "standard deviation")


def of_result(result: Result) -> str:
    """A run: its flows, its links, and the reasons to distrust it."""
    summary = result.summary
    place = "in memory" if result.folder is None else str(result.folder)
    title = f"{summary.scenario}, seed {summary.seed}, {summary.virtual_s:,.3f} s ({place})"
    return _joined(
        title,
        result.warnings,
        _table(_FLOWS, map(_flow, summary.flows), words=2),
        _table(_LINKS, map(_link, summary.links), words=1),
    )


def of_campaign(result: CampaignResult) -> str:
    """A campaign: mean and standard deviation of every metric by variant, and the warnings."""
    import polars as pl

    identity = result.manifest["identity"]
    title = f"{identity['campaign']}, {identity['replicates']} runs of each variant ({result.folder})"
    grouped = result.runs.group_by("variant", "metric", maintain_order=True)
    frame = grouped.agg(
        pl.col("value").count().alias("n"),
        pl.col("value").mean().alias("mean"),
        pl.col("value").std().alias("sd"),
    )
    rows = (
        [variant, metric, f"{count:,}", _number(mean, 6), _number(sd, 3)]
        for variant, metric, count, mean, sd in frame.iter_rows()
    )
    failed = result.failures.height
    failures = [f"{failed:,} runs failed; see `failures`"] if failed else []
    return _joined(title, [*failures, *result.warning_lines()], _table(_CAMPAIGN, rows, words=2))


def _flow(flow: FlowSummary) -> list[str]:
    return [
        flow.name,
        f"{flow.transport} {flow.congestion or ''}".rstrip(),
        _scaled(flow.goodput_bps, 1e-6, 2),
        _scaled(flow.delay_ms.p50),
        _scaled(flow.delay_ms.p95),
        _scaled(flow.rtt_ms.mean),
        # A UDP sender never learns which datagrams were lost.
        _NONE if flow.transport == "udp" else f"{flow.lost_packets:,}",
        _scaled(flow.completion_s, 1, 3),
    ]


def _link(link: LinkSummary) -> list[str]:
    return [
        link.name,
        _scaled(link.mean_rate_bps, 1e-6, 2),
        _NONE if link.utilisation is None else f"{link.utilisation:.1%}",
        f"{sum(link.dropped_packets.values()):,}",
        _scaled(link.queue_delay_ms.p95),
    ]


def _scaled(value: float | None, factor: float = 1, digits: int = 1) -> str:
    return _NONE if value is None else f"{value * factor:,.{digits}f}"


def _number(value: float | None, digits: int) -> str:
    return _NONE if value is None else f"{value:,.{digits}g}"


def _joined(title: str, warnings: Sequence[str], *tables: str) -> str:
    listed = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    told = f"<p>Reasons not to take the numbers at face value:</p><ul>{listed}</ul>" if listed else ""
    return f"<div><p><strong>{escape(title)}</strong></p>{told}{''.join(tables)}</div>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int) -> str:
    """A table whose first `words` columns are text and the others numbers; empty without a row."""
    every = list(rows)
    if not every:
        return ""
    lines = [_row("th", head, words), *(_row("td", row, words) for row in every[:_MOST_ROWS])]
    left = len(every) - _MOST_ROWS
    more = f"<p>... and {left:,} more</p>" if left > 0 else ""
    return f"<table><thead>{lines[0]}</thead><tbody>{''.join(lines[1:])}</tbody></table>{more}"


def _row(cell: str, texts: Sequence[str], words: int) -> str:
    cells = (
        f'<{cell} style="text-align:{"left" if column < words else "right"}">{escape(text)}</{cell}>'
        for column, text in enumerate(texts)
    )
    return f"<tr>{''.join(cells)}</tr>"
