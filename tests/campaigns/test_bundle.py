"""The files that travel with a campaign."""

from __future__ import annotations

import gc
import json
import pickle
from typing import TYPE_CHECKING

import pytest

from leobench import InputError, RunError
from leobench.campaign import Campaign
from leobench.campaign.bundle import Bundle
from tests.campaigns import travelling

if TYPE_CHECKING:
    from pathlib import Path


def test_all_that_the_runs_read_is_in_it_and_nothing_else(tmp_path: Path) -> None:
    file = travelling.write(tmp_path / "home")
    (tmp_path / "home/scenarios/unused.py").write_text("", encoding="utf-8")
    bundle = Bundle.of(Campaign.load(file))
    assert bundle.root == f"{tmp_path}/home"
    assert bundle.scenario == "scenarios/mine.toml"
    assert {name: content.decode() for name, content in bundle.files.items()} == {
        name: text for name, text in travelling.FILES.items() if name != "travels.toml"
    }


def test_it_is_unpacked_once_and_goes_when_nobody_has_it(tmp_path: Path) -> None:
    bundle = Bundle.of(Campaign.load(travelling.write(tmp_path / "home")))
    arrived: Bundle = pickle.loads(pickle.dumps(bundle))  # noqa: S301
    folder = arrived.unpacked(str(tmp_path))
    assert arrived.unpacked(str(tmp_path)) == folder
    assert folder.parent == tmp_path
    for name, content in bundle.files.items():
        assert (folder / name).read_bytes() == content
    assert (
        arrived.as_there(f"at {folder}/scenarios/mine.toml", folder)
        == f"at {bundle.root}/scenarios/mine.toml"
    )
    del arrived
    gc.collect()
    assert not folder.exists()


def test_files_with_an_absolute_path_stay_where_they_are(tmp_path: Path) -> None:
    file = travelling.write(tmp_path / "home")
    trace = tmp_path / "elsewhere.mahimahi"
    trace.write_text("5\n", encoding="utf-8")
    scenario = tmp_path / "home/scenarios/mine.toml"
    text = scenario.read_text(encoding="utf-8").replace("../traces/mine.mahimahi", str(trace))
    scenario.write_text(text, encoding="utf-8")
    bundle = Bundle.of(Campaign.load(file))
    assert bundle.root == f"{tmp_path}/home/scenarios"
    assert bundle.scenario == "mine.toml"
    assert not any("mahimahi" in name for name in bundle.files)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    campaign = Campaign.load(travelling.write(tmp_path / "home"))
    assert campaign.scenarios
    trace = tmp_path / "home/traces/mine.mahimahi"
    trace.unlink()
    with pytest.raises(InputError, match=f"{trace}: cannot be read: No such file or directory"):
        Bundle.of(campaign)


def test_a_disk_that_takes_no_files_is_told(tmp_path: Path) -> None:
    bundle = Bundle(str(tmp_path), "mine.toml", {"mine.toml": b"1234"})
    with pytest.raises(
        RunError, match=r"the files of the campaign \(4 bytes\) cannot be written on this worker"
    ):
        bundle.unpacked(str(tmp_path / "absent"))


@pytest.mark.parametrize("path", ["../mine.toml", "a/../../b", "/etc/mine.toml"])
def test_nothing_is_written_outside_its_folder(path: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leads out of the folder"):
        Bundle("/", "mine.toml", {path: b""}).unpacked(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_recorded_pages_travel_too(tmp_path: Path) -> None:
    """Runs elsewhere read their files again; resolved scenarios have the objects instead."""
    file = travelling.write(tmp_path / "home")
    entry = {
        "startedDateTime": "2026-03-20T12:00:00Z",
        "time": 50,
        "request": {"url": "https://a.example/"},
        "timings": {"wait": 40},
    }
    for name in ("one", "three"):
        page = tmp_path / f"home/pages/{name}.har"
        page.parent.mkdir(exist_ok=True)
        recorded = {**entry, "response": {"status": 200, "_transferSize": 5000 + len(name)}}
        page.write_text(json.dumps({"log": {"entries": [recorded]}}), encoding="utf-8")
    scenario = tmp_path / "home/scenarios/mine.toml"
    flow = '[flows.web]\ntransport = "tcp"\nfrom = "server"\nto = "client"\nhar = "../pages/one.har"\n'
    scenario.write_text(scenario.read_text(encoding="utf-8") + flow, encoding="utf-8")
    varied = '\n[[grid]]\n"flows.web.har" = ["../pages/one.har", "../pages/three.har"]\n'
    file.write_text(file.read_text(encoding="utf-8") + varied, encoding="utf-8")
    bundle = Bundle.of(Campaign.load(file))
    assert {name for name in bundle.files if name.endswith(".har")} == {"pages/one.har", "pages/three.har"}
