"""The campaign over implementations that others wrote: its table, and leobench's own transport in it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench.campaign import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import ModuleType

EXAMPLES = ROOT / "examples"
SIZE = 500_000
PATIENT = '"real.lateness" = "10 s"\n"real.stall" = "10 s"\n"real.busy" = 1\n"real.waited" = 1\n'
NONE_DROPPED = {"queue": 0, "channel": 0, "down": 0, "mtu": 0, "handover": 0}


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("foreign")


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module("foreign_table")


def record(completion: float, *, queue: int, handover: int = 0, **more: object) -> dict[str, Any]:
    """The summary of a run over two links."""
    drops = NONE_DROPPED | {"queue": queue, "handover": handover}
    return {
        "flows": [{"name": "file", "goodput_bps": 1e6 / completion, "completion_s": completion}],
        "links": [
            {"name": "up", "dropped_packets": NONE_DROPPED | {"queue": 1}},
            {"name": "down", "dropped_packets": drops},
        ],
        **more,
    }


def result(folder: Path, **runs: Sequence[dict[str, Any] | None]) -> leobench.CampaignResult:
    """The folder of a campaign with these runs by variant; `None` is one that failed."""
    (folder / "runs").mkdir(parents=True)
    for variant, summaries in runs.items():
        for replicate, summary in enumerate(summaries, 1):
            text = json.dumps({"variant": variant, "replicate": replicate, "summary": summary})
            (folder / "runs" / f"{variant}-{replicate:04}.json").write_text(text, encoding="utf-8")
    flow = {"transport": {"kind": "quic", "congestion": {"kind": "bbr"}}}
    variants = [{"name": name, "scenario": {"flows": {"file": flow}}} for name in runs]
    return leobench.CampaignResult(folder, {"identity": {"variants": variants}})


def cells(text: str) -> dict[str, dict[str, str]]:
    """The cells of a table by row and column."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def test_a_row_has_means_with_their_intervals(tmp_path: Path, table: ModuleType) -> None:
    """Of two values, Student's interval reaches 12.706 times half of their distance."""
    one = result(
        tmp_path / "one",
        handover=[record(2.0, queue=5, invalid_runs=1), record(2.2, queue=5, invalid_runs=2)],
        without=[record(1.8, queue=7, invalid_runs=0), record(2.2, queue=9, invalid_runs=0)],
    )
    found = cells(table.markdown({"one": one}, {"one": "Reno"}))["one"]
    assert found["congestion control"] == "Reno"
    assert found["invalid runs, repeated"] == "3"
    assert found["completion time, handover (s)"] == "2.1 ± 1.3"
    assert found["completion time, without (s)"] == "2.0 ± 2.5"
    # Pairs differ by 200 and 0 ms.
    assert found["handover: longer than without (ms)"] == "100 ± 1271"
    # 1 Mbit in 2.0 and 2.2 s.
    assert found["goodput, handover (kbit/s)"] == "477 ± 289"
    # Both links count: the first drops one packet in every run.
    assert found["dropped at queues, handover"].startswith("6.0")
    assert found["dropped at queues, without"] == "9 ± 13"


def test_packets_are_told_by_why_they_were_dropped(tmp_path: Path, table: ModuleType) -> None:
    steady = result(tmp_path / "steady", base=[record(2.0, queue=5), record(2.2, queue=5)])
    moved = result(tmp_path / "moved", base=[record(2.0, queue=5, handover=4), record(2.2, queue=5)])
    text = table.markdown({"steady": steady}, {"steady": ""})
    assert "No packet was dropped but by a queue." in text
    assert "dropped otherwise" not in text
    text = table.markdown({"steady": steady, "moved": moved}, {"steady": "", "moved": ""})
    assert "No packet was dropped" not in text
    assert cells(text)["steady"]["dropped otherwise, base"].startswith("0.0")
    assert cells(text)["moved"]["dropped otherwise, base"].startswith("2 ±")
    assert cells(text)["moved"]["dropped at queues, base"].startswith("6.0")


def test_a_folder_of_before_does_not_tell_of_invalid_runs(tmp_path: Path, table: ModuleType) -> None:
    old = result(tmp_path / "old", base=[record(2.0, queue=5), record(2.2, queue=5)])
    row = cells(table.markdown({"old": old}, {"old": ""}))["old"]
    assert row["invalid runs, repeated"] == "-"
    # The scenario's own controller, where the program brings none.
    assert row["congestion control"] == "bbr"


