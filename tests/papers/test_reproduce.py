from __future__ import annotations

import dataclasses
import functools
import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

import leobench
from leobench import RunError, cli, papers
from leobench.campaign import Campaign, task
from leobench.campaign.store import Outcome
from leobench.overrides import as_text
from leobench.papers import Quick, claims, khan2023, reproduction, settings, verdicts
from leobench.papers.khan2023 import figures

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.campaign import CampaignResult

FIGURES = {figure.name: figure for figure in khan2023.PAPER.figures}
FIG4, FIG5, NEWRENO, IMPLEMENTATIONS = (
    FIGURES[name] for name in ("fig4", "fig5", "fig5-newreno", "fig5-implementations")
)


def test_the_campaign_of_figure_5_is_the_papers() -> None:
    """Section 6.1: two bands, three queues, TCP and QUIC with four numbers of streams, 30 runs of 60 s."""
    campaign = Campaign.load(FIG5.campaign)
    plan = campaign.plan()
    assert len(campaign.variants) == 2 * 3 * 5
    assert len(plan) == 30 * 30
    assert len({run.seed for run in plan}) == 30
    combinations = set()
    for scenario in campaign.scenarios.values():
        link, flow = scenario["links"]["uplink"], scenario["flows"]["main"]
        assert (scenario["duration"], scenario["until"]) == ("60 s", "drained")
        assert flow["transport"]["congestion"]["kind"] == "cubic"
        band = (link["channel"]["preset"], flow["source"]["rate"])
        combinations.add((band, link["queue"]["limit"], flow["transport"]["kind"], flow["streams"]))
    assert combinations == {
        (band, queue, *flow)
        for band, queue, flow in itertools.product(
            [("ka", "45.33 Mbps"), ("s", "2.32 Mbps")],
            ["7 packets", "15 packets", "unlimited"],
            [("tcp", 1), ("quic", 1), ("quic", 2), ("quic", 4), ("quic", 8)],
        )
    }


def transports(figure: papers.Figure) -> list[dict[str, Any]]:
    """The transport of every variant of a campaign, every default spelled out."""
    scenarios = Campaign.load(figure.campaign).scenarios.values()
    return [scenario["flows"]["main"]["transport"] for scenario in scenarios]


def test_tcp_and_quic_of_figure_5_are_limited_by_nothing_but_congestion() -> None:
    for figure, transport in ((each, found) for each in (FIG5, NEWRENO) for found in transports(each)):
        if transport["kind"] == "tcp":
            assert (transport["tls"], transport["receive_buffer"]) == (True, "unlimited"), figure.name
        else:
            windows = (transport["stream_window"], transport["connection_window"])
            assert windows == ("unlimited", "unlimited"), figure.name


def test_newreno_differs_by_its_controller_alone() -> None:
    cubic, newreno = Campaign.load(FIG5.campaign), Campaign.load(NEWRENO.campaign)
    assert {each["congestion"]["kind"] for each in transports(NEWRENO)} == {"newreno"}
    apart = [
        [{key: value for key, value in each.items() if key != "congestion"} for each in transports(figure)]
        for figure in (FIG5, NEWRENO)
    ]
    assert apart[0] == apart[1]
    place = "flows.main.transport"
    rest = [
        [{key: each.overrides[key] for key in each.overrides if key != place} for each in campaign.variants]
        for campaign in (cubic, newreno)
    ]
    assert rest[0] == rest[1]
    assert (newreno.replicates, newreno.seed) == (cubic.replicates, cubic.seed)


