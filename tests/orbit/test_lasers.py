"""The map of the lasers that carry most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection

import leobench
from leobench import InputError, plots
from tests.orbit.cities import scenario

CITIES = {
    "manila": (14.6, 120.98),
    "dalian": (38.91, 121.61),
    "lima": (-12.05, -77.04),
    "tokyo": (35.69, 139.69),
}


HEAD = 'name = "lasers"\nduration = "3 s"\nrecord = { interval = "500 ms" }'
PAIRS = (("manila", "dalian"), ("tokyo", "lima"))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> leobench.Result:
    file = Path(tmp_path_factory.mktemp("lasers")) / "lasers.toml"
    isl = 'rate = "10 Mbps", queue = { kind = "fifo", limit = "50 packets" }'
    file.write_text(scenario(HEAD, CITIES, PAIRS, isl=isl))
    return leobench.run(file)


def pieces(figure: object) -> LineCollection:
    (map_, _) = figure.axes  # type: ignore[attr-defined]
    (lasers,) = (one for one in map_.collections if one.get_array() is not None)
    assert isinstance(lasers, LineCollection)
    return lasers


def test_every_laser_that_sent_is_a_line_as_dark_as_it_was_busy(result: leobench.Result) -> None:
    lasers = pieces(plots.kind("lasers")(result))
    hops = result.tables["hops"]
    sent = {hop for hop in hops["hop"] if hop.startswith("laser/")}
    shares = np.asarray(lasers.get_array())
    across = [piece for piece in lasers.get_paths() if np.abs(np.asarray(piece.vertices)[:, 0]).max() > 181]
    assert len(shares) == len(sent) + len(across) / 2, "a laser across the edge of the map has two pieces"
    assert len(across) >= 2, "from Tokyo to Lima, packets cross the edge"
    # 972 of 1,000 bytes are data of 5 Mbit/s, over 10 Mbit/s; the first packets arrive after a while.
    assert shares.max() == pytest.approx(100 * 5 / 9.72, rel=0.1)


def test_satellites_are_above_the_cities_that_they_serve(result: leobench.Result) -> None:
    lasers = pieces(plots.kind("lasers")(result))
    ends = np.concatenate([path.vertices for path in lasers.get_paths()])
    for latitude, longitude in CITIES.values():
        east = (ends[:, 0] - longitude + 180) % 360 - 180
        away = np.hypot(east * np.cos(np.radians(latitude)), ends[:, 1] - latitude)
        assert away.min() < 10, "at 30 degrees of elevation, a satellite 630 km up is at most 8 degrees away"


def test_what_has_no_lasers_is_refused(tmp_path: Path, result: leobench.Result) -> None:
    draw = plots.kind("lasers")
    with pytest.raises(InputError, match="lasers carry the packets of all flows"):
        draw(result, flow="manila-dalian")
    with pytest.raises(InputError, match="times from 0 to 3 s"):
        draw(result, start_s=2.0, end_s=9.0)
    file = tmp_path / "plain.toml"
    file.write_text(scenario(HEAD, CITIES, PAIRS))
    with pytest.raises(InputError, match=r"isl\.rate"):
        draw(leobench.run(file))
