"""Sweeps without a file: `leobench compare`, `leobench run --seeds` and `leobench sweep --dry-run`."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli, replicates
from leobench.campaign import Campaign, CampaignResult, ad_hoc, provenance, sharing
from leobench.errors import InputError
from leobench.overrides import as_text
from tests.support import campaigns
from tests.support.programs import LEOBENCH

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONGESTION = "flows.main.transport.congestion"
MANY = ",".join(map(str, range(100)))
LIMIT = "links.uplink.queue.limit"


def made(rng: random.Random, depth: int = 0) -> object:
    """A value of a scenario."""
    kinds: list[Callable[[], object]] = [
        lambda: rng.randint(-5, 5_000),
        lambda: rng.choice([True, False]),
        lambda: "".join(rng.choices("ab ,'\"\\[]{}=#µ", k=rng.randint(1, 6))),
        lambda: [made(rng, depth + 1) for _ in range(rng.randint(0, 3))],
        lambda: {rng.choice("ab,\"}']"): made(rng, depth + 1) for _ in range(rng.randint(0, 3))},
    ]
    return rng.choice(kinds[: 3 if depth > 2 else 5])()


def test_values_of_any_kind_are_divided_where_they_were_joined() -> None:
    rng = random.Random(7)  # noqa: S311
    for _ in range(500):
        values = [made(rng) for _ in range(rng.randint(1, 5))]
        text = rng.choice([",", " , "]).join(map(as_text, values))
        assert ad_hoc.axis(CONGESTION, text).values == values, text


def test_words_need_no_quotes() -> None:
    assert ad_hoc.axis(LIMIT, "15 packets, unlimited,7").values == ["15 packets", "unlimited", 7]


def test_a_comparison_is_the_sweep_of_the_file_that_it_writes(
    quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [
        "compare", str(quick), "--vary", f"{CONGESTION}=cubic,newreno",
        "--vary", f"{LIMIT}=5 packets,50 packets",
        "-n", "2", "--set", "duration=1 s", "--metric", "goodput", "--metric", "delay_ms.mean",
    ]  # fmt: skip
    out, file = tmp_path / "out", tmp_path / "written.toml"
    assert cli.main([*given, "--out", str(out), "--workers", "1"]) == 0
    said = capsys.readouterr().out
    assert "quick-by-congestion-limit: 8 runs, 0 failed" in said
    assert re.search(r"^cubic +5 packets +[\d.]+ ± [\d.]+ +[\d.]+ ± [\d.]+$", said, re.MULTILINE)
    assert cli.main([*given, "--write", str(file)]) == 0
    assert cli.main(["sweep", str(file), "--out", str(tmp_path / "again"), "--workers", "1"]) == 0
    one, other = (CampaignResult.open(folder).runs for folder in (out, tmp_path / "again"))
    assert one.equals(other)
    assert one["variant"].unique(maintain_order=True).to_list()[:2] == [
        "congestion=cubic,limit=5-packets",
        "congestion=cubic,limit=50-packets",
    ]
    capsys.readouterr()
    assert cli.main([*given, "--write", str(file)]) == 2
    assert f"{file}: exists already" in capsys.readouterr().err
    assert cli.main([*given, "--out", str(out), "--resume", "--quiet"]) == 0, "the same is not run again"
    assert cli.main([*given, "--out", str(out), "--resume", "--seed", "2", "--quiet"]) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "--vary: is required; allowed: a place and values, such as "),
        ([f"{CONGESTION}=cubicc,bbr"], f'quick.toml: --vary: {CONGESTION} = "cubicc": unknown kind; '),
        ([f"{CONGESTION}=cubic,cubic"], f'--vary {CONGESTION}: `"cubic"` appears twice; '),
        ([f"{CONGESTION}=cubic,,bbr"], f"--vary {CONGESTION} = cubic,,bbr: has an empty value; "),
        ([f"{CONGESTION}="], f"--vary {CONGESTION} = : has no value; "),
        ([f"{CONGESTION}=a,{{b"], f"--vary {CONGESTION} = a,{{b: has a `{{` that is not closed; "),
        ([f"{CONGESTION}=a],b"], f"--vary {CONGESTION} = a],b: has a `]` that closes nothing; "),
        ([f"{CONGESTION}=a,'b"], f"--vary {CONGESTION} = a,'b: has a `'` that is not closed; "),
        (["seed=1,2"], "--vary seed: the seeds of runs are derived"),
        ([f"{CONGESTION}=cubic", f"{CONGESTION}=bbr"], f"--vary {CONGESTION}: is given twice; "),
        (["flows.main.transport=udp", f"{CONGESTION}=bbr"], f"--vary {CONGESTION}: overlaps --vary flows"),
        ([f"a={MANY},100", f"c={MANY}"], "--vary: makes 10,100 variants; allowed: at most 10,000"),
        (["duration=1 s,1000 ms"], "quick.toml: variants `duration=1-s` and `duration=1000-ms` resolve"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(
    given: list[str],
    message: str,
    quick: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(quick.parent)
    axes = [word for each in given for word in ("--vary", each)]
    assert cli.main(["compare", quick.name, *axes, "--dry-run"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"leobench: {message}")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--metric", "godput"], "; did you mean `goodput`?"),
        (["--metric", "delay_ms"], "--metric = delay_ms: the campaign has no such metric"),
        (["-n", "0"], "-n = 0: is not positive; allowed: a whole number from 1"),
        (["--seed", "-1"], "--seed = -1: is negative; allowed: a whole number from 0"),
        (["--set", "seed=3"], "--set seed: the seeds of runs are derived"),
        (["--set", f"{CONGESTION}=newreno"], f"--set {CONGESTION}: --vary {CONGESTION} replaces it; "),
        (["--set", "duration=4x"], 'quick.toml: --set: duration = "4x": has an unknown unit'),
    ],
)
def test_other_options_are_checked(
    given: list[str], message: str, quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", str(quick), "--vary", f"{CONGESTION}=cubic,bbr", "--dry-run", *given]
    assert cli.main(words) == 2
    assert message in capsys.readouterr().err


def test_what_is_measured_fits_the_flows(scenarios: Path) -> None:
    def chosen(name: str, overrides: dict[str, object] | None = None) -> list[str]:
        return ad_hoc.default_metrics(leobench.check(scenarios / name, overrides))

    assert chosen("ka.toml") == [
        f"flows.main.{tail}" for tail in ("goodput_bps", "delay_ms.mean", "delay_ms.p95")
    ]
    assert chosen("one-flow.toml") == [
        f"flows.main.{tail}" for tail in ("goodput_bps", "completion_s", "rtt_ms.mean")
    ]
    assert chosen("web.toml") == ["flows.web.goodput_bps", "flows.web.page.completion_s"]
    two = chosen("two-flows.toml")
    assert two[-1] == "fairness_jain"
    assert "flows.cubic.rtt_ms.mean" in two
    endless = chosen("two-flows.toml", {f"flows.{name}.source": "bulk" for name in ("cubic", "newreno")})
    assert not any("completion" in metric for metric in endless)


def test_a_star_varies_all_flows_together(scenarios: Path, tmp_path: Path) -> None:
    file = scenarios / "two-flows.toml"
    made = ad_hoc.campaign(
        file,
        [ad_hoc.axis("flows.*.transport.congestion", "bbr,bbr3"), ad_hoc.axis("duration", "20 s,30 s")],
        2,
    )
    found = [dict(variant.overrides) for variant in made.variants]
    both = ("flows.cubic.transport.congestion", "flows.newreno.transport.congestion")
    assert found == [
        {**dict.fromkeys(both, controller), "duration": duration}
        for controller in ("bbr", "bbr3")
        for duration in ("20 s", "30 s")
    ]
    for scenario in made.scenarios.values():
        assert len({flow["transport"]["congestion"]["kind"] for flow in scenario["flows"].values()}) == 1
    assert made.name.endswith("-by-congestion-duration")
    ad_hoc.write(made, tmp_path / "mine-sweep.toml")
    read = Campaign.load(tmp_path / "mine-sweep.toml")
    assert [(each.name, each.overrides) for each in read.variants] == [
        (each.name, each.overrides) for each in made.variants
    ]


def test_a_star_stands_for_what_has_the_rest_only(tmp_path: Path, quick: Path) -> None:
    mixed = tmp_path / "mixed.toml"
    udp = '\n[flows.other]\nfrom = "client"\nto = "server"\ntransport = "udp"\n'
    source = 'source = { kind = "poisson", rate = "1 Mbps", size = "1000 B" }\n'
    mixed.write_text(quick.read_text(encoding="utf-8") + udp + source, encoding="utf-8")
    every = ad_hoc.axis("flows.*.transport.congestion", "cubic,bbr")
    made = ad_hoc.campaign(mixed, [every], 2)
    assert made.varied == (CONGESTION,)
    for place, said in (
        ("flows.*.transport.congstion", "no place of the scenario is like this; allowed: a place where `*`"),
        ("nothing.*.delay", "no place of the scenario is like this; "),
        ("*", "no place of the scenario is like this; "),
        ("record.*", "record.messages: the campaign's `tables` decide what runs record; "),
    ):
        with pytest.raises(InputError, match=re.escape(f"--vary {place}: {said}")):
            ad_hoc.campaign(mixed, [ad_hoc.axis(place, "1,2")], 2)
    with pytest.raises(InputError, match="is given twice"):
        ad_hoc.campaign(mixed, [every, ad_hoc.axis(CONGESTION, "cubic,bbr")], 2)


@pytest.mark.parametrize("option", ["--vary", "--set"])
def test_the_last_words_of_a_place_are_told_the_whole_place(
    option: str, quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {"--vary": "cubic,bbr", "--set": "bbr"}
    words = ["--vary", f"{LIMIT}='15 packets'"] if option == "--set" else []
    for place in ("congestion", "transport.congestion"):
        given = [*words, option, f"{place}={values[option]}"]
        assert cli.main(["compare", str(quick), *given, "--dry-run"]) == 2
        said = capsys.readouterr().err
        assert f"{option} {place}: is not a whole place; allowed: `{CONGESTION}`" in said


def test_an_interrupted_comparison_is_continued_by_its_command(quick: Path, tmp_path: Path) -> None:
    made = ad_hoc.campaign(quick, [ad_hoc.axis(CONGESTION, "cubic,bbr")], 2)
    manifest = {"complete": False, "sessions": [], "identity": provenance.identity(made)}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"continue it with `leobench compare \.\.\. --resume`"):
        CampaignResult.open(tmp_path)


def test_fairness_is_measured_of_flows_that_share_a_direction_of_a_link(scenarios: Path) -> None:
    def measured(name: str, overrides: dict[str, object] | None = None) -> bool:
        return "fairness_jain" in ad_hoc.default_metrics(leobench.check(scenarios / name, overrides))

    assert measured("two-flows.toml")
    against: dict[str, object] = {"flows.newreno.from": "server", "flows.newreno.to": "client"}
    assert not measured("two-flows.toml", against)
    assert measured("shared-bottleneck.toml")  # over the last link only, of which one flow has two paths
    assert not measured("london-new-york.toml")  # two ways without a common link
    assert not measured("ka.toml")


def test_flows_share_the_links_on_their_ways_only() -> None:
    links: dict[str, object] = {
        name: {"between": ends.split("-")}
        for name, ends in {"left": "a-x", "right": "b-x", "middle": "x-y", "c": "y-c", "d": "y-d"}.items()
    }

    def share(*ways: str) -> bool:
        flows: dict[str, object] = {
            way: {"from": way[0], "to": way[1], "transport": {"kind": "quic"}} for way in ways
        }
        return sharing.share_a_direction({"links": links, "flows": flows}, flows)

    assert share("ac", "bd")
    assert share("ac", "bd", "bc")
    assert not share("ac", "db")
    assert not share("ab", "cd")
    assert not share("ac", "bd", "yd")


def test_a_dry_run_tells_what_would_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = campaigns.write(tmp_path).name
    assert cli.main(["sweep", file, "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "tiny: 4 variants of udp.toml, 3 replicates of each" in text
    assert re.search(r"^limit=2-packets,rate=1-Mbps +2 packets +1 Mbps$", text, re.MULTILINE)
    assert "Runs: 12, with results in results/tiny/" in text
    assert "Time: not known before a run is finished" in text
    assert not (tmp_path / "results").exists()
    assert cli.main(["sweep", file, "--workers", "1", "--quiet"]) == 0
    assert cli.main(["sweep", file, "--dry-run"]) == 0
    again = capsys.readouterr().out
    assert re.search(r"Time: about [\d.]+ s, at the pace of the 12 runs in the folder, [\d.]+ s each", again)
    assert cli.main(["sweep", file, "--dry-run", "--resume", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], told["finished"], told["estimated_s"]) == (12, 12, 0.0)
    assert told["seeds"] == sorted({run.seed for run in Campaign.load(file).plan()})


def test_a_dry_run_finds_the_mistakes_of_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = campaigns.write(tmp_path, ("flows.main.goodput_bps", "flows.main.godput_bps"))
    assert cli.main(["sweep", str(file), "--dry-run"]) == 2
    assert "did you mean `flows.main.goodput_bps`" in capsys.readouterr().err


def test_the_time_in_real_time_is_the_sum_of_the_durations(
    quick: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", str(quick), "--vary", "duration=2 s,4 s", "-n", "10", "--set", "engine=real", "--set"]
    assert cli.main([*words, "until=time", "--dry-run"]) == 0
    assert "Time: about 1 min 0 s, one after the other in real time" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "seeds"), [("1-3", [1, 2, 3]), ("7", [7]), ("9, 1-2,5", [9, 1, 2, 5]), ("3-3", [3])]
)
def test_seeds_are_numbers_and_ranges(text: str, seeds: list[int]) -> None:
    assert replicates.seeds(text) == seeds


@pytest.mark.parametrize(
    "text", ["", "a", "3-1", "1-", "-2", "1,1", "1-3,2", "1-10001", "9" * 30, "1.5", "²"]
)
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^--seeds = .*; allowed: |appears twice"):
        replicates.seeds(text)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_each_seed_is_a_run_of_its_own(
    workers: str, quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = 'flows.main.source={ kind = "poisson", rate = "5 Mbps", size = "1000 B" }'
    given = ["run", str(quick), "--set", source, "--set", "duration=1 s"]
    out = tmp_path / "out"
    assert cli.main([*given, "--seeds", "3-5", "--out", str(out), "--workers", workers]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    goodputs = []
    for seed in (3, 4, 5):
        alone = leobench.run(quick, seed, {"flows.main.source": source.partition("=")[2], "duration": "1 s"})
        kept = leobench.open(tmp_path / f"out-{seed}")
        assert kept.summary == alone.summary
        goodputs.append(kept.summary["flows"][0]["goodput_bps"] / 1e6)
    found = re.search(r"^goodput +([\d.]+) ± [\d.]+ +Mbit/s$", said.out, re.MULTILINE)
    assert found is not None
    assert float(found[1]) == pytest.approx(sum(goodputs) / 3, abs=0.006)
    assert cli.main([*given, "--seeds", "5-6", "--out", str(out)]) == 2
    assert f"{out}-5: exists already" in capsys.readouterr().err
    assert not (tmp_path / "out-6").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--seeds", "1-2", "--seed", "3"], "--seed 3: excludes --seeds"),
        (["--workers", "2"], "--workers 2: is for several seeds only"),
        (["--seeds", "1-2", "--workers", "0"], "workers = 0: is not positive"),
        (["--seeds", "1-2", "--set", "duration=x"], 'duration = "x": '),
    ],
)
def test_options_of_several_seeds_are_checked(
    given: list[str], message: str, quick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", str(quick), "--out", str(tmp_path / "out"), *given]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
@pytest.mark.parametrize("group", [False, True], ids=["alone", "group"])
def test_an_interruption_leaves_no_unfinished_run_of_a_worker(
    number: signal.Signals, group: bool, quick: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results" / "out"
    given = ["--seeds", "1-6", "--workers", "2", "--set", "duration=100000 s", "--out", str(out)]
    with subprocess.Popen(
        [*LEOBENCH, "run", str(quick), *given], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        while len(list(out.parent.glob(".out-*.partial-*/*.parquet"))) < 2:
            assert process.poll() is None
            time.sleep(0.02)
        if group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (128 + number, "leobench: interrupted; nothing was written\n")
    assert not list(out.parent.iterdir())


def test_an_interruption_keeps_whole_runs(quick: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [*LEOBENCH, "run", str(quick), "--seeds", "1-500", "--workers", "1", "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "out-2").exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = sorted(tmp_path.glob("out-*"))
    assert 2 <= len(kept) < 500
    assert all((folder / "summary.json").exists() for folder in kept)
    assert re.search(rf"interrupted; {len(kept)} of 500 runs are kept in {re.escape(str(out))}-\*/", said)
