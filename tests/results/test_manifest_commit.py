"""Manifests name the commit that made the results, and nothing else of the results depends on it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import version
from leobench.campaign import Campaign, run_campaign
from leobench.report import gather
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import Status


def interrupt(status: Status) -> None:
    """Interrupts a campaign after its first run."""
    if status.done == 1:
        raise KeyboardInterrupt


def test_runs_of_two_commits_differ_in_their_manifests_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = tmp_path / "quick.toml"
    scenario.write_text(QUICK, encoding="utf-8")
    for commit in ("0123456789ab", None):
        monkeypatch.setattr(version, "loaded", lambda commit=commit: commit)
        leobench.run(scenario, out=tmp_path / str(commit))
    one, two = (tmp_path / name for name in ("0123456789ab", "None"))
    names = sorted(file.name for file in one.iterdir())
    assert names == sorted(file.name for file in two.iterdir())
    differ = [name for name in names if (one / name).read_bytes() != (two / name).read_bytes()]
    assert differ == ["manifest.json"]
    told = [json.loads((folder / "manifest.json").read_text(encoding="utf-8")) for folder in (one, two)]
    assert [each["commit"] for each in told] == ["0123456789ab", None]
    content = gather.gather([one, two])
    assert [run.manifest["commit"] for run in content.runs] == ["0123456789ab", None]


def test_a_campaign_is_resumed_by_another_commit_which_its_report_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "quick.toml").write_text(QUICK, encoding="utf-8")
    file = tmp_path / "few.toml"
    file.write_text(
        'name = "few"\nscenario = "quick.toml"\nreplicates = 1\nmetrics = ["flows.main.goodput_bps"]\n'
        'set = { duration = "100 ms" }\n[[grid]]\n"flows.main.transport.congestion" = ["cubic", "newreno"]\n',
        encoding="utf-8",
    )
    out = tmp_path / "few"
    monkeypatch.setattr(version, "loaded", lambda: "0123456789ab")
    with pytest.raises(KeyboardInterrupt):
        run_campaign(Campaign.load(file), out, workers=1, progress=interrupt)
    monkeypatch.setattr(version, "loaded", lambda: "fedcba987654")
    run_campaign(Campaign.load(file), out, workers=1, resume=True)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert [session["commit"] for session in manifest["sessions"]] == ["0123456789ab", "fedcba987654"]
    assert "commit" not in manifest["identity"]
    (described,) = gather.gather([out]).campaigns
    assert described["commit"] == "fedcba987654"
