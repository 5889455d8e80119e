from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from leobench import InputError, plots
from leobench.plots import bars, style, units
from leobench.plots.frames import Column, Interval

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

BUFFER, STREAMS = Column("buffer", "buffer (packets)"), Column("streams", "streams")
GOODPUT = Column("goodput_bps", "goodput", "bit/s")
ENDS = Interval("low", "high", "95 % interval, 30 runs")


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "buffer": ["7", "7", "15", "15", "unlimited"],
            "streams": [1, 2, 1, 2, 2],
            "goodput_bps": [20e6, 21e6, 30e6, None, 40e6],
            "low": [19e6, 20e6, 28e6, None, None],
            "high": [21e6, 23e6, 33e6, None, None],
        }
    )


def whiskers(axes: Axes) -> list[tuple[float, float, float]]:
    """Places and ends of the lines between the ends of intervals, from left to right."""
    lines = [np.asarray(path.vertices) for each in axes.collections for path in each.get_paths()]
    return sorted((line[0, 0], line[0, 1], line[1, 1]) for line in lines)


def caps(axes: Axes) -> list[tuple[float, float]]:
    found = [np.asarray(line.get_xydata()) for line in axes.get_lines() if line.get_marker() == "_"]
    return sorted((x, y) for x, y in np.concatenate(found) if np.isfinite(y))


def arrows(axes: Axes) -> list[tuple[float, float, float]]:
    """Position and start of each arrow, and whether it goes to the foot (0) or the top (1) of the panel."""
    found = [each for each in axes.texts if isinstance(each, Annotation) and each.arrow_patch]
    return sorted((each.xyann[0], each.xyann[1], each.xy[1]) for each in found)


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for each in figure.legends for text in each.get_texts()]


