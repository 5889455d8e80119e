"""A flow over a piece of capacity, run in a worker process, which need not import what fits."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from leobench.fitting.series import SLOT_S

if TYPE_CHECKING:
    from leobench.fitting.series import Floats

    Changes = list[tuple[str, object]]


def execute(file: str, seed: int, slots: int, changes: Changes) -> tuple[Floats, Floats]:
    """Runs a flow; returns goodput and round trip in each of its slots."""
    import polars as pl

    from leobench import engine
    from leobench.scenario import load

    ended = engine.run(load(file, seed, changes), engine.Recording())
    columns = ["t_ns", "bytes_delivered", "latest_rtt_ns"]
    table = pl.read_parquet(io.BytesIO(ended.tables["transport"]), columns=columns, glob=False)
    # Samples begin with the connection, which an outage may prevent; the last one is at the end.
    slot = np.ceil(table["t_ns"].to_numpy() / (SLOT_S * 1e9)).astype(np.int64) - 1
    delivered, rtt = (table[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in columns[1:])
    whole = np.arange(slots)
    last = np.searchsorted(slot, whole, side="right") - 1
    total = np.concatenate([[0.0], delivered])[last + 1]
    goodput = np.diff(total, prepend=0.0) * 8 / SLOT_S / 1e6
    medians = [np.nanmedian(rtt[slot == each]) if (slot == each).any() else np.nan for each in whole]
    return goodput, np.array(medians) / 1e6
