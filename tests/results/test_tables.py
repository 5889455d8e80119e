"""The tables of a run as files: their types, their rows, their bytes, and disks that do not take them."""

from __future__ import annotations

import resource
import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from tests.support.programs import LEOBENCH

if TYPE_CHECKING:
    from pathlib import Path

# Enough packets for several row groups of the table `packets`.
LONG = {"duration": "10 s", "record.packets": True}


def type_of(column: str) -> pl.DataType:
    """The type of a column by its name."""
    if column.endswith(("_ns", "_bytes", "_bps", "_packets")):
        return pl.Int64()
    counts = {"message", "number", "packet", "path", "bytes_sent", "bytes_delivered", "bytes_lost"}
    if column in counts | {"bytes_retransmitted"}:
        return pl.Int64()
    return {"loss": pl.Float64(), "up": pl.Boolean()}.get(column, pl.String())


@pytest.mark.parametrize("overrides", [{}, {"record.messages": False, "record.series": False}])
def test_columns_have_their_types_with_and_without_rows(
    overrides: dict[str, object], quick: Path, tmp_path: Path
) -> None:
    result = leobench.run(quick, overrides=overrides, out=tmp_path / "out")
    assert result.tables.messages.is_empty() == bool(overrides)
    for tables in (result.tables, leobench.run(quick, overrides=overrides).tables):
        for name, table in tables.items():
            assert table.schema == {column: type_of(column) for column in table.columns}, name


def test_rows_come_back_in_order_from_all_row_groups(quick: Path, tmp_path: Path) -> None:
    result = leobench.run(quick, overrides=LONG, out=tmp_path / "out")
    packets = result.tables.packets
    assert packets.height > 2 * 8_192
    assert packets["t_ns"].is_sorted()
    delivered = packets.filter(event="deliver").group_by("link").len().rows()
    assert dict(delivered) == {link["name"]: link["delivered_packets"] for link in result.summary["links"]}
    # Each packet is enqueued and then delivered, with the same size and flow; the last ones are under way.
    pairs = packets.group_by("packet", "link", "size_bytes", "flow", maintain_order=True).agg(
        "event", "cause"
    )
    assert pairs["event"][:-100].unique().to_list() == [["enqueue", "deliver"]]
    assert pairs["cause"][:-100].unique().to_list() == [[None, None]]
    messages = result.tables.messages
    assert messages["message"].to_list() == list(range(messages.height))
    assert (messages["created_ns"].diff().drop_nulls() == 1_600_000).all()  # 1000 B at 5 Mbit/s
    assert (messages["delivered_ns"] > messages["first_sent_ns"]).all()


def test_equal_runs_have_equal_files(quick: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        leobench.run(quick, overrides=LONG, out=tmp_path / name)
    files = sorted((tmp_path / "one").glob("*.parquet"))
    assert len(files) == 12
    for file in files:
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name


def test_any_reader_can_skip_what_it_does_not_ask_for(quick: Path, tmp_path: Path) -> None:
    """Parts of a file are read on their own: columns, and rows by the statistics of row groups."""
    leobench.run(quick, overrides=LONG, out=tmp_path / "out")
    file = tmp_path / "out" / "packets.parquet"
    late = pl.col("t_ns") > 9_000_000_000
    asked = pl.scan_parquet(file, glob=False).filter(late).select("packet", "event").collect()
    assert asked.equals(pl.read_parquet(file, glob=False).filter(late).select("packet", "event"))
    assert 0 < asked.height < 8_192


def test_a_disk_that_takes_no_more_ends_the_run_and_nothing_is_left(quick: Path, tmp_path: Path) -> None:
    """A file may grow to 2 kB, in place of a disk that is full."""
    options = [f"{place}={value}" for place, value in LONG.items()]
    overrides = [word for option in options for word in ("--set", option.replace("True", "true"))]
    ran = subprocess.run(
        [*LEOBENCH, "run", str(quick), "--out", "out", "--quiet", *overrides],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stderr == "leobench: cannot write the table `packets`: File too large (os error 27)\n"
    assert (ran.returncode, ran.stdout) == (1, "")
    assert [entry.name for entry in tmp_path.iterdir()] == [quick.name]
