"""Reports on several runs, campaigns, reproductions and constellations, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import leobench
from leobench import cli, report
from leobench.campaign import Campaign, run_campaign
from leobench.errors import InputError
from leobench.report import gather, limits
from leobench.report.content import Content, Run, Table
from tests.reports.browser import saved
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reports.browser import Opened

SKY = """
name = "sky"
duration = "120 s"
record = { interval = "100 ms" }
[nodes.roof]
[nodes.pop]
[constellation]
satellites = { preset = "starlink" }
start = "2023-09-12T00:05:35Z"
policy = "starlink"
[constellation.terminals.seattle]
latitude = "47.66 deg"
longitude = "-122.31 deg"
[constellation.gateways]
redmond = { latitude = "47.674 deg", longitude = "-122.1215 deg" }
[links.sky]
between = ["roof", "pop"]
constellation = { terminal = "seattle" }
rate = "1 Mbps"
[flows.ping]
transport = "udp"
from = "roof"
to = "pop"
source = { kind = "cbr", rate = "80 kbps", size = "1 kB" }
"""


def test_a_campaign_is_drawn_and_sorts_by_any_column(buffers: Path, tmp_path: Path, opened: Opened) -> None:
    folder = buffers / "results" / "buffers"
    page = opened.open(report.write([folder], tmp_path / "campaign.html"))
    means = leobench.stats.mean_intervals(
        leobench.CampaignResult.open(folder).runs.filter(metric="flows.main.goodput_bps"), "variant"
    )
    table = page.locator("#table-of-campaign-0-results")
    heading = table.locator("th", has_text="goodput of main")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    shown = [float(text.split()[0]) for text in table.locator("tbody tr td:nth-child(3)").all_inner_texts()]
    assert shown == sorted(shown)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    text = saved(page, "#table-of-campaign-0-results .table-top button")
    rows = list(csv.DictReader(io.StringIO(text)))
    for column, name in (("mean", "flows.main.goodput_bps"), ("low", "flows.main.goodput_bps low")):
        assert [float(row[name]) for row in rows] == pytest.approx(means[column].to_list())
    page.locator("select").select_option("flows.main.delay_ms.mean")
    assert "mean delay of main" in (page.locator(".intervals svg").text_content() or "")
    assert page.locator(".intervals .mean").count() == means.height


def test_kept_tables_of_a_campaign_have_series(tmp_path: Path, opened: Opened) -> None:
    file = tmp_path / "kept.toml"
    file.write_text(
        f'name = "kept"\nscenario = "{ROOT / "scenarios" / "ka.toml"}"\nreplicates = 2\n'
        'tables = ["messages", "queues"]\nmetrics = ["flows.main.goodput_bps"]\nset = { duration = "1 s" }\n'
        '[[grid]]\n"flows.main.transport.congestion" = ["cubic", "newreno"]\n',
        encoding="utf-8",
    )
    run_campaign(Campaign.load(file), tmp_path / "kept", workers=1)
    content = gather.gather([tmp_path / "kept"])
    assert [sorted(run.tables) for run in content.runs] == [["messages", "queues"]] * 2
    page = opened.open(report.write([tmp_path / "kept"], tmp_path / "kept.html"))
    legend = page.locator('[data-panel="throughput"] .legend').inner_text()
    assert "congestion=cubic: main" in legend
    svg = page.locator(".intervals svg")
    left = svg.evaluate(
        "each => Math.min(...[...each.querySelectorAll('.name')].map((name) => name.getBBox().x))"
    )
    assert left >= 0
    assert "congestion newreno" in (svg.text_content() or "")
    page.locator(".picker button", has_text="newreno").click()
    expect(page.locator('[data-panel="throughput"] .chip')).to_have_count(1)


def test_several_runs_are_overlaid_and_compared(ka: Path, tmp_path: Path, opened: Opened) -> None:
    other = tmp_path / "other"
    leobench.run(ROOT / "scenarios" / "ka.toml", 2, {"duration": "5 s"}, out=other)
    page = opened.open(report.write([ka, other], tmp_path / "both.html"))
    rows = page.locator("#table-of-runs tbody tr")
    assert rows.count() == 2
    goodput = leobench.open(other).summary["flows"][0]["goodput_bps"]
    assert f"{goodput / 1e6:.1f} Mbit/s" in rows.nth(1).inner_text()
    legend = page.locator('[data-panel="delay"] .legend').inner_text()
    assert "seed 1: main" in legend
    assert "seed 2: main" in legend


def test_claims_are_shown_with_their_outcomes(tmp_path: Path, opened: Opened) -> None:
    folder = tmp_path / "paper" / "fig7"
    folder.mkdir(parents=True)
    finding = {
        "reading": "",
        "verdict": "holds",
        "why": "",
        "means": {},
        "value": 1.5,
        "low": 1.2,
        "high": 1.8,
        "runs": 5,
    }
    conclusion = {
        "claim": "a", "stated": "", "ours": False, "says": "One <b>is</b> larger.", "case": "rr",
        "relation": "ratio > 1", "outcome": "holds", "holds_under": [""], "findings": [finding],
    }  # fmt: skip
    bad = {**conclusion, "claim": "b", "says": "The other is.", "outcome": "does not hold"}
    verdicts = {
        "paper": "khan2023es", "figure": "fig7", "title": "Fig. 7: delay", "leobench": "0.1", "campaign": "c",
        "variants": 2, "replicates": 5, "set": {}, "quick": True, "conclusions": [conclusion, bad],
    }  # fmt: skip
    (folder / "verdicts.json").write_text(json.dumps(verdicts), encoding="utf-8")
    page = opened.open(report.write([folder.parent], tmp_path / "claims.html"))
    assert "1 \u00d7 does not hold" in page.locator(".tally").inner_text()
    table = page.locator("#table-of-claims-fig7")
    assert "One <b>is</b> larger." in table.inner_text()
    assert "1.50 [1.20, 1.80]" in table.inner_text()
    table.locator("th button", has_text="outcome").click()
    assert "The other is." in table.locator("tbody tr").first.inner_text()
    assert page.locator(".command code").first.inner_text() == "leobench reproduce khan2023es/fig7 --quick"
    assert "preliminary" in page.locator("#figure-fig7").inner_text()


def test_the_globe_follows_its_slider(tmp_path: Path, opened: Opened) -> None:
    scenario = tmp_path / "sky.toml"
    scenario.write_text(SKY, encoding="utf-8")
    folder = tmp_path / "sky"
    result = leobench.run(scenario, out=folder)
    page = opened.open(report.write([folder], tmp_path / "sky.html"))
    page.locator("#globe").scroll_into_view_if_needed()
    expect(page.locator("#globe canvas")).to_be_visible()
    begun = result.tables.handovers.filter(stage="begin")
    assert begun.height > 2
    serving = page.locator("#globe .serving")
    assert str(begun["from_link"][0]) in serving.inner_text()
    page.locator("#globe input").fill(str(begun["t_ns"][1] / 1e9 + 1))
    assert str(begun["to_link"][1]) in serving.inner_text()
    page.get_by_label("Next handover").click()
    assert f"{begun['t_ns'][2] / 1e9:.1f} s" in page.locator(".globe-time").inner_text()
    small = report.write([folder], tmp_path / "small.html", ["globe"])
    assert small.stat().st_size < 0.6 * (tmp_path / "sky.html").stat().st_size


def run_of(**sizes: int) -> Run:
    tables = {name: Table(size // 10, bytes(size)) for name, size in sizes.items()}
    return Run("a", "a", "", "a.json", {"scenario": {}}, None, tables)


def test_a_report_over_the_size_names_what_to_leave_out() -> None:
    limits.check(Content("run", "a", runs=[run_of(packets=40_000_000, queues=7_000_000)]))
    with pytest.raises(
        InputError, match=r"49\.0 MB and 4,900,000 rows .*allowed in a report: 48 MB .*: --without packets$"
    ):
        limits.check(Content("run", "a", runs=[run_of(packets=40_000_000, queues=9_000_000)]))
    many = Run("a", "a", "", "a.json", {"scenario": {}}, None, {"messages": Table(9_000_000, b"")})
    with pytest.raises(
        InputError, match=r"9,000,000 rows\); .* 8,000,000 rows; .*: --without messages, or report fewer runs"
    ):
        limits.check(Content("runs", "a", runs=[many, run_of(queues=10)]))


def test_a_watched_page_leaves_the_largest_tables_out() -> None:
    content = Content("run", "a", runs=[run_of(packets=40_000_000, queues=9_000_000, paths=10)])
    trimmed = limits.trimmed(content)
    assert list(trimmed.runs[0].tables) == ["queues", "paths"]
    assert trimmed.runs[0].omitted == {"packets": 4_000_000}
    assert "packets" in trimmed.notes[0]
    assert limits.trimmed(trimmed) is trimmed


def test_a_number_that_is_not_finite_is_refused(ka: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nan"
    shutil.copytree(ka, folder)
    file = folder / "summary.json"
    file.write_text(
        file.read_text("utf-8").replace('"jitter_ms": ', '"jitter_ms": NaN, "was": ', 1), encoding="utf-8"
    )
    with pytest.raises(InputError, match="a number that is not finite"):
        report.write([folder], tmp_path / "nan.html")
    assert not (tmp_path / "nan.html").exists()


def test_a_table_left_out_is_told(ka: Path) -> None:
    (run,) = gather.gather([ka], ["messages"]).runs
    assert "messages" not in run.tables
    assert run.omitted["messages"] == leobench.open(ka).tables.messages.height


def test_what_cannot_be_reported_is_refused(
    ka: Path, buffers: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "web"
    leobench.run(ROOT / "scenarios" / "web.toml", 1, {"duration": "100 ms", "until": "time"}, out=other)
    campaign = buffers / "results" / "buffers"
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    manifest = json.loads((campaign / "manifest.json").read_text(encoding="utf-8"))
    (unfinished / "manifest.json").write_text(json.dumps({**manifest, "complete": False}), encoding="utf-8")
    (tmp_path / "verdicts.json").write_text("{}", encoding="utf-8")
    cases: list[tuple[list[object], str]] = [
        ([tmp_path / "none"], "none: there is no such result folder; allowed: one that"),
        ([tmp_path / "no" / "result"], "no/result: there is no such result folder"),
        (
            [ka, "--out", tmp_path / "report.htm"],
            "report.htm: is no name of a report; allowed: one that ends",
        ),
        ([unfinished], "is a campaign that has not finished; watch it with `leobench view"),
        ([ka, campaign], "is a campaign, and cannot be reported beside others; allowed: one campaign"),
        ([ka, other], "the runs have no flow in common ("),
        ([ka, ka], "is named twice; allowed: each run once"),
        ([ka, "--without", "packet"], "--without = packet: no such part of a report; allowed: `messages`"),
        ([ka, "--out", tmp_path], "is a folder; allowed: a file, such as"),
        ([ka, "--out", tmp_path / "no" / "a.html"], "there is no folder"),
        ([tmp_path], "verdicts.json: is damaged"),
    ]
    for arguments, message in cases:
        assert cli.main(["report", *map(str, arguments)]) == 2, message
        said = capsys.readouterr().err
        assert message in said
        assert said.count("\n") == 1


def test_the_command_writes_beside_the_folder(ka: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(ka)]) == 0
    assert capsys.readouterr().out.startswith(f"{ka}.html (")
    first = ka.with_suffix(".html").read_bytes()
    assert cli.main(["report", str(ka)]) == 0
    assert ka.with_suffix(".html").read_bytes() == first


def test_a_file_that_is_no_report_stays(ka: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, notes = tmp_path / "mine.toml", tmp_path / "notes.html"
    for file in (scenario, notes):
        file.write_text("mine", encoding="utf-8")
        assert cli.main(["report", str(ka), "--out", str(file)]) == 2
        assert file.read_text(encoding="utf-8") == "mine"
    said = capsys.readouterr().err.splitlines()
    assert said[0].endswith("mine.toml: is no name of a report; allowed: one that ends in .html")
    assert "notes.html: exists already and is no report of leobench; choose another file with" in said[1]
    assert cli.main(["report", str(ka), "--out", str(notes), "--force"]) == 0
    whole = notes.read_bytes()
    assert whole == ka.with_suffix(".html").read_bytes()
    assert cli.main(["report", str(ka), "--out", str(notes), "--without", "packets"]) == 0


def test_a_full_disk_leaves_the_report_that_was_there(ka: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"

    def written(largest: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "leobench", "report", ka, "--out", out],
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
        )

    failed = written(100_000)
    assert (failed.returncode, failed.stderr) == (2, f"leobench: {out}: cannot be written: File too large\n")
    assert not list(tmp_path.iterdir())
    assert written(100_000_000).returncode == 0
    whole = out.read_bytes()
    assert written(100_000).returncode == 2
    assert out.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [out]
