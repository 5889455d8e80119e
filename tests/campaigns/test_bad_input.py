"""Everything that may be wrong with a campaign: what is said, exit code 2, nothing lost or half-written."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench import _core, cli
from tests.support import campaigns

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = '"links.uplink.queue.limit" = ["2 packets", "unlimited"]'
NO_GRID = campaigns.CAMPAIGN[campaigns.CAMPAIGN.index("[[grid]]") :]
SKY = """
name = "sky"
duration = "1 s"
record = { messages = false, series = false }

[constellation]
satellites.walker.k1 = { altitude = "630 km", inclination = "70 deg", planes = 34, per_plane = 34 }
start = "2026-01-01T00:00:00Z"
policy = "shortest"
isl = {}

[traffic]
place_list = "places.csv"
matrix = { kind = "file", file = "matrix.csv" }
size = { kind = "fixed", size = "10 kB" }
transport = "tcp"
link = { rate = "10 Mbps" }
"""
TWICE = '[[variants]]\nname = "a"\n[[variants]]\nname = "A"\n'

# What is replaced in a campaign that is fine, by what, and what is said about it.
WRONG = {
    "unknown key": (
        "replicates = 3",
        "replicate = 3",
        ["replicate: unknown key", "did you mean `replicates`?"],
    ),
    "no name": ('name = "tiny"', "", ["name: is required but missing"]),
    "name no file's": ('name = "tiny"', 'name = "../tiny"', ['name = "../tiny"', "allowed: letters"]),
    "no scenario": ('scenario = "udp.toml"', "", ["scenario: is required but missing"]),
    "scenario missing": (
        '"udp.toml"',
        '"UPD.toml"',
        ["scenario: ", "UPD.toml", "no such file", "did you mean `udp.toml`?"],
    ),
    "zero replicates": (
        "replicates = 3",
        "replicates = 0",
        ["replicates = 0", "allowed: a whole number from 1"],
    ),
    "a billion replicates": (
        "replicates = 3",
        "replicates = 1000000000",
        ["replicates = 1000000000: is too many", "from 1 to 250,000 (1,000,000 runs of 4 variants)"],
    ),
    "endless grid": (
        '["2 packets", "unlimited"]',
        str([f"{number} packets" for number in range(1, 5002)]),
        ["grid: makes 5001 times 2 variants; allowed: at most 10,000"],
    ),
    "a number too long to read": (
        "seed = 1",
        f"seed = 1{'0' * 5000}",
        [":4:8: ", "integer number overflowed"],
    ),
    "nested too deeply": ("seed = 1", f"seed = {'[' * 10000}", ["is nested too deeply"]),
    "half a replicate": ("replicates = 3", "replicates = 1.5", ["replicates = 1.5", "a whole number from 1"]),
    "no replicates": ("replicates = 3", "", ["replicates: is required but missing"]),
    "negative seed": ("seed = 1", "seed = -1", ["seed = -1", "allowed: a whole number from 0"]),
    "seeds": ("seed = 1", 'seeds = "comon"', ['seeds = "comon"', "did you mean `common`?"]),
    "seeds no word": ("seed = 1", "seeds = [1]", ["seeds = [1]", "`common`, `independent`"]),
    "no metrics": (
        'metrics = ["flows.main.goodput_bps", "flows.main.delay_ms.mean"]',
        "",
        ["metrics: is required"],
    ),
    "metrics empty": ('["flows.main.goodput_bps", "flows.main.delay_ms.mean"]', "[]", ["metrics = []"]),
    "metric twice": (
        '"flows.main.delay_ms.mean"',
        '"flows.main.goodput_bps"',
        ["metrics: ", "appears twice"],
    ),
    "metric of nothing": (
        "flows.main.goodput_bps",
        "flows.main.goodput",
        ['metrics[0] = "flows.main.goodput": no run produces it', "did you mean `flows.main.goodput_bps`"],
    ),
    "metric of a stream": (
        "flows.main.goodput_bps",
        "flows.main.age_ms.mean",
        ["did you mean `flows.main.streams.s1.age_ms.mean`?"],
    ),
    "metric that is no number": (
        "flows.main.goodput_bps",
        "flows.main.transport",
        ['metrics[0] = "flows.main.transport": no run produces it'],
    ),
    "unknown table": ('"channel"', '"chanel"', ['tables[1] = "chanel"', "did you mean `channel`?"]),
    "syntax": ("replicates = 3", "replicates = ", [".toml:3:14: "]),
    "grid empty": (NO_GRID, "grid = []", ["grid = []: is empty"]),
    "block empty": (NO_GRID, "[[grid]]\n", ["grid[0]: is empty"]),
    "grid no array": (NO_GRID, '[grid]\n"duration" = ["1 s"]', ["grid = ", "allowed: `[[grid]]`"]),
    "no values": (LIMITS, '"links.uplink.queue.limit" = []', ['grid[0]."links.uplink.queue.limit" = []']),
    "no list": (
        LIMITS,
        '"links.uplink.delay" = "1 ms"',
        ['grid[0]."links.uplink.delay"', "a list of one value"],
    ),
    "place without quotes": (
        LIMITS,
        'links.uplink.delay = ["1 ms"]',
        ['grid[0]."links"', "a place in quotes"],
    ),
    "set without quotes": (
        "[[grid]]\n" + LIMITS,
        '[set]\nlinks.uplink.delay = "1 ms"',
        ['set."links": would replace the whole table', "a place in quotes"],
    ),
    "lists of two lengths": (
        LIMITS,
        LIMITS + '\n"links.uplink.delay" = ["1 ms", "2 ms", "3 ms"]',
        ["grid[0]: ", "it has 2 of `links.uplink.queue.limit`, 3 of `links.uplink.delay`"],
    ),
    "place in two blocks": (
        '"flows.main.source.rate" =',
        '"links.uplink.queue.limit" =',
        ['grid[1]."links.uplink.queue.limit": `links.uplink.queue.limit` is already in grid[0]'],
    ),
    "place in another of the grid": (
        '"flows.main.source.rate" = ["1 Mbps", "3 Mbps"]',
        '"links.uplink.queue" = ["fifo"]',
        ['grid[1]."links.uplink.queue": `links.uplink.queue.limit` is already in grid[0]'],
    ),
    "place in another of its block, numbered": (
        LIMITS,
        '"flows.main.streams[0]" = [1]\n"flows.main.streams.0.source" = [1]',
        ['grid[0]."flows.main.streams.0.source": `flows.main.streams[0]` is already in grid[0]'],
    ),
    "set lost to a variant": (
        NO_GRID,
        '[set]\n"links.uplink.queue.limit" = "2 packets"\n'
        '[[variants]]\nname = "a"\nset = { "links.uplink.queue" = "fifo" }',
        ['set."links.uplink.queue.limit": is overwritten by variants[0].set."links.uplink.queue", which'],
    ),
    "set lost to the grid": (
        LIMITS,
        '"links.uplink.queue" = ["fifo"]\n[set]\n"links.uplink.queue.limit" = "2 packets"',
        ['set."links.uplink.queue.limit": is overwritten by grid[0]."links.uplink.queue", which replaces'],
    ),
    "set lost to set": (
        NO_GRID,
        '[set]\n"links.uplink.queue.limit" = "2 packets"\n"links.uplink.queue" = "fifo"',
        ['set."links.uplink.queue.limit": is overwritten by set."links.uplink.queue"'],
    ),
    "variant lost to itself": (
        NO_GRID,
        '[[variants]]\nname = "a"\n'
        'set = { "links.uplink.queue.limit" = "2 packets", "links.uplink.queue" = "fifo" }',
        ['variants[0].set."links.uplink.queue.limit": is overwritten by variants[0].set."links.uplink.queue'],
    ),
    "variants that are the same": (
        '"unlimited"]',
        '"5 packets"]\n[[variants]]\nname = "base"\n'
        'set = { "description" = "again", "flows.main.source.rate" = "3 Mbps" }',
        ["variants `limit=5-packets,rate=3-Mbps` and `base` resolve to the same scenario"],
    ),
    "empty place": (NO_GRID, '[set]\n"" = 1', ['set."": is not a place; allowed: names separated by dots']),
    "value twice": (
        '"unlimited"]',
        '"2 packets"]',
        ["grid: `limit=2-packets,rate=1-Mbps-", "appears twice"],
    ),
    "variant twice": (NO_GRID, TWICE, ["variants: `A` appears twice"]),
    "variant's key": (
        NO_GRID,
        '[[variants]]\nname = "a"\nste = {}',
        ["variants[0].ste", "did you mean `set`?"],
    ),
    "variant's name": (NO_GRID, '[[variants]]\nname = "a/b"', ['variants[0].name = "a/b"']),
    "seed in the grid": (LIMITS, '"seed" = [1, 2]', ['grid[0]."seed"', "derived from the campaign's `seed`"]),
    "record": (
        LIMITS,
        '"record.messages" = [true]',
        ['grid[0]."record.messages"', "the campaign's `tables`"],
    ),
    "a date": (LIMITS, '"duration" = [2026-01-01]', [":9:15: ", "dates and times have no meaning"]),
    "no place at all": (LIMITS, '".." = ["1 s"]', ['grid[0]."..": is not a place; allowed: names']),
    "unknown place in the grid": (
        "links.uplink.queue",
        "links.uplnik.queue",
        [
            'grid[0]: links.uplnik.queue.limit = "2 packets": there is no `links.uplnik`',
            "did you mean `links.uplink.queue.limit`?",
        ],
    ),
    "unknown key in the grid": (
        "queue.limit",
        "queue.limt",
        ["grid[0]: links.uplink.queue.limt", "did you mean `limit`?"],
    ),
    "wrong value in the grid": (
        '"3 Mbps"',
        '"3 Mb"',
        ['grid[1]: flows.main.source.rate = "3 Mb"', "did you mean `3 Mbps`?"],
    ),
    "wrong value in a variant": (
        NO_GRID,
        '[[variants]]\nname = "a"\nset = { "duration" = "0 s" }',
        ["variants[0].set: duration"],
    ),
    "wrong value in set": (NO_GRID, '[set]\n"duration" = "1 sec"', ["set: duration", '"1 sec"']),
}


def refused(folder: Path, args: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The message that refuses a command line, after checking that no file changed."""
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    assert cli.main(["sweep", *args]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("leobench: ")
    assert said.err.count("\n") == 1, "one line, no traceback"
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before
    return said.err


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_campaign_is_refused_before_anything_runs(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong, parts = WRONG[case]
    file = campaigns.write(tmp_path, (right, wrong))
    said = refused(tmp_path, [str(file), "--out", str(tmp_path / "out")], capsys)
    assert said.startswith(f"leobench: {file}:")
    for part in parts:
        assert part in said


def test_a_file_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such file" in refused(tmp_path, [str(tmp_path / "absent.toml")], capsys)
    assert "cannot be read" in refused(tmp_path, [str(tmp_path)], capsys)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xff"')
    assert "is not UTF-8 text, at byte 8" in refused(tmp_path, [str(tmp_path / "latin.toml")], capsys)


def test_a_huge_campaign_is_refused_before_it_is_parsed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "huge.toml"
    with file.open("wb") as opened:
        opened.truncate(10_000_000_000)
    assert refused(tmp_path, [str(file)], capsys).endswith(
        "huge.toml: is too large; allowed: at most 16 MB\n"
    )


@pytest.mark.parametrize("line", ['name = "{}"', '"{}" = 1', 'name = ["{}"]'])
def test_a_message_stays_short_whatever_the_file_says(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "long.toml"
    file.write_text(line.replace("{}", "x" * 1_000_000))
    said = refused(tmp_path, [str(file)], capsys)
    assert "… (" in said
    assert len(said) < 2_000


def test_a_wrong_base_scenario_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = campaigns.write(tmp_path)
    (tmp_path / "udp.toml").write_text(campaigns.SCENARIO.replace("delay", "dealy"))
    said = refused(tmp_path, [str(file), "--out", str(tmp_path / "out")], capsys)
    assert "udp.toml: links.uplink.dealy" in said
    assert "did you mean `delay`?" in said


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["--workers", "0"], "workers = 0"),
        (["--scheduler", "tcp://127.0.0.1:1"], "needs --executor dask"),
        (["--executor", "dask"], "needs a scheduler's address"),
        *(
            (
                ["--executor", "dask", "--scheduler", wrong],
                f"--scheduler {wrong}: is not an address; allowed: a host",
            )
            for wrong in ("10.0.0.1", "tcp://", "tcp://:8786", "", "http://10.0.0.1:8786", "nonsense")
        ),
        (["--executor", "dask", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"], "--workers 2"),
    ],
)
def test_options_that_do_not_fit(
    args: list[str], part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = campaigns.write(tmp_path)
    assert part in refused(tmp_path, [str(file), "--out", str(tmp_path / "out"), *args], capsys)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = campaigns.write(tmp_path)
    said = refused(tmp_path, [str(file), "--out", str(file / "out")], capsys)
    assert "is a file, not a folder" in said
    assert "is not a folder" in refused(tmp_path, [str(file), "--out", str(file)], capsys)


@pytest.mark.parametrize("flag", [[], ["--resume"], ["--force"]])
@pytest.mark.parametrize("mine", ["thesis.txt", ".env", ".git/config", ".mine.partial"])
def test_a_folder_that_is_no_campaign_s_is_never_touched(
    mine: str, flag: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = campaigns.write(tmp_path)
    (tmp_path / "out" / mine).parent.mkdir(parents=True)
    (tmp_path / "out" / mine).write_text("mine")
    said = refused(tmp_path, [str(file), "--out", str(tmp_path / "out"), *flag], capsys)
    assert "is not a campaign folder" in said


@pytest.fixture
def half(tmp_path: Path) -> Path:
    """A campaign file, beside half of its results in `out`."""
    file = campaigns.write(tmp_path, ('["messages", "channel"]', '["messages"]'))

    def stop(status: leobench.campaign.Status) -> None:
        if status.done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leobench.sweep(file, tmp_path / "out", workers=1, progress=stop)
    return file


def resume_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    said = refused(file.parent, [str(file), "--out", str(file.parent / "out"), "--resume"], capsys)
    assert f"{file.parent / 'out'}: cannot be resumed: " in said
    return said


def test_an_existing_campaign_is_neither_continued_nor_replaced_unasked(
    half: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(half.parent, [str(half), "--out", str(half.parent / "out")], capsys)
    assert "exists already; continue it with --resume (resume=True), replace it with --force (force" in said
    with pytest.raises(
        leobench.InputError, match="is not finished; continue it with `leobench sweep --resume`"
    ):
        leobench.CampaignResult.open(half.parent / "out")
    with pytest.raises(leobench.InputError, match="resume and force exclude each other"):
        leobench.sweep(half, half.parent / "out", resume=True, force=True)


@pytest.mark.parametrize(
    "mine", ["notes.txt", "sub/y", "runs/notes.txt", "runs/mine.json", "tables/mine.parquet", ".x.partial"]
)
def test_what_no_campaign_wrote_is_neither_replaced_nor_cleared_away(
    mine: str, half: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = half.parent / "out"
    (out / mine).parent.mkdir(exist_ok=True)
    (out / mine).write_text("mine")
    said = refused(half.parent, [str(half), "--out", str(out), "--force"], capsys)
    named = mine.partition("/")[0] if mine.startswith("sub") else mine
    assert (
        f"{out}: holds `{named}`, which no campaign wrote, so it is not replaced; move that file away" in said
    )
    leobench.sweep(half, out, workers=1, resume=True)
    assert (out / mine).read_text() == "mine"


def test_a_link_is_not_followed_to_what_it_leads_to(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, elsewhere = half.parent / "out", half.parent / "elsewhere"
    (out / "runs").rename(elsewhere)
    (out / "runs").symlink_to(elsewhere)
    said = refused(half.parent, [str(half), "--out", str(out), "--force"], capsys)
    assert "holds `runs`, which no campaign wrote" in said


def test_a_damaged_dataset_is_told_of_and_made_again(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["sweep", str(half), "--out", str(half.parent / "out"), "--workers", "1", "--quiet", "--resume"]
    assert cli.main(args) == 0
    runs = half.parent / "out" / "runs.parquet"
    whole = runs.read_bytes()
    runs.write_bytes(whole[:100])
    assert cli.main(args) == 2
    said = "is damaged or missing; delete it and make it again with `leobench sweep --resume` (resume=True)"
    assert capsys.readouterr().err == f"leobench: {runs}: {said}\n"
    table = half.parent / "out" / "tables" / "messages.parquet"
    table.write_bytes(b"PAR1")
    with pytest.raises(leobench.InputError, match=r"messages\.parquet: is damaged or missing"):
        _ = leobench.CampaignResult.open(half.parent / "out").tables.messages
    runs.unlink()
    assert cli.main(args) == 0
    assert runs.read_bytes() == whole


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"workers": "2"}, "workers = '2': is not a whole number; allowed: a whole number from 1"),
        ({"workers": True}, "workers = True: is not a whole number; allowed: a whole number from 1"),
        ({"workers": -1}, "workers = -1: is not positive; allowed: a whole number from 1"),
        ({"workers": 3, "executor": ThreadPoolExecutor()}, "workers = 3: an executor brings its own workers"),
        (
            {"executor": ProcessPoolExecutor(mp_context=multiprocessing.get_context("fork"))},
            r'give it mp_context=multiprocessing\.get_context\("spawn"\)',
        ),
    ],
)
def test_arguments_that_do_not_fit(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(leobench.InputError, match=said):
        leobench.sweep(campaigns.write(tmp_path), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_changed_campaign_file_is_not_resumed(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    half.write_text(half.read_text().replace("replicates = 3", "replicates = 4"))
    assert "the campaign file has changed since" in resume_refused(half, capsys)


def test_another_campaign_is_not_resumed(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    half.write_text(half.read_text().replace('"tiny"', '"other"'))
    assert "it holds campaign `tiny`, not `other`" in resume_refused(half, capsys)


def test_a_changed_scenario_is_not_resumed(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (half.parent / "udp.toml").write_text(campaigns.SCENARIO.replace("10 ms", "11 ms"))
    said = resume_refused(half, capsys)
    assert "links.uplink.delay was '10 ms' and is '11 ms' now" in said
    commented = campaigns.SCENARIO + "# A comment changes nothing.\n"
    (half.parent / "udp.toml").write_text(commented)
    leobench.sweep(half, half.parent / "out", workers=1, resume=True)


def test_another_version_does_not_resume(
    half: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = _core.__version__
    monkeypatch.setattr(_core, "__version__", "99.0")
    assert f"written by leobench {version}; this is 99.0" in resume_refused(half, capsys)


def test_a_campaign_of_another_size_is_not_resumed(half: Path) -> None:
    campaign = leobench.campaign.Campaign.load(half).scaled(replicates=2)
    with pytest.raises(leobench.InputError, match="`replicates` was 3 and is 2 now"):
        leobench.campaign.run_campaign(campaign, half.parent / "out", resume=True)


@pytest.mark.parametrize("name", ["matrix.csv", "places.csv"])
def test_changed_traffic_is_not_resumed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = campaigns.write(tmp_path)
    file.write_text(
        'name = "traffic"\nscenario = "sky.toml"\nreplicates = 2\nmetrics = ["traffic.fairness_jain"]\n'
    )
    (tmp_path / "sky.toml").write_text(SKY)
    (tmp_path / "places.csv").write_text("name,latitude,longitude\nrome,41.9,12.5\noslo,59.9,10.8\n")
    (tmp_path / "matrix.csv").write_text("from,to,weight\nrome,oslo,1\noslo,rome,1\n")
    leobench.sweep(file, tmp_path / "out", workers=1)
    changed = tmp_path / name
    changed.write_text(changed.read_text().replace("oslo,rome,1", "oslo,rome,2").replace("12.5", "12.6"))
    assert f"{name}: has changed since" in resume_refused(file, capsys)


def test_a_changed_trace_is_not_resumed_and_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = campaigns.write(tmp_path)
    traced = campaigns.SCENARIO.replace(
        '{ kind = "lms", preset = "s" }', '{ kind = "trace", file = "a.trace" }'
    )
    (tmp_path / "udp.toml").write_text(traced)
    trace = tmp_path / "a.trace"
    trace.write_text("1\n2\n5\n")

    def change(status: leobench.campaign.Status) -> None:
        if status.done == 6:
            trace.write_text("1\n3\n5\n")

    with pytest.raises(
        leobench.InputError, match="changed while the campaign ran, or a file that it names did"
    ):
        leobench.sweep(file, tmp_path / "out", workers=1, progress=change)
    assert "a.trace: has changed since" in resume_refused(file, capsys)
    trace.write_text("1\n2\n5\n")
    leobench.sweep(file, tmp_path / "out", workers=1, resume=True)
    leobench.sweep(file, tmp_path / "whole", workers=1)
    assert campaigns.contents(tmp_path / "out") == campaigns.contents(tmp_path / "whole")


def test_a_damaged_run_is_named(half: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run, *_) = sorted((half.parent / "out" / "runs").glob("*.json"))
    run.write_text("{")
    assert (
        cli.main(["sweep", str(half), "--out", str(half.parent / "out"), "--resume", "--workers", "1"]) == 2
    )
    assert f"{run}: is damaged" in capsys.readouterr().err
    record = json.loads(sorted((half.parent / "out" / "runs").glob("*.json"))[1].read_text())
    run.write_text(json.dumps(record | {"seed": 5}))
    assert (
        cli.main(["sweep", str(half), "--out", str(half.parent / "out"), "--resume", "--workers", "1"]) == 2
    )
    assert f"{run}: belongs to another run" in capsys.readouterr().err
    run.unlink()
    assert (
        cli.main(["sweep", str(half), "--out", str(half.parent / "out"), "--resume", "--workers", "1"]) == 0
    )
