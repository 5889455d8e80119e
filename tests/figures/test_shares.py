"""The figure of shares: what it shows, and what it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import leobench
from leobench import InputError, plots

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes


@pytest.fixture(scope="module")
def alike(scenarios: Path) -> leobench.Result:
    return leobench.run(
        scenarios / "competition.toml", overrides={"flows.newcomer.transport": "tcp", "duration": "70 s"}
    )


def lines(axes: Axes) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {
        str(line.get_label()): (np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
        for line in axes.lines
    }


def test_goodputs_add_up_to_what_the_link_carries(alike: leobench.Result) -> None:
    figure = plots.kind("shares")(alike)
    drawn = lines(figure.axes[0])
    old, new = drawn["incumbent (TCP cubic)"], drawn["newcomer (TCP cubic)"]
    assert new[0].min() > 5.0, "the newcomer has no line before it came"
    late = old[0] >= 30
    total = old[1][late] + new[1][new[0] >= 30]
    # 25 Mbit/s, of which headers take 52 in 1,500 bytes, and the noise 0.5 Mbit/s.
    assert total.mean() == pytest.approx((25 - 0.5) * 1_448 / 1_500, rel=0.03)
    converged = alike.summary["competition"]["convergence_s"]
    said = {text.get_text(): text.xy[0] for text in figure.axes[0].texts}  # type: ignore[attr-defined]
    assert said == {"last flow starts": 5.0, "fair, and for 10 s more": 5.0 + converged}
    assert f"Fair shares {converged:.3g} s" in figure.axes[0].get_title(loc="left")


def test_what_never_converged_is_told(scenarios: Path) -> None:
    overrides = {"flows.newcomer.transport.congestion": "vegas", "duration": "40 s"}
    result = leobench.run(scenarios / "competition.toml", overrides=overrides)
    assert result.summary["competition"]["convergence_s"] is None
    figure = plots.kind("shares")(result)
    assert figure.axes[0].get_title(loc="left").startswith("No lasting fair shares; Jain's index ")
    assert [text.get_text() for text in figure.axes[0].texts] == ["last flow starts"]


def test_a_flow_that_leaves_ends_the_time_in_common(scenarios: Path) -> None:
    overrides = {
        "flows.newcomer.source": {"kind": "cbr", "rate": "1 Gbps", "size": "1 MB"},
        "flows.newcomer.application": "blocking",
        "flows.newcomer.stop": "20 s",
        "duration": "40 s",
    }
    result = leobench.run(scenarios / "competition.toml", overrides=overrides)
    competition = result.summary["competition"]
    # What is left of a message of 1 MB, and a queue, take less than a second.
    assert 20.0 <= competition["to_s"] <= 21.0
    (newcomer,) = (flow for flow in result.summary["flows"] if flow["name"] == "newcomer")
    assert newcomer["undelivered_messages"] == 0
    (band,) = plots.kind("shares")(result).axes[0].collections
    assert band.get_datalim(band.axes.transData).x1 == competition["to_s"]  # type: ignore[union-attr]


def test_refusals(alike: leobench.Result, quick: Path) -> None:
    draw = plots.kind("shares")
    with pytest.raises(InputError, match="a single flow has no share"):
        draw(alike, flow="newcomer")
    with pytest.raises(InputError, match=r"shares: cannot show from 60 s to 90 s; allowed: .* to 70 s"):
        draw(alike, start_s=60, end_s=90)
    with pytest.raises(InputError, match="fewer than two flows that are not background"):
        draw(leobench.run(quick))