def test_runs_that_failed_leave_their_pairs_out(tmp_path: Path, table: ModuleType) -> None:
    runs = [record(2.0, queue=5), record(2.2, queue=5), record(2.5, queue=5)]
    half = result(tmp_path / "half", handover=[None, *runs[1:]], without=runs)
    row = cells(table.markdown({"half": half}, {"half": ""}))["half"]
    assert row["handover: longer than without (ms)"].startswith("0.0")
    assert row["completion time, handover (s)"].startswith("2.4 ±")
    assert row["completion time, without (s)"].startswith("2.23 ±")


def test_campaigns_of_other_variants_are_refused(tmp_path: Path, table: ModuleType) -> None:
    runs = [record(2.0, queue=5), record(2.2, queue=5)]
    results = {
        "one": result(tmp_path / "one", a=runs, b=runs),
        "other": result(tmp_path / "other", a=runs, c=runs),
    }
    with pytest.raises(leobench.InputError, match="other: has the variants a, c; allowed: a, b"):
        table.markdown(results, dict.fromkeys(results, ""))


@pytest.mark.parametrize(
    "said",
    [
        {"bytes": SIZE, "seconds": 0.5, "goodput_mbps": 8.0},
        {"end": {"sum_received": {"bytes": SIZE, "seconds": 0.5, "bits_per_second": 8e6}}},
    ],
    ids=["quic", "iperf3"],
)
def test_programs_and_iperf3_are_measured_alike(said: dict[str, Any], foreign: ModuleType) -> None:
    assert foreign.measure(said) == {"goodput_bps": 8e6, "completion_s": 0.5}


def ran(folder: Path, engine: str) -> dict[str, float]:
    """The metrics of leobench's own transport in a run of the shipped campaign, a handover under way."""
    campaign = folder / "once.toml"
    campaign.write_text(
        f'extends = "{EXAMPLES / "foreign-stacks.toml"}"\nname = "once"\nreplicates = 1\n[set]\n{PATIENT}',
        encoding="utf-8",
    )
    program = f"leobench-{engine}"
    words = ["--programs", program, "--size", str(SIZE), "--out", "out", "--table", "table.md"]
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / "foreign.py"), str(campaign), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    row = cells((folder / "table.md").read_text(encoding="utf-8"))[program]
    assert row["congestion control"] == "cubic"
    runs = leobench.CampaignResult.open(folder / "out" / program).runs.filter(variant="handover")
    return dict(zip(runs["metric"], runs["value"], strict=True))


def by_leobench() -> leobench.Result:
    """The same file by `leobench run`: requested by the receiving end 1.5 s after the start."""
    flow = {
        "transport": {"kind": "quic", "congestion": "cubic"},
        "from": "pop",
        "to": "roof",
        "opened_by": "to",
        "start": "1.5 s",
        "objects": [{"name": "file", "size": f"{SIZE} B"}],
    }
    campaign = tomllib.loads((EXAMPLES / "foreign-stacks.toml").read_text(encoding="utf-8"))
    overrides: dict[str, object] = {
        "links.sky": campaign["set"]["links.sky"],
        "flows.download": flow,
        "constellation.start": "2026-03-20T12:00:09Z",
        "duration": "60 s",
        "until": "drained",
    }
    seed = next(
        run.seed for run in Campaign.load(EXAMPLES / "foreign-stacks.toml").plan() if run.replicate == 1
    )
    return leobench.run(ROOT / "scenarios" / "starlink-hour.toml", seed, overrides)


def test_virtual_time_is_that_of_leobench_run(tmp_path: Path) -> None:
    """Times count from the start of the flow, not from that of the run."""
    found = ran(tmp_path, "virtual")
    summary = by_leobench().summary
    (flow,) = summary["flows"]
    assert found["flows.download.completion_s"] == pytest.approx(flow["completion_s"] - 1.5, abs=1e-9)
    assert found["flows.download.goodput_bps"] == pytest.approx(8 * SIZE / (flow["completion_s"] - 1.5))
    queue = found["links.sky/pop->roof.dropped_packets.queue"]
    assert [queue] == [
        link["dropped_packets"]["queue"] for link in summary["links"] if link["name"] == "sky/pop->roof"
    ]
    # At least two round trips of 16 ms or more, for the handshake and the request, and 500 kB at 60 Mbit/s.
    assert 2 * 0.016 + 8 * SIZE / 60e6 < found["flows.download.completion_s"] < 1


def test_a_table_needs_a_folder_to_go_to(tmp_path: Path) -> None:
    words = [str(EXAMPLES / "foreign-stacks.toml"), "--out", "out", "--table", "none/table.md"]
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / "foreign.py"), *words, "--programs", "leobench-virtual"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ended.returncode == 2
    assert ended.stderr == "foreign.py: --table = none/table.md: its folder does not exist\n"
    assert not (tmp_path / "out").exists()
