"""Names and texts of a scenario cannot run script in a page, nor end its elements."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest

import leobench
from leobench import report
from leobench.report import page as pages
from leobench.report.content import Content
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reports.browser import Opened

SCRIPTS = (
    "</script><script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    '"><svg onload=window.hit=1>',
    "<!--<script>",
    "@@content@@",
    "\u2028window.hit = 1//",
)

# How a page could be made to read a text as HTML or as a program.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|javascript:"
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """The result folder of a run whose every free text is an attack, which its folder's files then repeat."""
    scenario = tmp_path / "hostile.toml"
    text = QUICK.replace('name = "quick"', f"name = 'quick'\ndescription = {json.dumps(' '.join(SCRIPTS))}")
    scenario.write_text(text, encoding="utf-8")
    folder = tmp_path / "hostile"
    leobench.run(scenario, out=folder)
    # Names of flows and links are not free in a scenario, but a folder comes from anybody.
    for name in ("summary.json", "manifest.json"):
        file = folder / name
        changed = json.loads(file.read_text(encoding="utf-8"))
        rename(changed)
        file.write_text(json.dumps(changed), encoding="utf-8")
    return folder


def rename(value: object) -> None:
    """Puts an attack in place of every name, scenario and warning of a JSON value."""
    if isinstance(value, dict):
        for key, held in value.items():
            if key in ("name", "scenario", "transport", "congestion") and isinstance(held, str):
                value[key] = f"{held}{SCRIPTS[0]}{SCRIPTS[1]}"
            elif key == "warnings":
                value[key] = list(SCRIPTS)
            else:
                rename(held)
    if isinstance(value, list):
        for held in value:
            rename(held)


def test_attacks_in_every_text_are_shown_as_text(hostile: Path, opened: Opened) -> None:
    file = report.write([hostile], hostile.with_suffix(".html"))
    page = opened.open(file)
    opened.draw_all()
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    assert page.evaluate("window.hit") is None
    shown = page.locator("#page").inner_text()
    assert all(attack.strip() in shown for attack in SCRIPTS[:5])
    assert SCRIPTS[0] in page.title()
    assert page.evaluate("document.querySelectorAll('#page script, #page img, #page iframe').length") == 0
    # Had a text become an element all the same, the policy of the page would refuse its script.
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', \"<img src='data:,' onerror='window.hit = 1'>\")"
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.hit") is None
    assert [error for error in opened.errors if "Content Security Policy" in error]
    opened.errors.clear()


def test_json_in_a_page_cannot_end_its_element() -> None:
    text = pages.report(Content("run", SCRIPTS[0], " ".join(SCRIPTS)))
    content = re.search(r'id="content">(.*?)</script>', text, re.DOTALL)
    assert content is not None
    assert not re.search("[<>&\u2028\u2029]", content[1])
    assert json.loads(content[1])["description"] == " ".join(SCRIPTS)
    assert text.count("<script") == text.count("</script>") == 3


def test_our_modules_never_parse_text() -> None:
    files = sorted((pages.ASSETS / "modules").glob("*.js"))
    assert len(files) > 10
    assert [file.name for file in files if FORBIDDEN.search(file.read_text(encoding="utf-8"))] == []


def test_what_another_version_wrote_is_left_out_and_the_rest_is_shown(
    ka: Path, tmp_path: Path, opened: Opened
) -> None:
    folder = tmp_path / "later"
    shutil.copytree(ka, folder)
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    del summary["flows"][0]["rtt_ms"]
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    pl.read_parquet(folder / "queues.parquet").drop("backlog_bytes").write_parquet(
        folder / "queues.parquet", compression="snappy"
    )
    pl.read_parquet(folder / "messages.parquet").write_parquet(
        folder / "messages.parquet", compression="zstd"
    )
    page = opened.open(report.write([folder], tmp_path / "later.html"))
    opened.draw_all()
    notes = page.locator(".lost").all_inner_texts()
    for what in ("The summary", "Delay of messages", "Queues of links"):
        assert [note for note in notes if note.startswith(f"{what} cannot be shown: ")], notes
    assert page.locator('[data-panel="window"] .uplot').count() == 1
    assert page.locator("#table-of-links").count() == 1
    assert len(opened.errors) == len(notes)
    opened.errors.clear()


def test_a_phone_shows_fifty_flows_with_long_names(tmp_path: Path, opened: Opened) -> None:
    scenario = tmp_path / "fifty.toml"
    head, flow = QUICK.split("[flows.main]")
    flow = flow.replace('"5 Mbps"', '"100 kbps"')
    names = [f"{'flow' * 12}-{number}" for number in range(50)]
    scenario.write_text(head + "".join(f"[flows.{name}]{flow}" for name in names), encoding="utf-8")
    leobench.run(scenario, out=tmp_path / "fifty")
    opened.page.set_viewport_size({"width": 420, "height": 900})
    page = opened.open(report.write([tmp_path / "fifty"], tmp_path / "fifty.html"))
    opened.draw_all()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for panel in ("throughput", "rtt", "window"):
        assert page.locator(f'[data-panel="{panel}"] .chip:visible').count() <= 12, panel
    assert page.locator("#table-of-flows tbody tr").count() == 50
    heads = page.locator("#table-of-flows tbody th")
    assert heads.evaluate_all("all => all.filter((each) => each.scrollWidth > each.clientWidth).length") == 0
