"""TCP between 100 cities over satellites at rest, beside what ns-3 measured over the same network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.paths import ROOT
from tools import ns3_orbit

if TYPE_CHECKING:
    from pathlib import Path

MEASURED = ROOT / "crates" / "sim" / "testdata" / "ns3"


def test_the_network_has_the_links_of_all_ways(tmp_path: Path) -> None:
    """Delays by circular orbits add up to ours, which the tool checks way by way."""
    file = tmp_path / "network.txt"
    ns3_orbit.main(["network", str(file), "--mbps", "1"])
    lines = [line.split() for line in file.read_text("utf-8").splitlines()]
    kinds = [line[0] for line in lines]
    assert kinds.count("flow") == 100
    links = {frozenset(line[1:3]) for line in lines if line[0] == "link"}
    steps = [frozenset((line[1], line[3])) for line in lines if line[0] == "route"]
    assert set(steps) == links, "every link is on a way, and every way has its links"
    assert all(int(line[-1]) < 20_000_000 for line in lines if line[0] == "link"), "20 ms are 6,000 km"


@pytest.mark.parametrize(
    ("mbps", "seconds", "warm_up"),
    [(1, 120.0, 20.0), (10, 20.0, 8.0), pytest.param(10, 40.0, 10.0, marks=pytest.mark.slow)],
)
def test_goodputs_are_those_of_ns3(mbps: int, seconds: float, warm_up: float) -> None:
    """Windows at 1 Mbit/s are a few segments, and ns-3 has no RACK-TLP."""
    seen = ns3_orbit.compare(MEASURED / f"orbit-{mbps}.txt", mbps, seconds, warm_up)
    assert 0.97 < seen.total < 1.10
    assert seen.correlation > 0.88
    assert np.median(seen.ours / seen.theirs) == pytest.approx(1.0, abs=0.06)
