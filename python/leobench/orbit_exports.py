"""Exports links through a constellation as files for other emulators and for channels of leobench."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from leobench.files import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leobench.orbit import Survey

# Bytes of a delivery opportunity (Netravali et al., USENIX ATC 2015), as of the channel `trace`.
_OPPORTUNITY = 1500

_DIRECTIONS = {"forward": "uplink", "backward": "downlink"}


def pieces(seen: Survey, link: str, direction: str) -> pl.DataFrame:
    """Rate (bit/s), delay (ns), loss and state of a direction of a link from each instant `t_ns` on.

    A sample holds until the next one; the rate is zero during a handover, and the link down in an outage.
    """
    name = _DIRECTIONS[direction]
    rate = (pl.col(f"{name}_mbps") * 1e6).round().cast(pl.Int64)
    loss = pl.col(f"{name}_loss").fill_null(0.0)
    samples = seen.samples.filter(link=link).select(
        t_ns=_nanos(pl.col("t_s")),
        rate_bps=rate,
        delay_ns=(pl.col("delay_ms") * 1e6).round().cast(pl.Int64).forward_fill().fill_null(0),
        loss=loss,
        up=pl.col("satellite").is_not_null() & (loss < 1),
    )
    changes = seen.handovers.filter(pl.col("link") == link, pl.col("outage_ms") > 0)
    spans = changes.select(
        start=_nanos(pl.col("t_s")),
        end=_nanos(pl.col("t_s")) + (pl.col("outage_ms") * 1e6).round().cast(pl.Int64),
    )
    ends = spans.select(t_ns="end").join_asof(samples, on="t_ns")
    starts = spans.select(t_ns="start").join_asof(samples, on="t_ns")
    rows = pl.concat([samples, starts, ends]).unique("t_ns", keep="last").sort("t_ns")
    silent = _within(rows["t_ns"].to_numpy(), spans["start"].to_numpy(), spans["end"].to_numpy())
    return rows.with_columns(rate_bps=pl.when(pl.Series(silent)).then(0).otherwise("rate_bps"))


def _nanos(seconds: pl.Expr) -> pl.Expr:
    return (seconds * 1e9).round().cast(pl.Int64)


def _within(
    times: np.ndarray[tuple[int], np.dtype[np.int64]],
    starts: np.ndarray[tuple[int], np.dtype[np.int64]],
    ends: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether times lie within spans, which are in order; their ends do not belong to them."""
    if not len(starts):
        return np.zeros(len(times), dtype=np.bool_)
    last = np.searchsorted(starts, times, side="right") - 1
    return (last >= 0) & (times < ends[np.maximum(last, 0)])


def schedule(seen: Survey, link: str, direction: str) -> Iterator[str]:
    """A table that the channel `schedule` reads: time, rate, delay, loss, and whether the link is up."""
    yield "time,rate,delay,loss,up\n"
    for row in pieces(seen, link, direction).iter_rows(named=True):
        up = "true" if row["up"] else "false"
        yield f"{row['t_ns']} ns,{row['rate_bps']} bps,{row['delay_ns']} ns,{row['loss']:.6g},{up}\n"


def mahimahi(seen: Survey, link: str, direction: str) -> Iterator[str]:
    """A trace of mahimahi: the millisecond of each delivery opportunity, from 1. Delays are not in it."""
    rows = pieces(seen, link, direction)
    times = np.append(rows["t_ns"].to_numpy(), round(seen.duration_s * 1e9))
    rates = np.where(rows["up"].to_numpy(), rows["rate_bps"].to_numpy(), 0)
    sent = np.append(0.0, np.cumsum(rates * np.diff(times) / 1e9 / 8 / _OPPORTUNITY))
    millis = np.arange(1, round(seen.duration_s * 1e3) + 1)
    whole = np.floor(np.interp(millis * 1e6, times, sent) + 1e-9).astype(np.int64)
    for millisecond, count in zip(millis, np.diff(whole, prepend=0), strict=True):
        for _ in range(count):
            yield f"{millisecond}\n"


FORMATS: dict[str, tuple[str, Callable[[Survey, str, str], Iterator[str]]]] = {
    "schedule": ("schedule.csv", schedule),
    "mahimahi": ("mahimahi", mahimahi),
}


def write(seen: Survey, form: str, folder: Path) -> list[Path]:
    """Writes the files of a format into a folder that exists, one for each direction of each link."""
    ending, lines = FORMATS[form]
    files = []
    for link in seen.samples["link"].unique(maintain_order=True):
        for direction in _DIRECTIONS:
            file = folder / f"{link}-{direction}.{ending}"
            with writing(file), file.open("w", encoding="ascii") as opened:
                opened.writelines(lines(seen, link, direction))
            files.append(file)
    return files
