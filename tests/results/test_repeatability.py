"""One scenario, one seed: the same bytes, in whatever process and at whatever parallelism."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.programs import leobench

if TYPE_CHECKING:
    from pathlib import Path


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "manifest.json"}


@pytest.mark.parametrize("scenario", ["khan2023-ka", "end-to-end", "trace", "two-flows"])
def test_two_processes_write_the_same_bytes(scenario: str, scenarios: Path, tmp_path: Path) -> None:
    for name, threads, hashes in (("one", "1", "0"), ("two", "4", "12345")):
        ran = leobench(
            "run", scenarios / f"{scenario}.toml", "--out", name, "--quiet",
            "--set", "duration=12 s",
            cwd=tmp_path, POLARS_MAX_THREADS=threads, PYTHONHASHSEED=hashes,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert len(one) == 13
    assert one == two
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("one", "two")]
    assert manifests[0]["scenario"] == manifests[1]["scenario"]


def test_two_seeds_differ(scenarios: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        ran = leobench(
            "run", scenarios / "khan2023-ka.toml", "--out", seed, "--seed", seed, "--quiet",
            "--set", "duration=5 s",
            cwd=tmp_path,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
    one, two = files(tmp_path / "1"), files(tmp_path / "2")
    assert one["channel.parquet"] != two["channel.parquet"]
    assert one["messages.parquet"] != two["messages.parquet"]