def test_the_implementations_are_those_of_the_test_bench() -> None:
    """Linux, and quic-go 0.15.1: the digest of the papers, and `internal/congestion` of the authors' copy."""
    found = transports(IMPLEMENTATIONS)
    for tcp in found[::5]:
        assert (tcp["kind"], tcp["tls"], tcp["receive_buffer"]) == ("tcp", False, "6.291456 MB")
        assert (tcp["congestion"]["kind"], tcp["congestion"]["slow_start"]) == ("cubic", "hystart")
        assert tcp["congestion"]["full_reno_slope"] is False
    for quic in (each for each in found if each["kind"] == "quic"):
        assert (quic["stream_window"], quic["connection_window"]) == ("6 MB", "15 MB")
        assert {"newreno", "hystart", 32, 0.7} <= set(quic["congestion"].values())
    assert len(found) == 30


@pytest.mark.parametrize("figure", ["fig5", "fig5-newreno", "fig5-implementations", "fig5-fq-codel"])
def test_every_protocol_of_figure_5_has_a_name(figure: str) -> None:
    campaign = Campaign.load(FIGURES[figure].campaign)
    word, _ = figures.WORDS
    written = [each.overrides[word.place] for each in campaign.variants]
    names = [word.values[each if isinstance(each, str) else as_text(each)] for each in written]
    assert names == 6 * ["TCP", "QUIC", "QUIC", "QUIC", "QUIC"]


@pytest.mark.parametrize("paper", papers.papers(), ids=lambda paper: paper.name)
def test_what_a_figure_needs_lies_in_the_folders_of_papers(paper: papers.Paper) -> None:
    for figure in paper.figures:
        campaign = Campaign.load(figure.campaign)
        assert figure.campaign.parent == paper.claims.parent
        assert campaign.scenario.parent in (paper.claims.parent, khan2023.PAPER.claims.parent)
        quick = reproduction.planned(figure, quick=True)
        assert len(quick.plan()) == figure.quick.replicates * len(campaign.variants)


