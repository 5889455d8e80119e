"""Future work of Bujari et al. 2023: controllers, queues, random handovers, downloads, applications."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leobench.files import write_text
from leobench.overrides import as_text
from leobench.papers.bujari2023 import handover
from leobench.papers.words import Word, means_of, rename, with_measures
from leobench.plots import style, units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.figure import Figure

    from leobench.campaign import Campaign, CampaignResult

_KEYS = ("variant", "replicate")

_DISCIPLINES = {
    as_text({"kind": "codel", "ecn": False}): "CoDel 5 ms",
    as_text({"kind": "fq_codel", "ecn": False}): "FQ-CoDel",
    as_text({"kind": "pie", "ecn": False}): "PIE",
    as_text({"kind": "cake", "ecn": False}): "CAKE",
}
# The flows of the three kinds of handover side by side, by name.
_NEWRENO: dict[str, object] = {"kind": "quic", "congestion": "newreno", "payload": "1472 B"}
_MOVING: dict[str, dict[str, object]] = {
    "QUIC resets": {"transport": _NEWRENO},
    "QUIC keeps": {"transport": {**_NEWRENO, "after_migration": "keep"}},
    "QUIC resumes": {
        "transport": {
            **_NEWRENO,
            "after_migration": "careful_resume",
            "careful_resume": {"saved_cwnd": "125 kB", "saved_rtt": "100 ms", "required": True},
        }
    },
    "TCP": {
        "reconnect": {"after": "1 s"},
        "transport": {"kind": "tcp", "congestion": "newreno", "tls": True},
    },
}
_WAYS: dict[str, dict[str, object]] = {
    "up": {"from": "device", "to": "office", "opened_by": "from"},
    "down": {"from": "office", "to": "device", "opened_by": "to"},
}
_FLOWS = {
    as_text({**ends, "source": "bulk", **flow}): f"{name}, {way}"
    for way, ends in _WAYS.items()
    for name, flow in _MOVING.items()
}
WORDS = (
    *handover.WORDS[1:2],
    Word("flows.upload", "flow", _FLOWS),
    Word("links.terrestrial.queue", "queue", {**handover.WORDS[2].values, **_DISCIPLINES}),
    Word("flows.upload.transport.congestion", "controller"),
    Word("flows.upload.from", "direction", {"device": "upload", "office": "download"}),
    Word("handovers.backhaul.outage", "outage", {"0 s": "no outage", "1 s": "outages of 1 s"}),
    Word("flows.three.transport.congestion", "mix", {
        "newreno": "3 NewReno", "bbr": "NewReno, CUBIC, BBR", "bbr3": "2 CUBIC, BBRv3",
    }),
)  # fmt: skip


_USERS = {"one": 0, "two": 1, "three": 2}
_DEADLINE_NS = 150_000_000
_CALL_S = {"before": (10, 90), "across": (90, 95), "after": (100, 179)}

USERS_MEASURES = tuple(f"{user}_{period}_bps" for period in ("before", "after") for user in _USERS)
CALL_MEASURES = tuple(f"{what}_{period}" for what in ("late_percent", "p95_ms") for period in _CALL_S)
RECONNECT_MEASURES = ("lost_after_s", "over_ideal")


def reconnect_measures(result: CampaignResult) -> pl.DataFrame:
    """When the device lost its connection, and how long the file took.

    `lost_after_s`: from the handover to the first loss of a connection, null without one. `over_ideal`: the
    completion over the time that the file takes at the largest possible goodput.
    """
    import polars as pl

    wide = result.runs.pivot("metric", index=list(_KEYS), values="value")
    lost = result.tables.events.filter(kind="lost", subject="upload/sender")
    first = lost.group_by(_KEYS).agg(lost_after_s=pl.col("t_ns").min() / 1e9 - handover.HANDOVER_S)
    kind = pl.when(pl.col("variant") == "quic").then(pl.lit("quic")).otherwise(pl.lit("tcp"))
    largest = kind.replace_strict(handover.LARGEST_BPS, return_dtype=pl.Float64)
    ideal = wide.select(*_KEYS, over_ideal=pl.col("flows.upload.goodput_bps").pow(-1) * largest)
    complete = wide.filter(pl.col("flows.upload.completion_s").is_not_null()).select(_KEYS)
    joined = ideal.join(complete, on=_KEYS, how="semi").join(first, on=_KEYS, how="full", coalesce=True)
    return joined.select(*_KEYS, *RECONNECT_MEASURES).unpivot(
        index=list(_KEYS), variable_name="metric", value_name="value"
    )


def users_measures(result: CampaignResult) -> pl.DataFrame:
    """The goodput of each user from 10 s to the handover, and from 100 s on, in bit/s."""
    import polars as pl

    wide = result.runs.pivot("metric", index=list(_KEYS), values="value")
    parts = []
    for user, start in _USERS.items():
        samples = result.tables.transport.filter(flow=user).join(wide, on=_KEYS, maintain_order="left")
        seconds = pl.col("t_ns") / 1e9
        total = pl.col(f"flows.{user}.goodput_bps") * (seconds.max() - start).over(_KEYS)
        share = pl.col("bytes_delivered") / pl.col("bytes_delivered").max().over(_KEYS)
        sized = samples.with_columns(seconds=seconds, bits=share * total)
        parts.append(
            sized.group_by(_KEYS, maintain_order=True).agg(
                handover.goodput("before").alias(f"{user}_before_bps"),
                handover.goodput("settled").alias(f"{user}_after_bps"),
            )
        )
    first, *others = (part.unpivot(index=list(_KEYS), variable_name="metric") for part in parts)
    return pl.concat([first, *others])


def call_measures(result: CampaignResult) -> pl.DataFrame:
    """Frames of the call that miss their deadline of 150 ms, in per cent, and their delay (95 % quantile).

    `before` is from 10 s to the handover, `across` the 5 s from there, `after` from 100 s to the last second.
    """
    import polars as pl

    frames = result.tables.messages.filter(flow="call")
    delay, seconds = pl.col("delivered_ns") - pl.col("created_ns"), pl.col("created_ns") / 1e9
    late = (delay > _DEADLINE_NS).fill_null(value=True)
    columns = {}
    for period, (start, end) in _CALL_S.items():
        within = (seconds >= start) & (seconds < end)
        columns[f"late_percent_{period}"] = late.filter(within).mean() * 100
        columns[f"p95_ms_{period}"] = delay.filter(within).quantile(0.95) / 1e6
    return (
        frames.group_by(_KEYS, maintain_order=True)
        .agg(**columns)
        .select(*_KEYS, *CALL_MEASURES)
        .unpivot(index=list(_KEYS), variable_name="metric", value_name="value")
    )


class Row(NamedTuple):
    """A row of panels.

    Attributes:
        label: Label of its axis.
        unit: Unit of its numbers.
        series: The metric of each of its series.
    """

    label: str
    unit: str
    series: Mapping[str, str]


_PERIODS = {"over the terrestrial link": "before", "over LEO": "settled"}


def _periods(what: str) -> dict[str, str]:
    return {name: f"{period}_{what}" for name, period in _PERIODS.items()}


_GOODPUT, _RTT = Row("goodput", "bit/s", _periods("goodput_bps")), Row("mean RTT", "ms", _periods("rtt_ms"))


def bars(
    campaign: Campaign,
    result: CampaignResult,
    folder: Path,
    *,
    rows: Sequence[Row],
    group: str,
    columns: Sequence[str],
    measure: Callable[[CampaignResult], pl.DataFrame] | None = None,
    where: Mapping[str, str] | None = None,
) -> Figure:
    """Means by `group`, a column of panels for each combination of the values of `columns`.

    Draws only the variants that have the values `where`. Also writes all means to `folder`/numbers.md.
    """
    import polars as pl

    from leobench.plots import bars as plotted
    from leobench.plots.frames import Column, Interval

    means = _means(result, measure)
    _write_numbers(means, folder)
    means = means.filter(**(where or {}))
    cases = means.unique(list(columns), maintain_order=True).select(columns).rows() if columns else [()]
    size = (max(4.8, style.HALF * len(cases)), 0.8 + 2.1 * len(rows))
    figure, grid = style.grid(len(rows), len(cases), size, sharex="all", sharey="row")
    for axes_row, row in zip(grid, rows, strict=True):
        names = {metric: name for name, metric in row.series.items()}
        shown = means.filter(pl.col("metric").is_in(list(names)), pl.col("mean").is_not_null())
        shown = shown.with_columns(series=pl.col("metric").replace(names))
        largest = float(shown.select(pl.max_horizontal("mean", "high").max()).item())
        for axes, case in zip(axes_row, cases, strict=True):
            values = dict(zip(columns, case, strict=True))
            plotted.draw(
                shown.filter(**values),
                group=Column(group),
                series=Column("series"),
                value=Column("mean", label=row.label, unit=row.unit, largest=largest),
                interval=Interval("low", "high"),
                title=", ".join(map(str, case)),
                axes=axes,
            )
        axes_row[0].set_ylim(0, 1.1 * largest / units.scale(row.unit, largest)[0])
    style.label_edges(grid)
    style.key(figure, grid[0][0])
    style.note(figure, means_of(campaign))
    return figure


def _means(result: CampaignResult, measure: Callable[[CampaignResult], pl.DataFrame] | None) -> pl.DataFrame:
    """A row per variant and metric: the places in words, `mean`, `low` and `high`."""
    from leobench import stats

    runs = result.runs if measure is None else with_measures(result.runs, measure(result))
    runs = rename(runs, WORDS)
    places = [word.name for word in WORDS if word.name in runs.columns]
    return stats.mean_intervals(runs, [*places, "metric"])


def _write_numbers(means: pl.DataFrame, folder: Path) -> None:
    """All means as a table in Markdown."""
    places = means.columns[: means.columns.index("metric")]
    wide = means.pivot("metric", index=places, values="mean")
    lines = [list(wide.columns), ["---"] * wide.width]
    lines += [
        ["" if cell is None else cell if isinstance(cell, str) else units.number_text(cell) for cell in row]
        for row in wide.iter_rows()
    ]
    write_text(folder / "numbers.md", "".join(f"| {' | '.join(cells)} |\n" for cells in lines))


_acrossed = partial(bars, rows=(_GOODPUT, _RTT), measure=handover.measures)
controllers = partial(_acrossed, group="controller", columns=["queue"])
queues = partial(
    bars,
    rows=(_GOODPUT, Row("RTT less empty queues,\n95 % quantile", "ms", _periods("wait_ms"))),
    group="queue",
    columns=["controller"],
    measure=handover.measures,
)
_CAUSES = ("detection", "validation", "retransmission", "slow_start")
migration = partial(
    bars,
    rows=(
        # The first row has the legend.
        Row(
            "until recovered, by cause",
            "ms",
            {each.replace("_", " "): f"flows.upload.handovers.{each}_ms.mean" for each in _CAUSES},
        ),
        Row("goodput", "bit/s", {"goodput": "flows.upload.goodput_bps"}),
    ),
    group="flow",
    columns=["kind"],
    measure=handover.measures_and_shares,
    where={"queue": "100 kB"},
)
download = partial(_acrossed, group="queue", columns=["direction", "kind"])
random_handovers = partial(
    bars,
    rows=(
        Row("goodput", "bit/s", {"goodput": "flows.upload.goodput_bps"}),
        Row("mean RTT", "ms", {"RTT": "flows.upload.rtt_ms.mean"}),
    ),
    group="controller",
    columns=["outage", "queue"],
)
users = partial(
    bars,
    rows=tuple(
        Row(f"goodput {period}", "bit/s", {f"device {user}": f"{user}_{period}_bps" for user in _USERS})
        for period in ("before", "after")
    ),
    group="queue",
    columns=["mix"],
    measure=users_measures,
)
call = partial(
    bars,
    rows=(
        Row("voice delay, 95 % quantile", "ms", {each: f"p95_ms_{each}" for each in _CALL_S}),
        Row("page load time", "s", {each: f"flows.page-{each}.page.completion_s" for each in _CALL_S}),
    ),
    group="queue",
    columns=["kind"],
    measure=call_measures,
)

_CASES = {
    "quic": ("QUIC", style.BLUE),
    "tcp-resumes": ("TCP resumes", style.VERMILION),
    "tcp-resumes-after-silence": ("TCP resumes after 3 s of silence", style.ORANGE),
    "tcp-restarts": ("TCP restarts", style.PURPLE),
    "tcp-gives-up": ("TCP gives up", style.INK),
}
_SHOWN_S = (85, 110)


def reconnect(campaign: Campaign, result: CampaignResult, folder: Path) -> Figure:
    """The windows around the handover, and when the file had arrived, of the first run of each variant."""
    import polars as pl

    del campaign, folder
    figure = style.figure(style.PAGE, 2.9)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    done = dict(
        result.runs.filter(replicate=1, metric="flows.upload.completion_s")
        .select("variant", "value")
        .iter_rows()
    )
    samples = result.tables.transport.filter(replicate=1).with_columns(seconds=pl.col("t_ns") / 1e9)
    for at, (variant, (name, colour)) in enumerate(_CASES.items()):
        shown = samples.filter(pl.col("seconds").is_between(*_SHOWN_S), variant=variant)
        window = shown["cwnd_bytes"].to_numpy() / 1e3
        if variant != "tcp-restarts":
            left.plot(shown["seconds"].to_numpy(), window, color=colour, linewidth=1.0, label=name)
        said = "never" if done[variant] is None else f"{done[variant]:.1f} s"
        right.barh(at, done[variant] or 0, color=colour, height=0.7)
        right.text((done[variant] or 0) + 3, at, said, va="center", fontsize=style.FONT, color=style.INK)
    handover.mark(left)
    style.dress(left, "Window around the handover", "window (kB)")
    style.time_axis([left], *_SHOWN_S)
    left.legend(fontsize=style.SMALL, frameon=False)
    style.dress(right, "The file has arrived after", "", zero=False)
    right.set_yticks(range(len(_CASES)), [name.replace(" after", "\nafter") for name, _ in _CASES.values()])
    right.invert_yaxis()
    right.set_xlim(0, 290)
    style.label_x(right, "time (s)")
    return figure