def words(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_bars_stand_in_groups_with_their_whiskers() -> None:
    figure = bars.draw(frame(), group=BUFFER, series=STREAMS, value=GOODPUT, interval=ENDS, title="Goodput")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["7", "15", "unlimited"]
    one, two = (
        {
            round(bar.get_x() + bar.get_width() / 2, 3): bar.get_height()
            for bar in axes.patches[at : at + 3]
            if isinstance(bar, Rectangle)
        }
        for at in (0, 3)
    )
    # Two bars share 0.82 of a group's room, in megabits.
    assert one == pytest.approx({-0.205: 20.0, 0.795: 30.0, 1.795: np.nan}, nan_ok=True)
    assert two == pytest.approx({0.205: 21.0, 1.205: np.nan, 2.205: 40.0}, nan_ok=True)
    expected = [(-0.205, 19.0, 21.0), (0.205, 20.0, 23.0), (0.795, 28.0, 33.0)]
    assert np.allclose(whiskers(axes), expected)
    assert np.allclose(caps(axes), sorted((x, end) for x, *ends in expected for end in ends))
    assert axes.get_ylabel() == "goodput (Mbit/s)"
    assert axes.get_xlabel() == "buffer (packets)"
    assert axes.get_title(loc="left") == "Goodput"
    assert axes.get_ylim()[0] == 0.0
    assert legend(figure) == ["1", "2"]
    assert figure.legends[0].get_title().get_text() == "streams"
    assert figure.get_supxlabel() == "whiskers: 95 % interval, 30 runs; no whisker: no interval"


def test_what_has_no_value_says_so_and_the_others_show_theirs() -> None:
    (axes,) = bars.draw(frame(), group=BUFFER, series=STREAMS, value=GOODPUT, interval=ENDS).axes
    assert words(axes).count("no value") == 2
    assert [word for word in words(axes) if word != "no value"] == ["20", "30", "21", "40"]


def test_crowded_bars_show_no_numbers() -> None:
    many = pl.DataFrame(
        {"g": [g for g in "abcd" for _ in range(5)], "s": list(range(5)) * 4, "v": [1.0] * 20}
    )
    assert words(bars.draw(many, group="g", series="s", value="v").axes[0]) == []


def test_two_metrics_are_two_panels_with_one_legend() -> None:
    data = frame().with_columns(delay_ms=pl.lit(5.0))
    figure, (left, right) = style.panels(2)
    for axes, value in ((left, GOODPUT), (right, Column("delay_ms", "mean delay", "ms"))):
        assert bars.draw(data, group=BUFFER, series=STREAMS, value=value, axes=axes) is figure
    assert figure.legends == []
    style.key(figure, left, "streams")
    assert legend(figure) == ["1", "2"]
    assert right.get_ylabel() == "mean delay (ms)"


def test_values_on_a_logarithmic_axis_are_points_with_plain_ticks() -> None:
    data = pl.DataFrame(
        {"b": ["7", "unlimited"], "d": [40.0, 5_000.0], "low": [30.0, 4_000.0], "high": [50.0, 6e3]}
    )
    figure = bars.draw(
        data, group="b", value=Column("d", "mean delay", "ms", log=True), interval=Interval("low", "high")
    )
    (axes,) = figure.axes
    assert list(axes.patches) == []
    assert np.asarray(axes.get_lines()[0].get_ydata()).tolist() == [0.04, 5.0]
    assert axes.get_ylabel() == "mean delay (s)"
    assert axes.get_yscale() == "log"
    figure.canvas.draw()
    shown = {label.get_text() for label in axes.get_yticklabels()}
    assert {"0.05", "0.1", "0.2", "0.5", "1", "2", "5"} <= shown
    assert np.allclose(whiskers(axes), [(0.0, 0.03, 0.05), (1.0, 4.0, 6.0)])


@pytest.mark.parametrize("log", [False, True])
def test_an_end_that_is_unknown_is_an_arrow_and_no_cap(log: bool) -> None:
    data = pl.DataFrame(
        {"g": [*"abcd"], "v": [30.0, 45.0, 50.0, 40.0], "low": [None, 40.0, None, 35.0],
         "high": [39.0, None, None, 44.0]}
    )  # fmt: skip
    figure = bars.draw(data, group="g", value=Column("v", log=log), interval=ENDS)
    (axes,) = figure.axes
    assert arrows(axes) == [(0.0, 30.0, 0), (1.0, 45.0, 1)]
    assert caps(axes) == [(0.0, 39.0), (1.0, 40.0), (3.0, 35.0), (3.0, 44.0)]
    note = "whiskers: 95 % interval, 30 runs; arrow: no end on this axis; no whisker: no interval"
    assert figure.get_supxlabel() == note
    whole = bars.draw(data[3:], group="g", value=Column("v", log=log), interval=ENDS)
    assert whole.get_supxlabel() == "whiskers: 95 % interval, 30 runs"


def test_an_interval_that_reaches_below_zero_leaves_a_logarithmic_axis() -> None:
    data = pl.DataFrame({"g": ["a", "b"], "v": [1.0, 100.0], "low": [0.5, -20.0], "high": [2.0, 220.0]})
    figure = bars.draw(data, group="g", value=Column("v", log=True), interval=ENDS)
    (axes,) = figure.axes
    assert arrows(axes) == [(1.0, 100.0, 0)]
    assert caps(axes) == [(0.0, 0.5), (0.0, 2.0), (1.0, 220.0)]
    assert np.allclose(whiskers(axes), [(0.0, 0.5, 2.0), (1.0, 100.0, 220.0)])
    # Where there is a zero, the end is drawn where it is.
    (axes,) = bars.draw(data, group="g", value="v", interval=ENDS).axes
    assert arrows(axes) == []
    assert (1.0, -20.0) in caps(axes)


def boxes(figure: Figure, texts: Iterable[Text]) -> list[Bbox]:
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts if text.get_text()]


def test_a_logarithmic_axis_ends_near_what_is_drawn_whatever_the_whiskers_do() -> None:
    data = pl.DataFrame({"g": ["a", "b"], "v": [3.0, 40.0], "low": [1e-9, 30.0], "high": [4.0, 50.0]})
    figure = bars.draw(data, group="g", value=Column("v", log=True), interval=ENDS)
    (axes,) = figure.axes
    assert axes.get_ylim()[0] > 0.5
    assert arrows(axes) == [(0, 3.0, 0)], "to the foot of the panel"
    assert "arrow: no end on this axis" in figure.get_supxlabel()


def test_panels_beside_each_other_can_share_a_unit() -> None:
    data = pl.DataFrame({"g": ["a"], "v": [30.0]})
    (axes,) = bars.draw(data, group="g", value=Column("v", "delay", "ms", largest=5_000.0)).axes
    assert axes.get_ylabel() == "delay (s)"
    (bar,) = (each for each in axes.patches if isinstance(each, Rectangle))
    assert bar.get_height() == pytest.approx(0.03)


def test_a_whisker_is_seen_on_its_marker() -> None:
    for colour in ("#013060", "#b7dbf5", style.INK):
        look = style.marker(colour)
        inside, rim = (np.array(to_rgb(look[f"marker{part}color"])) for part in ("face", "edge"))
        assert inside.mean() > 0.5 > np.array(to_rgb(style.INK)).mean()
        assert rim.mean() < inside.mean()


