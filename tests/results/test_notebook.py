"""The tables that a notebook shows of results."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING

import leobench
from tests.support import campaigns, made_up

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from leobench.campaign import PlannedRun

HOSTILE = '<script>alert("1")</script>&<b>'


class Seen(HTMLParser):
    """The elements and texts of a page as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert [name for name, _ in attrs] in ([], ["style"])
        self.elements.append(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


ALLOWED = {"div", "p", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td"}


def test_a_run_shows_its_flows_and_links() -> None:
    seen = Seen(made_up.result()._repr_html_())
    assert set(seen.elements) <= ALLOWED
    assert seen.texts[0] == "made-up, seed 1, 60.000 s (in memory)"
    row = seen.texts.index("main")
    assert seen.texts[row : row + 8] == [
        "main",
        "quic cubic",
        "37.90",
        "150.0",
        "612.0",
        "230.0",
        "23",
        "60.200",
    ]
    assert made_up.LINK in seen.texts


def test_names_of_a_scenario_cannot_run_script(tmp_path: Path) -> None:
    result = made_up.result(
        scenario=HOSTILE, flows=[made_up.flow(HOSTILE, transport=HOSTILE)], links=[made_up.link(HOSTILE)]
    )
    result.manifest["validity"]["warnings"].append(HOSTILE)
    page = leobench.Result(result.manifest, result.summary, result.tables, tmp_path / HOSTILE)._repr_html_()
    seen = Seen(page)
    assert set(seen.elements) <= ALLOWED
    assert sum(HOSTILE in text for text in seen.texts) >= 5
    assert "<script" not in page


def test_a_page_stays_short() -> None:
    many = [made_up.flow(f"flow-{number}") for number in range(1000)]
    seen = Seen(made_up.result(flows=many)._repr_html_())
    assert "... and 980 more" in seen.texts
    assert "flow-19" in seen.texts
    assert "flow-20" not in seen.texts


def test_a_campaign_shows_means_and_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leobench.campaign import task
    from leobench.campaign.store import Outcome

    result = leobench.sweep(campaigns.write(tmp_path), tmp_path / "out", workers=1)
    seen = Seen(result._repr_html_())
    assert set(seen.elements) <= ALLOWED
    assert seen.texts[0] == f"tiny, 3 runs of each variant ({tmp_path}/out)"
    assert seen.elements.count("tr") == 1 + 4 * 2
    execute = task.execute

    def fail_one(run: PlannedRun, tables: object, version: str) -> Outcome:
        del tables
        if run.replicate == 2:
            return Outcome(None, HOSTILE, {})
        return execute(run, (), version)

    monkeypatch.setattr(task, "execute", fail_one)
    file = campaigns.write(tmp_path, ('tables = ["messages", "channel"]\n', ""))
    failed = Seen(leobench.sweep(file, tmp_path / HOSTILE.replace("/", ""), workers=1)._repr_html_())
    assert set(failed.elements) <= ALLOWED
    assert any("4 runs failed" in text for text in failed.texts)
