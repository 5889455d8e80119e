from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
import scipy.stats
from matplotlib.text import Annotation

from leobench import InputError
from leobench.plots import box, ecdf, style
from leobench.plots.frames import Column

DELAY, SCHEDULER = Column("delay_s", "message delay", "s"), Column("scheduler", "scheduler")


def delays(count: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "scheduler": ["RR"] * count + ["BP"] * count,
            "load": ["50 %"] * (2 * count),
            "delay_s": np.concatenate([rng.lognormal(-2.0, 0.5, count), rng.lognormal(-2.5, 0.3, count)]),
        }
    )


def test_distribution_functions_equal_scipys() -> None:
    data = delays()
    figure = ecdf.draw(data, value=DELAY, series=SCHEDULER, of="messages", title="Delay")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "message delay (ms)"
    assert axes.get_ylabel() == "share of messages below"
    for line, name in zip(axes.get_lines(), ("RR", "BP"), strict=False):
        values = data.filter(pl.col("scheduler") == name)["delay_s"].to_numpy()
        theirs = scipy.stats.ecdf(values).cdf
        x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
        assert line.get_label() == name
        assert line.get_drawstyle() == "steps-post"
        assert (x[0], y[0]) == (pytest.approx(values.min() * 1e3), 0.0)
        assert x[1:] == pytest.approx(theirs.quantiles * 1e3)
        assert y[1:] == pytest.approx(theirs.probabilities)
    assert len({str(line.get_linestyle()) for line in axes.get_lines()[:2]}) == 2
    assert [text.get_text() for text in axes.texts] == ["median", "95 %"]


def test_long_distributions_are_thinned_and_stay_true() -> None:
    values = np.random.default_rng(1).exponential(size=100_000)
    line = ecdf.draw(pl.DataFrame({"v": values}), value="v").axes[0].get_lines()[0]
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    assert len(x) == style.COLUMNS + 1
    assert (x[-1], y[-1]) == (values.max(), 1.0)
    # Every corner is one of the true function's.
    assert y[1:] == pytest.approx(scipy.stats.ecdf(values).cdf.evaluate(x[1:]))
    assert np.max(np.diff(y)) < 2 / style.COLUMNS


def test_messages_that_never_arrived_keep_the_curve_below_one() -> None:
    data = delays(100).with_row_index().with_columns(delay_s=pl.when(pl.col("index") >= 25).then("delay_s"))
    figure = ecdf.draw(data, value=DELAY, series=SCHEDULER)
    first, second = figure.axes[0].get_lines()[:2]
    assert first.get_label() == "RR (25 % missing)"
    assert np.asarray(first.get_ydata(), float)[-1] == 0.75
    assert second.get_label() == "BP"
    assert np.asarray(second.get_ydata(), float)[-1] == 1.0


def test_a_series_without_any_value_is_named_all_the_same() -> None:
    data = delays(10).with_columns(delay_s=pl.when(pl.col("scheduler") == "BP").then("delay_s"))
    lines = ecdf.draw(data, value=DELAY, series=SCHEDULER).axes[0].get_lines()
    assert lines[0].get_label() == "RR (100 % missing)"
    assert len(np.asarray(lines[0].get_xdata())) == 0


def test_boxes_show_quartiles_median_mean_and_percentiles() -> None:
    data = delays()
    figure = box.draw(data, group="load", series=SCHEDULER, value=DELAY, title="Delay")
    (axes,) = figure.axes
    values = data.filter(pl.col("scheduler") == "RR")["delay_s"].to_numpy() * 1e3
    # Matplotlib's order: two whiskers, two caps, the median, the mean.
    low, high, *_, median, mean = (np.asarray(line.get_ydata(), float) for line in axes.get_lines()[:6])
    five, lower, middle, upper, ninety_five = np.percentile(values, [5, 25, 50, 75, 95])
    # Whiskers end at the last value within the percentiles.
    assert low[0] == pytest.approx(lower)
    assert low[1] == pytest.approx(values[values >= five].min())
    assert high[0] == pytest.approx(upper)
    assert high[1] == pytest.approx(values[values <= ninety_five].max())
    assert median[0] == pytest.approx(middle)
    assert mean[0] == pytest.approx(values.mean())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["RR", "BP"]
    assert figure.get_supxlabel() == "box: quartiles, line: median, whiskers: 5 % to 95 %, diamond: mean"
    assert axes.get_ylabel() == "message delay (ms)"
    assert axes.get_ylim()[0] == 0.0


