"""A transfer that never fills a queue bounds the capacity, and a replay states how little that tells."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import cli
from leobench.fitting.replay import recordings, results
from leobench.fitting.replay.transfer import observe
from tests.replay import paths

if TYPE_CHECKING:
    from pathlib import Path

BBR = "flows.main.transport.congestion"


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CUBIC over 120 Mbit/s, of which random loss leaves it a tenth."""
    return paths.record(
        tmp_path_factory.mktemp("lossy"), [(0, 120.0)], seconds=8.0, base_ms=24.0, queue="600 kB", loss=5e-3
    )


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return paths.record(tmp_path_factory.mktemp("busy"), seconds=6.0)


def replay(recording: Path, out: Path, *options: str) -> int:
    return cli.main(
        ["replay", str(recording), "--out", str(out), "--draws", "19", "--workers", "1", *options]
    )


def test_loss_that_limits_the_sender_leaves_the_capacity_open(
    lossy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth: Any = leobench.run(lossy.parent / "known.json", 1, {BBR: "bbr3"}).flows["main"]
    own: Any = leobench.open(lossy).flows["main"]
    assert own.goodput_bps < 0.15 * truth.goodput_bps
    assert replay(lossy, tmp_path / "out", "--set", f"{BBR}=bbr3") == 0
    error = capsys.readouterr().err
    assert "warning: the recording bounds the capacity only from below in " in error
    assert "results about faster senders rest on the prior" in error
    found = json.loads((tmp_path / "out" / "replay.json").read_text(encoding="utf-8"))
    assert found["bounded_share"] > 0.9
    assert found["warnings"]
    goodput = found["changed"]["main.goodput_mbps"]
    assert goodput["low90"] < truth.goodput_bps / 1e6 < goodput["high90"]
    assert found["queue_limit_bytes"] == 600_000
    assert found["queue_limit_is_known"]


def test_a_busy_link_gives_no_warning_but_progress(
    busy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert replay(busy, tmp_path / "out") == 0
    error = capsys.readouterr().err
    assert "leobench: inferring: prior 1 of 15 (" in error
    assert "leobench: 1 of 20 runs (" in error
    assert "warning" not in error
    found = json.loads((tmp_path / "out" / "replay.json").read_text(encoding="utf-8"))
    assert found["warnings"] == []
    assert found["not_reproduced"] == {}
    assert replay(busy, tmp_path / "out", "--quiet", "--force") == 0
    assert capsys.readouterr().err == ""


def test_a_recording_that_its_own_flow_does_not_reproduce_ends_with_1(
    busy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recording claims three times the goodput that its packets had."""
    wrong = tmp_path / "wrong"
    shutil.copytree(busy, wrong)
    summary = json.loads((wrong / "summary.json").read_text(encoding="utf-8"))
    summary["flows"][0]["goodput_bps"] *= 3
    (wrong / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert replay(wrong, tmp_path / "out", "--quiet") == 1
    found = json.loads((tmp_path / "out" / "replay.json").read_text(encoding="utf-8"))
    assert set(found["not_reproduced"]) == {"main.goodput_mbps"}
    each = found["not_reproduced"]["main.goodput_mbps"]
    assert each["recorded"] == pytest.approx(summary["flows"][0]["goodput_bps"] / 1e6)
    assert each["low"] <= each["high"] < 20.0
    assert (
        f"leobench: warning: recorded flow main is not reproduced: goodput_mbps {each['recorded']:.4g} "
        f"recorded, {each['low']:.4g} to {each['high']:.4g} over the paths\n"
    ) in capsys.readouterr().err
    assert (tmp_path / "out" / "draws.csv").exists()


def test_the_sampled_queue_is_read(busy: Path) -> None:
    transfer = results.read(busy, None)
    table = leobench.open(busy).tables.queues.filter(pl.col("link") == "access/server->client")
    sampled = dict(table.select("t_ns", "backlog_bytes").iter_rows())
    assert transfer.queue is not None
    assert [sampled[round(1e9 * at)] for at in transfer.times] == transfer.queue.tolist()
    assert 100_000 < transfer.queue.max() <= 150_000


def chain(folder: Path, *, parallel: bool) -> Path:
    """A flow over two links, 30 ms apart, of which the second has the queue; perhaps with another way."""
    slow = {"between": ["router", "client"], "rate": "10 Mbps", "delay": "10 ms"}
    links = {
        "fast": {"between": ["server", "router"], "rate": "1 Gbps", "delay": "30 ms"},
        "slow": {**slow, "queue": {"kind": "fifo", "limit": "60 kB"}},
    }
    if parallel:
        links["spare"] = {**slow, "delay": "50 ms"}
    scenario = {
        "name": "chain",
        "duration": "5 s",
        "nodes": {"server": {}, "router": {}, "client": {}},
        "links": links,
        "flows": {"main": paths.BULK},
    }
    file = folder / "chain.json"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    leobench.run(file, 1, out=folder / "recording")
    return folder / "recording"


def test_a_queue_behind_another_link_counts_from_when_its_packets_were_sent(tmp_path: Path) -> None:
    recording = chain(tmp_path, parallel=False)
    transfer = results.read(recording, None)
    table = leobench.open(recording).tables.queues.filter(pl.col("link") == "slow/router->client")
    first_s = float(table.filter(pl.col("backlog_bytes") > 0)["t_ns"].to_numpy()[0]) / 1e9
    assert transfer.queue is not None
    met_s = transfer.times[np.flatnonzero(transfer.queue > 0)[0]]
    # Its packets left 30 ms earlier; a round trip of 80 ms is the most that a queue can be away.
    assert met_s <= max(first_s - 0.03, transfer.times[0])
    assert met_s >= first_s - 0.11


def test_queues_are_not_read_where_a_flow_has_several_ways(tmp_path: Path) -> None:
    assert results.read(chain(tmp_path, parallel=True), None).queue is None


def test_round_trips_at_their_least_bound_the_capacity_without_a_sampled_queue(
    lossy: Path, busy: Path, tmp_path: Path
) -> None:
    found = {}
    for name, recording in (("lossy", lossy), ("busy", busy)):
        file = tmp_path / f"{name}.json"
        file.write_text(paths.iperf3(recording), encoding="utf-8")
        found[name] = observe(recordings.read(file)).empty.mean()
    assert found["lossy"] > 0.9
    assert found["busy"] == 0.0


def test_an_empty_queue_of_a_sender_that_needs_none_proves_nothing(lossy: Path) -> None:
    transfer = results.read(lossy, None)
    template = {**transfer.template, "transport": {"kind": "tcp", "congestion": "bbr3"}}
    assert observe(transfer).empty.mean() > 0.9
    assert not observe(replace(transfer, template=template)).empty.any()
