"""Flows over a fit beside flows over a recording: capacities whose goodput is known, gaps, and outages."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from leobench import cli
from leobench.errors import InputError
from leobench.fitting import score_flows
from leobench.fitting.series import PHASE_S, SLOT_S, Series
from tools import starlink_scores

if TYPE_CHECKING:
    from leobench.fitting.series import Floats

BEGIN = SLOT_S * 1e8 + PHASE_S + 4.0


def constant(mbps: float, name: str = "steady") -> dict[str, Any]:
    """A fit whose downlink is as good as constant."""
    capacity = {
        "floor": 0.0,
        "location": math.log(mbps),
        "scale": 1e-4,
        "shares": {"slot": 0.5, "fast": 0.5},
        "slot_correlation": 0.0,
        "resolution_s": 1.0,
    }
    return {"format": "leobench-fit", "version": 1, "name": name, "downlink": {"capacity": capacity}}


def recorded(mbps: Floats, every_s: float = 1.0) -> Series:
    """A recording without gaps."""
    times = BEGIN + np.arange(len(mbps), dtype=np.float64) * every_s
    return Series("night.csv", "Mbit/s", times, mbps, "downlink", "saturated")


def quiet(_done: int, _total: int) -> None:
    """Reports nothing."""


def test_pieces_are_whole_slots_without_gaps() -> None:
    # 100 s, a gap, 14 s, a gap, 31 s.
    times = np.concatenate([np.arange(100.0), 200 + np.arange(14.0), 300 + np.arange(31.0)])
    values = 10.0 + np.arange(len(times), dtype=np.float64) % 7
    values[3:5] = 0.01
    series = Series("night.csv", "Mbit/s", BEGIN + times, values, "downlink", "saturated")
    found = score_flows.pieces(series)
    assert [(piece.start_s - BEGIN, piece.slots) for piece in found] == [(0, 4), (60, 2), (300, 2)]
    np.testing.assert_array_equal(found[1].mbps, values[60:90])
    # An outage is no rate.
    assert np.flatnonzero(found[0].mbps == 0).tolist() == [3, 4]


def test_of_long_recordings_pieces_are_spread_evenly() -> None:
    slow = score_flows.pieces(recorded(np.full(12 * 3_600, 1.0)))
    assert sum(piece.slots for piece in slow) == 300
    fast = score_flows.pieces(recorded(np.full(12 * 3_600, 250.0)))
    assert 0.9 * 300 < sum(piece.slots for piece in fast) * SLOT_S * 0.25 <= 300
    steps = np.diff([piece.start_s for piece in fast])
    assert steps.max() - steps.min() <= 60
    assert fast[-1].start_s > BEGIN + 11 * 3_600


def test_ten_samples_a_second_make_the_same_pieces() -> None:
    found = score_flows.pieces(recorded(np.full(3_000, 5.0), 0.1))
    assert sum(piece.slots for piece in found) == 20
    assert len(found[0].mbps) == 600


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (
            recorded(np.full(200, 5.0), 2.0),
            "night.csv: has a sample every 2 s; allowed for flows: one a second",
        ),
        (
            recorded(np.full(100, 5.0)),
            "night.csv: has 6 times 15 s without a gap; allowed for flows: at least 8",
        ),
    ],
)
def test_recordings_that_tell_too_little_are_refused(series: Series, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score_flows.pieces(series)


def test_known_capacities_have_known_goodput() -> None:
    """Of full segments with 52 bytes of headers, at a base of 50 ms and a queue of 100 ms at 4 Mbit/s."""
    held = recorded(np.full(120, 4.0))
    found = score_flows.score(constant(8.0), [held], [recorded(np.full(120, 4.0))], quiet)
    of = {(row.controller, row.measure, row.capacity): row for row in found}
    for controller in score_flows.CONTROLLERS:
        row = of[controller, "goodput", "model"]
        assert row.slots == 8
        assert 0.9 * 4.0 < row.recorded[0] < 4.0
        assert row.median[0] == pytest.approx(2.0, rel=0.05)
        assert row.median[1] <= row.median[0] <= row.median[2]
        assert of[controller, "goodput", "training"].median[0] == pytest.approx(1.0, abs=1e-9)
        waits = of[controller, "round trip", "model"]
        assert 50 < waits.recorded[0] < 50 + 100 + 10
        # The same queue in bytes takes half the time.
        assert 50 < waits.found[0] < 50 + 50 + 10
    # CUBIC fills the queue.
    assert of["cubic", "round trip", "model"].recorded[0] > 90


def test_nothing_gets_through_in_an_outage() -> None:
    mbps = np.full(120, 4.0)
    mbps[30:33] = 0.0
    link = score_flows.Link("downlink", 4.0)
    without, outage = (
        score_flows.over_recording(link, score_flows.pieces(recorded(each)), quiet)["bbr"].goodput
        for each in (np.full(120, 4.0), mbps)
    )
    share = outage[0] / without[0]
    np.testing.assert_allclose(share[:2], 1.0, rtol=1e-9)
    # Three of 15 s, and the time until the sender tries again (RFC 6298: timeouts double).
    assert 0.5 < share[2] < 0.81


def test_the_page_has_the_table_of_flows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fit = tmp_path / "steady.fit.json"
    fit.write_text(json.dumps(constant(4.0)), encoding="utf-8")
    data = tmp_path / "rates.csv"
    rows = [f"{BEGIN + second:.0f},{4 + 0.1 * (second % 3)}" for second in range(150)]
    data.write_text("\n".join(["unix_time_s,downlink_mbps", *rows]) + "\n", encoding="utf-8")
    out = tmp_path / "out"
    words = ["score", str(fit), "--data", str(data), "--flows", "--out", str(out)]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    written = json.loads((out / "score.json").read_text("utf-8"))["flows"]
    assert [(row["controller"], row["measure"]) for row in written] == [
        ("cubic", "goodput"), ("cubic", "round trip"), ("bbr", "goodput"), ("bbr", "round trip"),
    ]  # fmt: skip
    line = next(line for line in printed.splitlines() if line.startswith("downlink, bbr"))
    assert f"{written[2]['median'][0]:.2f} [" in line
    page = (out / "score.md").read_text("utf-8")
    assert "| downlink, cubic | goodput (Mbit/s) | model | 10 |" in page


@pytest.mark.parametrize(
    ("forecast", "message"),
    [
        ("rates.csv", "--flows: rates.csv is not a fit"),
        ("up.fit.json", "flows need a capacity that the fit and the data have; the data have downlink"),
    ],
)
def test_flows_need_a_capacity(
    forecast: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{BEGIN + second:.0f},{4 + 0.1 * (second % 3)}" for second in range(150)]
    Path("rates.csv").write_text("\n".join(["unix_time_s,downlink_mbps", *rows]) + "\n", encoding="utf-8")
    delay = {"process": constant(40.0)["downlink"]["capacity"]}
    both = {**constant(4.0, "up"), "downlink": {}, "delay": delay}
    Path("up.fit.json").write_text(json.dumps(both), encoding="utf-8")
    pings = [f"{BEGIN + second / 2:.1f},{second},{40 + second % 5}" for second in range(300)]
    Path("pings.csv").write_text("\n".join(["unix_time_s,seq,rtt_ms", *pings]) + "\n", encoding="utf-8")
    data = ["rates.csv"] if forecast == "rates.csv" else ["rates.csv", "pings.csv"]
    assert cli.main(["score", forecast, "--data", *data, "--flows"]) == 2
    assert message in capsys.readouterr().err


def test_the_table_of_the_report_has_both_ratios() -> None:
    found = score_flows.score(
        constant(6.0), [recorded(np.full(120, 4.0))], [recorded(np.full(120, 5.0))], quiet
    )
    lines = list(starlink_scores.flow_rows("site", "first", found))
    assert len(lines) == 4
    assert lines[0][:5] == ["site, downlink", "first", "cubic", "goodput (Mbit/s)", "8"]
    assert float(lines[0][7].split()[0]) == pytest.approx(1.5, abs=0.05)
    assert float(lines[0][9].split(",")[0]) == pytest.approx(1.25, abs=0.05)
