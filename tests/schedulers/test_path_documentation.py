"""The page on path schedulers written in Python: its classes, and what it says of them."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = (ROOT / "docs" / "howto" / "python-path-schedulers.md").read_text(encoding="utf-8")
FILES = {
    block.partition("\n")[0].removeprefix("# "): block
    for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
}
AT = "flows.upload.transport.multipath.scheduler"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The shipped scenario beside all files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "scenarios" / "multipath.toml", tmp_path)
    return tmp_path / "multipath.toml"


def test_the_page_has_what_is_tested() -> None:
    assert set(FILES) == {"shortest.py", "patient.py", "stubborn.py", "cost.py"}


def test_the_shortest_is_the_one_built_in(scenario: Path) -> None:
    own, built_in = (
        leobench.run(scenario, overrides={AT: scheduler}).summary["flows"]
        for scheduler in ({"python": "shortest:Shortest"}, "min_rtt")
    )
    assert own == built_in


def test_the_patient_leaves_short_files_to_the_fast_path(scenario: Path) -> None:
    """Each is sent within the additional round trip of the slow path, on which it would arrive later."""
    overrides: dict[str, object] = {
        "flows.upload.source": {"kind": "cbr", "rate": "400 kbps", "size": "50 kB"}
    }
    patient, eager = (
        leobench.run(scenario, overrides=overrides | {AT: scheduler}).summary["flows"][0]
        for scheduler in ({"python": "patient:Patient"}, "min_rtt")
    )
    assert patient["delay_ms"]["p95"] < eager["delay_ms"]["p95"]
    assert patient["paths"][1]["sent_bytes"] < eager["paths"][1]["sent_bytes"] / 2


def test_the_stubborn_fails_as_printed(scenario: Path) -> None:
    with pytest.raises(leobench.RunError) as failed:
        leobench.run(scenario, overrides={AT: {"python": "stubborn:Stubborn"}})
    (printed,) = re.findall(r"^leobench: (flow `upload`: path scheduler .*)$", PAGE, re.MULTILINE)
    numbers = re.compile(r"\d+\.\d+")
    assert numbers.sub("N", str(failed.value)) == numbers.sub("N", printed)


def test_the_example_does_what_the_page_says_of_it() -> None:
    example = ROOT / "examples" / "before_handover.toml"
    knowing, unaware = (leobench.run(example, overrides=changed).summary for changed in ({}, {AT: "min_rtt"}))
    (packets,) = re.findall(r"with `min_rtt` it is (\d+) packets", PAGE)
    (less,) = re.findall(r"The goodput is ([\d.]+) % lower", PAGE)
    dropped = [
        sum(
            link["dropped_packets"].get("handover", 0)
            for link in summary["links"]
            if link["name"] == "sky/van->office"
        )
        for summary in (knowing, unaware)
    ]
    assert dropped == [0, pytest.approx(int(packets), rel=0.1)]
    (calm,), (blind,) = knowing["flows"], unaware["flows"]
    assert calm["handovers"]["count"] == 3
    ratio = calm["goodput_bps"] / blind["goodput_bps"]
    assert 100 * (1 - ratio) == pytest.approx(float(less), abs=0.3)


@pytest.mark.slow
def test_the_costs_can_be_measured_as_the_page_says(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(scenario.parent)
    exec(compile(FILES["cost.py"], "cost.py", "exec"), {"__name__": "__main__"})  # noqa: S102
    printed = re.findall(r"^(\w+) +[\d.]+ µs$", capsys.readouterr().out, re.MULTILINE)
    assert printed == re.findall(r"^\| `(\w+)`.* \| [\d.]+ µs \|$", PAGE, re.MULTILINE)