def test_a_paper_means_its_own_figures() -> None:
    own = tuple(FIGURES[name] for name in ("fig4", "fig5", "fig6", "fig7", "fig8"))
    assert papers.find("khan2023") == (khan2023.PAPER, own)
    assert papers.find("khan2023/fig5-newreno") == (khan2023.PAPER, (NEWRENO,))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick look at two figures that takes seconds."""
    quick = Quick(2, {"duration": "300 ms"})
    shrunk = tuple(dataclasses.replace(figure, quick=quick) for figure in (FIG4, FIG5))
    monkeypatch.setattr(khan2023, "PAPER", dataclasses.replace(khan2023.PAPER, figures=shrunk))


@pytest.mark.usefixtures("tiny")
def test_a_paper_is_reproduced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reproduce", "khan2023", "--quick", "--workers", "1", "--out", str(tmp_path / "out")]
    assert cli.main(command) == 0
    said = capsys.readouterr()
    assert "khan2023/fig5: 30 variants of 2 runs, duration = 300 ms" in said.err
    assert "A quick look" in said.out
    stated = claims.read(khan2023.PAPER.claims)
    for name in ("fig4", "fig5"):
        folder = tmp_path / "out" / name
        drawn = {f"{name}.{suffix}" for suffix in ("png", "svg", "pdf")}
        assert {*drawn, "claims.md", "campaign"} <= {entry.name for entry in folder.iterdir()}
        text = (folder / "claims.md").read_text(encoding="utf-8")
        assert f"]({name}.png)" in text
        for claim in stated:
            assert (f"| {claim.id} |" in text) == (claim.figure == name)
    assert "- fig5: With a queue without limit, the delay of TCP is far above" in said.out
    assert "not evaluated" not in said.out
    assert "not hold" not in said.out, "a quick look refutes nothing"
    assert "hold under no reading" not in said.out
    assert "does not hold" not in text
    assert "cannot tell: a quick look, 2 of 30 runs, duration = 300 ms, does not show it" in text

    claimed = tmp_path / "out/fig4/claims.md"
    before = claimed.read_bytes()
    assert cli.main(command) == 2, "what is there is not replaced unasked"
    assert "--resume" in capsys.readouterr().err
    claimed.unlink()
    command[1] = "khan2023/fig4"
    assert cli.main([*command, "--resume", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert claimed.read_bytes() == before


@pytest.mark.usefixtures("tiny")
def test_a_program_reproduces_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[int] = []
    again = functools.partial(leobench.reproduce, "khan2023/fig4", quick=True, readings=False, workers=1)
    done = again(progress=lambda status: seen.append(status.done))
    assert list(done) == ["fig4"]
    figure = done["fig4"]
    assert figure.quick
    assert {each.claim.figure for each in figure.conclusions} == {"fig4"}
    assert repr(figure).startswith("Reproduction(fig4, quick, ")
    assert str(figure.folder) in repr(figure)
    assert len(repr(done)) < 300
    lines = str(figure).splitlines()
    assert lines[0].startswith("fig4: ")
    assert len(lines) == 1 + len(figure.conclusions)
    assert max(map(len, lines)) < 160
    assert seen[-1] == len(figure.result.runs["replicate"].unique()) == 2
    folder = tmp_path / "results" / "reproduce" / "khan2023-quick"
    assert (folder / "fig4" / "claims.md").is_file()
    assert "fig4" in (folder / "summary.md").read_text(encoding="utf-8")
    with pytest.raises(leobench.InputError, match="--resume"):
        again()
    with pytest.raises(leobench.InputError, match="khan2024: no such paper"):
        leobench.reproduce("khan2024")


def test_only_what_a_quick_look_cut_is_named() -> None:
    full = Campaign.load(FIG5.campaign)
    assert reproduction.shortened(full, full) == ""
    assert reproduction.shortened(full, full.scaled(31)) == ""
    assert reproduction.shortened(full, full.scaled(5)) == "5 of 30 runs"
    longer = full.scaled(overrides={"duration": "10 s"})
    assert reproduction.shortened(full, longer) == "duration = 10 s"


def test_if_every_run_fails_the_first_error_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(run: object, tables: object, version: object) -> Outcome:
        del run, tables, version
        return Outcome(None, "no luck", {})

    monkeypatch.setattr(task, "execute", fail)
    with pytest.raises(RunError, match="every run failed; the first: no luck"):
        papers.reproduce(khan2023.PAPER, FIG4, tmp_path / "fig4", workers=1)


def test_an_interrupted_reproduction_says_what_is_kept_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[object] = []

    def interrupt(run: object, tables: object, version: object) -> Outcome:
        del tables, version
        asked.append(run)
        if len(asked) > 2:
            raise KeyboardInterrupt
        return Outcome(None, "no luck", {})

    monkeypatch.setattr(task, "execute", interrupt)
    out = tmp_path / "out"
    assert cli.main(["reproduce", "khan2023", "--workers", "1", "--quiet", "--out", str(out)]) == 130
    claimed = reproduction.stated_claims(khan2023.PAPER, FIG4)
    tried = settings.settings(FIG4, Campaign.load(FIG4.campaign), claimed)
    assert [each.name for each in tried] == ["", "quic-go", "independent-link"]
    runs = sum(len(each.campaign.plan()) for each in tried)
    kept = f"2 of {runs} runs are kept in {out}/fig4/"
    assert capsys.readouterr() == ("", f"leobench: interrupted; {kept}; continue with --resume\n")
    assert not (out / "fig5").exists()


def test_what_can_be_reproduced_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "--list"]) == 0
    said = capsys.readouterr().out
    for figure in khan2023.PAPER.figures:
        assert f"khan2023/{figure.name}: " in said


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "PAPER[/FIGURE] is missing; allowed: a paper or a figure that --list names"),
        (
            ["kahn2023"],
            "kahn2023: no such paper; allowed: `khan2023`, `khan2023es`, `khan2023delay`, "
            "`bujari2023`, `yang2024`, `mazilu2025`, `hypatia2020`, `zhao2024`; "
            "did you mean `khan2023`?",
        ),
        (
            ["khan2023/fg4"],
            "khan2023/fg4: no such figure of khan2023; allowed: `fig4`, `fig5`, `fig5-newreno`, "
            "`fig5-implementations`, `fig5-fq-codel`, `fig5-blocking`, `fig6`, "
            "`fig7`, `fig7-batches`, `fig7-bdp`, `fig8`, `blocking`, `e2e-tcp`, `e2e-tcp-no-drops`; "
            "did you mean `fig4`?",
        ),
        (["khan2023/fig4", "--workers", "0"], "workers = 0: is not positive; allowed: a whole number from 1"),
        (
            ["khan2023/fig4", "--out", "taken"],
            "taken/fig4/campaign: cannot be written to: `taken` is a file, not a folder",
        ),
    ],
)
def test_what_is_wrong_is_told(
    args: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("", encoding="utf-8")
    assert cli.main(["reproduce", *args, "--quiet"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.replace(f"{tmp_path}/", "") == f"leobench: {said}\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


def made_up() -> CampaignResult:
    """A run of 12 s: a queue of 10 MB, which the link serves with 40 and 80 Mbit/s, a second each in turn."""
    key = {"variant": "base", "replicate": 1}
    link = "uplink/client->server"
    times = np.arange(0, 12_000_000_000, 10_000_000)
    slow = times // 1_000_000_000 % 2 == 0
    growth = np.where(slow, 20e6, -20e6) / 8 * 0.01
    backlog = 10e6 + np.concatenate([[0.0], np.cumsum(growth)[:-1]]) + times / 1e9 * 1e6
    delay = backlog * 8 / 50e6 * 1e9
    tables: dict[str, dict[str, Any]] = {
        "queues": {"t_ns": times, "link": link, "backlog_bytes": backlog.astype(np.int64)},
        "transport": {"t_ns": times, "cwnd_bytes": (2 * backlog).astype(np.int64)},
        "messages": {"created_ns": times, "delivered_ns": times + delay.astype(np.int64)},
        "channel": {
            "t_ns": np.arange(12) * 1_000_000_000,
            "link": link,
            "rate_bps": np.where(np.arange(12) % 2 == 0, 40_000_000, 80_000_000),
        },
    }
    frames = {name: pl.DataFrame({**columns, **key}) for name, columns in tables.items()}
    return cast("CampaignResult", SimpleNamespace(tables=SimpleNamespace(**frames)))


def test_the_measures_of_figure_4_are_what_was_made_up() -> None:
    measured = figures.fig4_measures(made_up())
    assert measured.columns == ["variant", "replicate", "metric", "value"]
    found = dict(measured.select("metric", "value").iter_rows())
    assert found["backlog_window_correlation"] == pytest.approx(1.0)
    assert found["delay_backlog_correlation"] == pytest.approx(1.0, abs=1e-6)
    assert found["backlog_change_rate_correlation"] < -0.9
    # It rises by 1 MB/s on average: 10 MB and 1.25 MB of saw-tooth to begin with, 3 MB later than 9 MB.
    assert found["backlog_growth"] == pytest.approx((10 + 1.25 + 9) / (10 + 1.25 + 3), rel=0.01)
    # Twice 3.5 MB/s up less twice 1.5 MB/s down, but for the bins around the turns.
    assert found["window_growth_gap_mb_per_s"] == pytest.approx(10.0, rel=0.1)


def test_every_metric_that_a_claim_names_is_measured() -> None:
    measured = set(figures.fig4_measures(made_up())["metric"])
    for figure in (FIG4, FIG5):
        kept = set(Campaign.load(figure.campaign).metrics) | (measured if figure is FIG4 else set())
        asked = {each.metric for each in claims.read(khan2023.PAPER.claims) if each.figure == figure.name}
        assert asked - {""} <= kept


def test_verdicts_are_words() -> None:
    assert [*verdicts.Verdict] == ["holds", "does not hold", "cannot tell", "not evaluated"]
