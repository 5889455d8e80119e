"""The figure, the tables and the page of a passport show what is in `passport.json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from leobench import report
from leobench.cli import passport_table
from leobench.errors import InputError
from leobench.passport import document, tables
from leobench.plots import passport as plot
from leobench.plots import style
from leobench.report import gather
from tests.passport import made_up

if TYPE_CHECKING:
    from pathlib import Path


def test_the_verdicts_are_those_of_the_values() -> None:
    made = made_up.described()
    assert [check["verdict"] for check in made["checks"]] == ["fail", "pass", "warn", "not measured"]
    assert made["counts"] == {"fail": 1, "warn": 1, "not measured": 1, "pass": 1}
    assert [check["rank"] for check in made["checks"]] == ["2", "2", "2", ""]


def test_the_figure_places_values_between_their_thresholds() -> None:
    """Of `deep-queue`, which warns above 1 and fails above 7.2, 4.1 is in the middle."""
    axes = plot.draw(made_up.described()).axes[0]
    points = {
        (line.get_xdata()[0], line.get_ydata()[0]): line.get_color()  # type: ignore[index]
        for line in axes.lines
        if len(line.get_xdata()) == 1 and line.get_markerfacecolor() != "white"  # type: ignore[arg-type]
    }
    rows = {row: (place, colour) for (place, row), colour in points.items()}
    assert rows[0] == (pytest.approx(1 + (0.5 - 0.8) / 0.2), style.VERMILION)
    assert rows[1] == (pytest.approx(1), style.BLUE)
    assert rows[2] == (pytest.approx(0.5), style.ORANGE)
    assert 3 not in rows
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        check.id for check in made_up.SUITE.checks
    ]


def test_the_table_of_a_terminal_begins_with_what_fails() -> None:
    lines = passport_table.render(made_up.described()).split("\n")
    order = [line.split()[0] for line in lines[5:9]]
    assert order == ["fail", "warn", "not", "pass"]
    assert (
        "fail: fat-goodput: Does it fill a fast path? Goodput over the mean rate of the bottleneck" in lines
    )


def test_markdown_has_a_column_for_each_controller() -> None:
    lines = tables.markdown([made_up.described()]).split("\n")
    assert lines[0] == "| check | question | cubic | vegas |"
    assert lines[2] == "| `fat-goodput` | Does it fill a fast path? | **0.5 fail** | 0.9 |"
    assert lines[5].endswith("| - | 3 s |")


def test_a_report_knows_the_folder_of_a_passport(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    made = made_up.write(folder)
    content = gather.gather([folder])
    assert (content.kind, content.title) == ("passport", "Passport of cubic")
    assert content.passports[0]["checks"] == made["checks"]
    assert content.passports[0]["drawing"].startswith("data:image/png;base64,")
    assert report.write([folder], tmp_path / "mine.html").stat().st_size > 100_000
    with pytest.raises(InputError, match="is a passport, and cannot be reported beside others"):
        gather.gather([folder, folder])


def test_a_damaged_or_later_passport_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    made = made_up.write(folder)
    file = folder / document.JSON
    file.write_text(json.dumps(made | {"schema": 2}), encoding="utf-8")
    with pytest.raises(InputError, match="has schema 2; allowed: 1"):
        document.read(folder)
    file.write_text(json.dumps({key: made[key] for key in made if key != "checks"}), encoding="utf-8")
    with pytest.raises(InputError, match="is damaged"):
        document.read(folder)
    with pytest.raises(InputError, match="holds no passport"):
        document.read(tmp_path)
