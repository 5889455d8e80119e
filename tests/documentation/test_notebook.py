"""The tutorial notebook runs, as a marimo notebook and cell by cell as Jupyter runs it."""

from __future__ import annotations

import json
import runpy
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from tools import notebook

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("marimo", reason="needs marimo, which requirements.lock has")


@pytest.fixture(autouse=True)
def undrawn() -> Iterator[None]:
    """Draws no windows, and closes the figures."""
    mpl.use("agg")
    yield
    plt.close("all")


def check(found: dict[str, Any]) -> None:
    """Checks the values of a notebook that was run against what its texts say."""
    assert 0.3 < found["share"] < 0.6
    means = {row["controller"]: row["mean (Mbit/s)"] for row in found["compared"].to_dicts()}
    assert list(means) == ["newreno", "cubic", "bbr"]
    assert means["bbr"] > 1.5 * means["cubic"]
    assert found["mistake"].startswith("links.sky.delay = 5: is a bare number without a unit")
    assert found["timeline"].axes


def test_it_runs_under_marimo(capsys: pytest.CaptureFixture[str]) -> None:
    outputs, found = runpy.run_path(str(notebook.SOURCE))["app"].run()
    check(dict(found))
    assert "goodput (Mbit/s)" in "".join(
        output._repr_html_() for output in outputs if hasattr(output, "flows")
    )
    assert "Mbit/s, which is" in capsys.readouterr().out


def test_the_export_is_that_of_the_notebook_and_runs_without_marimo() -> None:
    written = notebook.EXPORTED.read_text(encoding="utf-8")
    assert notebook.text() == written, "run tools/notebook.py"
    cells = ["".join(cell["source"]) for cell in json.loads(written)["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    found: dict[str, Any] = {}
    for cell in cells:
        exec(compile(cell, "cell", "exec"), found)  # noqa: S102
        assert "mo" not in found
    check(found)
