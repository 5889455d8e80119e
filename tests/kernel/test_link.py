"""The link that Linux's TCP is run over is that of leobench, packet by packet."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from tools.kernel.link import SECOND, Link, Packet
from tools.kernel.setups import SETUPS, Setup

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_LUCK = [setup for setup in SETUPS if not setup.loss]


@pytest.mark.parametrize("setup", WITHOUT_LUCK, ids=lambda setup: setup.title)
def test_what_goes_in_comes_out_when_it_does_in_leobench(setup: Setup, tmp_path: Path) -> None:
    short = replace(setup, duration_s=min(setup.duration_s, 12))
    file = tmp_path / "setup.toml"
    file.write_text(short.toml(), encoding="utf-8")
    packets = leobench.run(file).tables.packets
    for direction, limit in (("sender->receiver", setup.queue), ("receiver->sender", None)):
        rows = packets.filter(pl.col("link") == f"path/{direction}")
        expected = {
            row["packet"]: (row["event"], row["cause"], row["t_ns"])
            for row in rows.filter(pl.col("event") != "enqueue").iter_rows(named=True)
        }
        link = Link(setup.changes(), limit, 0.0, random.Random(0))  # noqa: S311
        sent: dict[int, Packet] = {}
        for row in rows.filter(pl.col("event") == "enqueue").iter_rows(named=True):
            sent[row["packet"]] = Packet(row["t_ns"], b"", row["size_bytes"])
            link.arrive(row["t_ns"], sent[row["packet"]])
        link.due(short.duration_s * SECOND)
        assert len(sent) > 1_000
        for number, (event, cause, at) in expected.items():
            packet = sent[number]
            found = ("drop", packet.cause, packet.at) if packet.cause else ("deliver", None, packet.delivered)
            assert found == (event, cause, at), number
        assert all(number in expected for number, packet in sent.items() if packet.delivered or packet.cause)