@pytest.mark.parametrize(("sign", "log"), [(1, False), (1, True), (-1, False)])
def test_numbers_keep_clear_of_title_and_axis(sign: int, log: bool) -> None:
    data = pl.DataFrame({"g": ["a", "b"], "v": [sign * 5.0, sign * 10.0]})
    figure = bars.draw(data, group="g", value=Column("v", log=log), title="Delay")
    (axes,) = figure.axes
    written = boxes(figure, axes.texts)
    panel = axes.get_window_extent()
    assert len(written) == 2
    assert all(panel.y0 < each.y0 < each.y1 < panel.y1 for each in written)


def test_long_names_of_groups_do_not_overlap() -> None:
    names = [
        f"limit={queue},streams={count}" for queue in ("7-packets", "unlimited") for count in range(1, 5)
    ]
    data = pl.DataFrame({"variant": names, "v": [1.0] * 8})
    figure = bars.draw(data, group="variant", value="v")
    (axes,) = figure.axes
    written = boxes(figure, axes.get_xticklabels())
    # Aslant, boxes of their outlines overlap; what must not is a line of text and the next beside it.
    slant = math.radians(axes.get_xticklabels()[0].get_rotation())
    apart = (written[1].x1 - written[0].x1) * math.sin(slant)
    assert apart > style.FONT / 72 * figure.dpi
    assert min(each.x0 for each in written) >= 0
    assert min(each.y0 for each in written) >= 0
    short = bars.draw(data.with_columns(variant=pl.Series([*"abcdefgh"])), group="variant", value="v")
    assert short.axes[0].get_xticklabels()[0].get_rotation() == 0
    # The names take their room below the panel, not from it.
    short.draw_without_rendering()
    assert axes.get_window_extent().height >= 0.95 * short.axes[0].get_window_extent().height


def test_negative_values_hang_from_zero() -> None:
    data = pl.DataFrame({"g": ["a", "b"], "v": [-2.0, 1.0]})
    (axes,) = bars.draw(data, group="g", value="v").axes
    assert axes.get_ylim()[0] < -2.0
    assert [text.get_verticalalignment() for text in axes.texts] == ["top", "bottom"]


def test_series_differ_without_colour_and_an_order_shows_as_shades() -> None:
    (axes,) = bars.draw(frame(), group=BUFFER, series=STREAMS, value=GOODPUT).axes
    assert len({bar.get_hatch() for bar in axes.patches}) == 2
    shades = style.ramp(2)
    (axes,) = bars.draw(frame(), group=BUFFER, series=STREAMS, value=GOODPUT, colours=shades).axes
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == [shades[0]] * 3 + [shades[1]] * 3
    # Each darker than the one before, for print in grey.
    luminance = [sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for colour in style.ramp(5)]
    assert luminance == sorted(luminance, reverse=True)
    assert len(set(luminance)) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": "goodput"}, r"bars: no column `goodput`; allowed: .*; did you mean `goodput_bps`\?"),
        ({"value": "buffer"}, "bars: column `buffer` holds String; allowed: numbers"),
        ({"series": None}, "bars: several rows for buffer = 7; allowed: one"),
        ({"colours": ["#000000"]}, "bars: 2 series; allowed: 1, more cannot be told apart"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, object], message: str) -> None:
    options = {"group": BUFFER, "series": STREAMS, "value": GOODPUT} | change
    with pytest.raises(InputError, match=message):
        bars.draw(frame(), **options)  # type: ignore[arg-type]


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="the frame has no rows"):
        bars.draw(frame().clear(), group=BUFFER, series=STREAMS, value=GOODPUT)
    with pytest.raises(InputError, match="holds infinity; allowed: finite numbers or null"):
        bars.draw(pl.DataFrame({"g": ["a"], "v": [float("inf")]}), group="g", value="v")
    with pytest.raises(InputError, match="holds 0; allowed on a logarithmic axis: more than 0"):
        bars.draw(pl.DataFrame({"g": ["a"], "v": [0.0]}), group="g", value=Column("v", log=True))


@pytest.mark.parametrize("suffix", plots.FORMATS)
def test_the_same_frame_gives_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        plots.save(bars.draw(frame(), group=BUFFER, series=STREAMS, value=GOODPUT, interval=ENDS), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_units_are_written_as_they_suit_the_values() -> None:
    assert units.scale("ms", 5_200.0) == (1e3, "s")
    assert units.scale("ms", 40.0) == (1.0, "ms")
    divisor, unit = units.scale("ns", 40e6)
    assert (round(divisor), unit) == (1_000_000, "ms")
    assert units.scale("bit/s", 45e6) == (1e6, "Mbit/s")
    assert units.scale("packets", 45e6) == (1.0, "packets")
    assert [units.number_text(v) for v in (0.0, 0.0432, 1.234, -23.45, 1234.5)] == [
        "0", "0.043", "1.23", "-23.4", "1234",
    ]  # fmt: skip
