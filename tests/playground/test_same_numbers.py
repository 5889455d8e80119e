"""A run in the page is the run on the command line: the summary, and every value of every table."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

STATES = (
    "scenario=ka&seed=1&duration=5",
    "scenario=ka&seed=4294967295&duration=10&controller=bbr3&loss=0.5&delay=40&queue=50",
    "scenario=starlink&seed=3&duration=30&controller=leocc&outage=200",
    "scenario=handover&seed=7&duration=60&controller=newreno&loss=0.1",
    "scenario=bufferbloat&seed=2&duration=10&discipline=fq_codel&controller=vegas",
    "scenario=bufferbloat&seed=2&duration=10&discipline=pie&rate=5",
)

# The columns of the last run as base64, because JSON has neither 64-bit integers nor bytes.
COLUMNS = """() => {
  const packed = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) {
      text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    }
    return btoa(text);
  };
  return playground.outcome.last.tables.map(({ name, columns }) => ({
    name,
    columns: columns.map(({ name, kind, values, present, texts }) => ({
      name, kind, texts: texts ?? null, values: packed(values), present: present ? packed(present) : null,
    })),
  }));
}"""


def column_of(told: dict[str, Any]) -> pl.Series:
    """A column as the page has it."""
    kinds: dict[str, type[np.generic]] = {
        "i64": np.int64,
        "f64": np.float64,
        "flag": np.uint8,
        "text": np.uint32,
    }
    values: list[Any] = np.frombuffer(base64.b64decode(told["values"]), kinds[told["kind"]]).tolist()
    if told["kind"] == "flag":
        values = [bool(value) for value in values]
    if told["texts"] is not None:
        values = [told["texts"][value] if told["texts"] else "" for value in values]
    if told["present"] is not None:
        values = [
            value if there else None
            for value, there in zip(values, base64.b64decode(told["present"]), strict=True)
        ]
    types = {"i64": pl.Int64, "f64": pl.Float64, "flag": pl.Boolean, "text": pl.String}
    return pl.Series(told["name"], values, dtype=types[told["kind"]])


def on_command_line(page: Page, folder: Path) -> Path:
    """The results of the command that the page tells, with the file that it offers."""
    command = page.inner_text("#command").split()
    assert command[:2] == ["leobench", "run"]
    (folder / command[2]).write_text(page.input_value("#text"), encoding="utf-8")
    run = [sys.executable, "-m", *command, "--out", "results", "--quiet"]
    subprocess.run(run, cwd=folder, check=True)
    return folder / "results"


@pytest.mark.parametrize("state", STATES)
def test_the_same_seed_gives_the_same_numbers(state: str, show: Callable[..., Page], tmp_path: Path) -> None:
    page = show(state)
    results = on_command_line(page, tmp_path)

    in_page = json.loads(page.evaluate("playground.outcome.last.text"))["summary"]
    assert in_page == json.loads((results / "summary.json").read_text(encoding="utf-8"))

    tables = page.evaluate(COLUMNS)
    names = {path.stem for path in results.rglob("*.parquet")}
    assert {table["name"] for table in tables} == names - {"packets", "opportunities", "streams"}
    for table in tables:
        stored = pl.read_parquet(next(results.rglob(f"{table['name']}.parquet")))
        frame = pl.DataFrame([column_of(column) for column in table["columns"]])
        assert frame.columns == stored.columns
        assert frame.equals(stored, null_equal=True), table["name"]
    assert sum(len(table["columns"][0]["values"]) for table in tables) > 10_000


def test_another_seed_gives_other_numbers(show: Callable[..., Page]) -> None:
    page = show("scenario=ka&seed=1&duration=5")
    first = page.evaluate("playground.outcome.last.text")
    page.fill("#seed", "2")
    page.wait_for_function("() => playground.outcome.last.summary.seed === 2")
    second = page.evaluate("playground.outcome.last.text")
    assert json.loads(first)["summary"]["flows"] != json.loads(second)["summary"]["flows"]
    page.fill("#seed", "1")
    page.wait_for_function("() => playground.outcome.last.summary.seed === 1")
    in_both = page.evaluate("playground.outcome.last.text")
    # The tables of the answer tell addresses, which may differ.
    assert json.loads(in_both)["summary"] == json.loads(first)["summary"]