@pytest.mark.parametrize("count", [1, 2, 5, 39])
def test_too_few_values_for_quantiles_are_points_with_median_and_mean(count: int) -> None:
    values = np.random.default_rng(count).exponential(size=count)
    figure = box.draw(pl.DataFrame({"g": ["a"] * count, "v": values}), group="g", value="v", violin=True)
    (axes,) = figure.axes
    points, mean = axes.get_lines()
    assert (points.get_marker(), points.get_linestyle()) == ("o", "None")
    assert np.asarray(points.get_ydata()) == pytest.approx(np.sort(values))
    places = np.asarray(points.get_xdata(), float)
    assert len(set(places)) == count, "equal values would cover each other"
    assert np.abs(places).max() < 0.5
    assert np.asarray(mean.get_ydata(), float) == pytest.approx([values.mean()])
    (line,) = axes.collections[0].get_paths()
    assert np.asarray(line.vertices)[:, 1] == pytest.approx(np.median(values))
    assert figure.get_supxlabel() == "points: single values, line: median, diamond: mean"
    assert not axes.patches[:-1], "no box"


def test_boxes_and_points_in_one_figure_are_both_explained() -> None:
    data = pl.DataFrame({"g": ["few"] * 39 + ["many"] * 40, "v": np.arange(79.0)})
    figure = box.draw(data, group="g", value="v")
    assert figure.get_supxlabel() == (
        "points: single values, line: median, diamond: mean; "
        "box: quartiles, line: median, whiskers: 5 % to 95 %, diamond: mean"
    )
    missing = data.with_columns(v=pl.when(pl.col("v") != 78).then("v"))
    assert "box" not in box.draw(missing, group="g", value="v").get_supxlabel()


def test_the_names_of_shares_are_beside_the_panel() -> None:
    figure = ecdf.draw(delays(), value=DELAY, series=SCHEDULER)
    (axes,) = figure.axes
    figure.draw_without_rendering()
    right = axes.get_window_extent().x1
    assert all(right < text.get_window_extent().x0 < figure.bbox.x1 for text in axes.texts)


def test_what_a_box_leaves_out_is_written_above() -> None:
    data = delays(100).with_row_index().with_columns(delay_s=pl.when(pl.col("index") >= 25).then("delay_s"))
    (axes,) = box.draw(data, group="load", series=SCHEDULER, value=DELAY).axes
    (above,) = axes.texts
    assert isinstance(above, Annotation)
    assert above.get_text() == "25 % missing"
    assert above.xy == pytest.approx((-0.2, 1))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("series", [3, 7])
def test_what_is_written_above_keeps_clear_of_the_boxes(log: bool, series: int) -> None:
    data = pl.DataFrame(
        {"s": [*range(series)] * 20, "g": ["a"] * 20 * series, "v": [*range(1, 10 * series + 1)] * 2}
    ).with_columns(v=pl.when(pl.int_range(pl.len()) >= 10).then("v"))
    figure = box.draw(data, group="g", series="s", value=Column("v", log=log))
    (axes,) = figure.axes
    figure.draw_without_rendering()
    written = [text.get_window_extent() for text in axes.texts]
    assert len(written) > 2
    top = max(float(np.max(line.get_ydata())) for line in axes.get_lines())
    assert min(each.y0 for each in written) > axes.transData.transform((0, top))[1]
    assert max(each.y1 for each in written) <= axes.get_window_extent().y1
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(written))


@pytest.mark.parametrize("log", [False, True])
def test_violins_are_as_wide_as_the_density(log: bool) -> None:
    data = delays().filter(pl.col("scheduler") == "RR")
    (axes,) = box.draw(data, group="load", value=Column("delay_s", "delay", "s", log=log), violin=True).axes
    values = data["delay_s"].to_numpy() * 1e3
    (outline,) = axes.collections[0].get_paths()
    x, y = np.asarray(outline.vertices).T
    assert (y.min(), y.max()) == pytest.approx((values.min(), values.max()))
    shown = np.log10 if log else np.asarray
    right = x > 0
    density = scipy.stats.gaussian_kde(shown(values))(shown(y[right]))
    widths = x[right]
    assert widths / widths.max() == pytest.approx(density / density.max(), abs=0.01)


def test_equal_values_have_a_box_and_no_violin() -> None:
    data = pl.DataFrame({"g": ["a"] * 40, "v": [2.0] * 40})
    (axes,) = box.draw(data, group="g", value="v", violin=True).axes
    assert list(axes.collections) == []
    assert np.asarray(axes.get_lines()[4].get_ydata()).tolist() == [2.0, 2.0]


def test_wrong_columns_are_refused() -> None:
    with pytest.raises(InputError, match=r"ecdf: no column `delay`; .* did you mean `delay_s`\?"):
        ecdf.draw(delays(), value="delay")
    with pytest.raises(InputError, match=r"box: no column `lod`; .* did you mean `load`\?"):
        box.draw(delays(), group="lod", value=DELAY)
    many = pl.DataFrame({"s": range(8), "v": [1.0] * 8})
    with pytest.raises(InputError, match="ecdf: 8 series; allowed: 7, more cannot be told apart"):
        ecdf.draw(many, value="v", series="s")
    assert len(ecdf.draw(many, value="v", series="s", colours=style.ramp(8)).axes[0].get_lines()) == 8 + 2
