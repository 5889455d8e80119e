"""The tables of the report, and the scores of held-out parts in the fits that ship."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from leobench.fitting import score, score_page
from leobench.fitting.statistics import Dependence
from leobench.scenario import load
from tools import starlink_fits, starlink_scores

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def scored(quantity: str) -> score.Score:
    """Two statistics of three forecasts."""

    def row(statistic: str, forecast: str, crps: float) -> score.Row:
        own = forecast == score.AHEAD
        coverage = {0.5: 0.48, 0.8: 0.79, 0.9: 0.91} if own else None
        difference = None if own else (-1.0, -2.0, -0.5)
        return score.Row(quantity, statistic, "Mbit/s", forecast, 30, crps, difference, coverage, None)

    rows = [
        row(statistic, forecast, crps)
        for statistic, level in (("slot mean", 0.0), ("1 s mean", 10.0))
        for forecast, crps in (
            (score.AHEAD, level + 3.0),
            ("constant", level + 5.0),
            ("last slot", level + 4.0),
        )
    ]
    return score.Score("held", rows, {}, {})


def test_a_summary_has_the_best_forecast_without_a_model() -> None:
    slot, second = starlink_scores.summary("first", scored("uplink"))
    assert slot["crps"] == 3.0
    assert slot["best_without_model"] == {"forecast": "last slot", "crps": 4.0}
    assert slot["coverage"] == {"0.5": 0.48, "0.8": 0.79, "0.9": 0.91}
    assert (second["statistic"], second["crps"], second["fitted"]) == ("1 s mean", 13.0, "first part")


def test_scores_are_written_into_the_fits_that_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {file.stem: json.loads(file.read_text("utf-8")) for file in starlink_fits.FITS.glob("*.json")}
    fits = tmp_path / "fits"
    shutil.copytree(starlink_fits.FITS, fits)
    monkeypatch.setattr(starlink_fits, "FITS", fits)
    found = {name: list(starlink_scores.summary("first", scored(name))) for name in starlink_scores.CUTS}
    starlink_scores.write_into_fits(found)
    after = {file.stem: json.loads(file.read_text("utf-8")) for file in fits.glob("*.json")}
    for name, document in after.items():
        rest = {key: value for key, value in document.items() if key != "score"}
        assert rest == {key: value for key, value in before[name].items() if key != "score"}
    both = [row["quantity"] for row in after[starlink_fits.COMBINED]["score"]["held_out"]]
    assert both == [starlink_fits.DELAY_OF] * 2 + [starlink_fits.CAPACITY_OF] * 2
    # The channel reads a fit with a score.
    scenario = {
        "name": "scored",
        "duration": "1 s",
        "nodes": {"a": {}, "b": {}},
        "links": {
            "path": {"between": ["a", "b"], "channel": {"kind": "starlink", "fit": "fits/starlink.json"}}
        },
        "flows": {"main": {"from": "a", "to": "b", "transport": "quic", "source": {"kind": "bulk"}}},
    }
    (tmp_path / "scored.json").write_text(json.dumps(scenario), encoding="utf-8")
    load(tmp_path / "scored.json", 1, [])


def test_a_refit_keeps_the_score_of_the_same_fit_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starlink_fits, "FITS", tmp_path)
    fit = {"name": "some", "outages": {"rate_per_s": 0.1}}
    starlink_fits.write({**fit, "score": {"held_out": []}})
    starlink_fits.write(fit)
    assert "score" in json.loads((tmp_path / "some.json").read_text("utf-8"))
    starlink_fits.write({**fit, "outages": {"rate_per_s": 0.2}})
    assert "score" not in json.loads((tmp_path / "some.json").read_text("utf-8"))


def test_autocorrelations_about_zero_have_no_ratio() -> None:
    measured = Dependence(0.02, 2.0, {1: 0.5, 5: 0.04, 15: -0.049, 30: -0.06})
    modelled = Dependence(0.01, 1.0, {1: 0.25, 5: 0.08, 15: 0.05, 30: 0.03})
    rows = score_page.dependence(score.Score("held", [], {}, {"rtt": (measured, modelled)}))
    assert [row[-1] for row in rows] == ["0.5", "0.5", "0.5", "-", "-", "-0.5"]
