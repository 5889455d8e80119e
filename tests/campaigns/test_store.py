"""Files of a campaign: the same bytes from any executor, and no loss after failures and interruptions."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import tracemalloc
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import leobench
from leobench import _core, cli
from leobench.campaign import Campaign, Status, store, task
from tests.support import campaigns

if TYPE_CHECKING:
    from collections.abc import Callable

# The results of a run that the core returns: summary, tables, stalls, flows that connected.
Ran = tuple[str, dict[str, bytes], dict[str, tuple[float, float]], list[str]]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A campaign of twelve runs that takes a tenth of a second."""
    return campaigns.write(tmp_path)


@pytest.fixture
def whole(tiny: Path, tmp_path: Path) -> dict[str, bytes]:
    """The files that the campaign writes without failure or interruption."""
    leobench.sweep(tiny, tmp_path / "whole", workers=1)
    return campaigns.contents(tmp_path / "whole")


def interrupt_after(runs: int) -> Callable[[Status], None]:
    """As if Ctrl-C was pressed after that many runs of this session."""

    def progress(status: Status) -> None:
        if status.done - status.kept == runs:
            raise KeyboardInterrupt

    return progress


def test_frames_hold_a_row_per_run_and_metric_in_the_order_of_the_plan(tiny: Path, tmp_path: Path) -> None:
    result = leobench.sweep(tiny, tmp_path / "out", workers=1)
    assert result.runs.schema == {
        "variant": pl.String,
        "links.uplink.queue.limit": pl.String,
        "flows.main.source.rate": pl.String,
        "replicate": pl.Int64,
        "seed": pl.Int64,
        "metric": pl.String,
        "value": pl.Float64,
    }
    assert result.runs.height == 2 * 2 * 3 * 2
    assert result.runs["replicate"].to_list() == [1, 1, 2, 2, 3, 3] * 4
    assert result.runs["links.uplink.queue.limit"].unique(maintain_order=True).to_list() == [
        "2 packets",
        "unlimited",
    ]
    assert result.failures.height == 0
    assert set(result.tables) == {"messages", "channel"}
    # The mean delay of the summary is that of the messages that were kept.
    delays = (
        result.tables.messages.drop_nulls("delivered_ns")
        .group_by("variant", "replicate", maintain_order=True)
        .agg(((pl.col("delivered_ns") - pl.col("created_ns")) / 1e6).mean().alias("delay"))
    )
    means = result.runs.filter(metric="flows.main.delay_ms.mean")
    assert delays["variant"].to_list() == means["variant"].to_list()
    assert delays["delay"].to_list() == pytest.approx(means["value"].to_list(), rel=1e-9)
    assert leobench.CampaignResult.open(tmp_path / "out").runs.equals(result.runs)


def test_a_place_that_a_variant_leaves_alone_is_null_and_numbers_stay_numbers(tmp_path: Path) -> None:
    file = campaigns.write(
        tmp_path,
        (
            '"links.uplink.queue.limit" = ["2 packets", "unlimited"]',
            '"flows.main.streams" = [1, 2]\n'
            '"links.uplink.queue" = [{ kind = "fifo", limit = "2 packets" }, "fifo"]',
        ),
        ('["1 Mbps", "3 Mbps"]', '["1 Mbps"]\n[[variants]]\nname = "short"\nset = { "duration" = "500 ms" }'),
    )
    runs = leobench.sweep(file, tmp_path / "out", workers=1).runs
    assert runs.schema["flows.main.streams"] == pl.Int64
    assert runs.filter(variant="short")["flows.main.streams"].null_count() == 6
    assert runs["links.uplink.queue"].unique(maintain_order=True).to_list() == [
        '{ "kind" = "fifo", "limit" = "2 packets" }',
        "fifo",
        None,
    ]


def test_a_metric_that_only_some_variants_have_is_null_in_the_others(tmp_path: Path) -> None:
    file = campaigns.write(
        tmp_path,
        ('"flows.main.delay_ms.mean"', '"flows.main.streams.s2.goodput_bps"'),
        ('"flows.main.source.rate" = ["1 Mbps", "3 Mbps"]', '"flows.main.streams" = [1, 2]'),
    )
    runs = leobench.sweep(file, tmp_path / "out", workers=1).runs
    second = runs.filter(metric="flows.main.streams.s2.goodput_bps")
    assert second.filter(pl.col("flows.main.streams") == 1)["value"].null_count() == 6
    assert second.filter(pl.col("flows.main.streams") == 2)["value"].null_count() == 0


def test_replicates_of_all_variants_see_the_same_channel_and_arrivals(tiny: Path, tmp_path: Path) -> None:
    tables = leobench.sweep(tiny, tmp_path / "out", workers=1).tables
    channels = dict(tables["channel"].group_by("replicate", "variant", maintain_order=True))
    for replicate in (1, 2, 3):
        seen = [frame.drop("variant") for (number, _), frame in channels.items() if number == replicate]
        assert len(seen) == 4
        assert seen[0].height > 2, "more than the states at the start"
        assert all(frame.equals(seen[0]) for frame in seen)
    assert not channels[1, "limit=2-packets,rate=1-Mbps"].equals(channels[2, "limit=2-packets,rate=1-Mbps"])
    messages = dict(tables.messages.group_by("variant", "replicate", maintain_order=True))
    for rate in (1, 3):
        one, two = (messages[f"limit={limit},rate={rate}-Mbps", 1] for limit in ("2-packets", "unlimited"))
        assert one["created_ns"].sort().equals(two["created_ns"].sort())


def test_variants_with_independent_seeds_see_channels_of_their_own(tmp_path: Path) -> None:
    file = campaigns.write(tmp_path, ("seed = 1", 'seed = 1\nseeds = "independent"'))
    channel = leobench.sweep(file, tmp_path / "out", workers=1).tables["channel"]
    times = [tuple(frame["t_ns"]) for _, frame in channel.group_by("variant", "replicate")]
    assert len(set(times)) == len(times) == 12


def test_two_processes_and_threads_write_the_same_bytes(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    leobench.sweep(tiny, tmp_path / "two", workers=2)
    with ThreadPoolExecutor(3) as threads:
        leobench.sweep(tiny, tmp_path / "threads", threads)
    assert len(whole) == 12 + 2 + 3 + 1
    assert campaigns.contents(tmp_path / "two") == whole
    assert campaigns.contents(tmp_path / "threads") == whole


class Fragile(ThreadPoolExecutor):
    """An executor that breaks down over the ninth run, as a process pool does when a process is killed."""

    def __init__(self) -> None:
        super().__init__(2)
        self.given = 0

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        if self.given < 9:
            return super().submit(*args, **kwargs)
        broken: Future[Any] = Future()
        broken.set_exception(BrokenExecutor())
        return broken


def test_an_executor_that_breaks_down_loses_nothing(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    message = "the executor broke down: .*; finished runs are kept: continue with --resume"
    with Fragile() as executor, pytest.raises(leobench.RunError, match=message):
        leobench.sweep(tiny, tmp_path / "out", executor)
    assert len(list((tmp_path / "out" / "runs").glob("*.json"))) == 8
    leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True)
    assert campaigns.contents(tmp_path / "out") == whole


@pytest.mark.parametrize("runs", [0, 1, 7, 12])
def test_an_interrupted_campaign_continues_to_the_same_bytes_and_repeats_nothing(
    runs: int, tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        leobench.sweep(tiny, tmp_path / "out", workers=1, progress=interrupt_after(runs))
    seen: list[Status] = []
    leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True, progress=seen.append)
    assert seen[0] == Status(done=runs, failed=0, total=12, kept=runs)
    assert [status.done for status in seen] == list(range(runs, 13))
    assert campaigns.contents(tmp_path / "out") == whole
    sessions = json.loads((tmp_path / "out" / "manifest.json").read_text())["sessions"]
    assert [session["runs"] for session in sessions] == [runs, 12 - runs]


def test_resuming_what_is_finished_changes_nothing(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    folder = tmp_path / "whole"
    times = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    leobench.sweep(tiny, folder, workers=1, resume=True)
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == times
    (folder / "tables" / "messages.parquet").unlink()
    leobench.sweep(tiny, folder, workers=1, resume=True)
    assert campaigns.contents(folder) == whole, "what is missing is made again"


def test_a_run_that_fails_is_recorded_and_does_not_stop_the_rest(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    genuine, seen = _core.run, []

    def run(scenario: _core.Scenario, *rest: Any) -> Ran:
        resolved = json.loads(scenario.to_json())
        seen.append(scenario.seed)
        if (
            scenario.seed == 3300144296342471641
            and resolved["links"]["uplink"]["queue"]["limit"] == "unlimited"
        ):
            raise leobench.RunError("the queue ran away")
        return genuine(scenario, *rest)

    monkeypatch.setattr(_core, "run", run)
    args = ["sweep", str(tiny), "--out", str(tmp_path / "out"), "--workers", "1", "--quiet"]
    assert cli.main(args) == 1
    assert (
        "leobench: failed: variant limit=unlimited,rate=1-Mbps, replicate 2: the queue ran away\n"
        in capsys.readouterr().err
    )
    result = leobench.CampaignResult.open(tmp_path / "out")
    assert result.runs.height == 2 * 10
    assert result.failures.select("variant", "replicate", "error").rows() == [
        ("limit=unlimited,rate=1-Mbps", 2, "the queue ran away"),
        ("limit=unlimited,rate=3-Mbps", 2, "the queue ran away"),
    ]
    before, runs = campaigns.contents(tmp_path / "out"), len(seen)
    assert cli.main([*args, "--resume"]) == 1
    assert campaigns.contents(tmp_path / "out") == before
    assert len(seen) == runs + 4, "the four variants are asked for their metrics; no run is repeated"


def test_a_campaign_of_which_every_run_fails(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> Ran:
        raise leobench.RunError("no luck")

    monkeypatch.setattr(_core, "run", run)
    result = leobench.sweep(tiny, tmp_path / "out", workers=1)
    assert (result.runs.height, result.failures.height, list(result.tables)) == (0, 12, [])
    again = leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True)
    assert again.failures.equals(result.failures)


def test_a_full_disk_loses_nothing(
    tiny: Path,
    tmp_path: Path,
    whole: dict[str, bytes],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    args = ["sweep", str(tiny), "--out", str(tmp_path / "out"), "--workers", "1", "--quiet"]
    genuine = store._synchronise
    # Files there is room for: some of the 36 of the runs; and when all are there, of the datasets.
    for attempt, room in enumerate([1, 2, 10, 12, 12, 4, 2, 3, 4, 5]):
        left = [room]

        def synchronise(path: Path, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            genuine(path)

        with monkeypatch.context() as patch:
            patch.setattr(store, "_synchronise", synchronise)
            assert cli.main([*args, *(["--resume"] if attempt else [])]) == 1
        said = capsys.readouterr().err
        assert (
            "cannot be written: No space left on device; finished runs are kept: continue with --resume"
            in said
        )
        assert not list((tmp_path / "out").rglob(".*.partial"))
    assert cli.main([*args, "--resume"]) == 0
    assert campaigns.contents(tmp_path / "out") == whole


def test_a_disk_that_is_full_when_the_tables_are_put_together(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = pl.LazyFrame.sink_parquet

    def sink(frame: pl.LazyFrame, file: Any, **options: Any) -> None:
        if not isinstance(file, Path):  # a dataset, to memory
            genuine(frame, file, **options)
            return
        file.write_bytes(b"PAR1")
        raise pl.exceptions.ComputeError("underlying IO error: No space left on device (os error 28)")

    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "sink_parquet", sink)
        with pytest.raises(
            leobench.RunError, match=r"messages.parquet: .*No space left.*; finished runs are kept"
        ):
            leobench.sweep(tiny, tmp_path / "out", workers=1)
    assert not list((tmp_path / "out" / "tables").iterdir())
    leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True)
    assert campaigns.contents(tmp_path / "out") == whole


def test_a_campaign_killed_before_its_manifest_was_written_starts_anew(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".lock").touch()
    (tmp_path / "out" / ".manifest.json.partial").write_text("{")
    leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True)
    assert campaigns.contents(tmp_path / "out") == whole


def test_a_campaign_of_which_no_run_is_finished_starts_anew_unasked(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        leobench.sweep(tiny, tmp_path / "out", workers=1, progress=interrupt_after(0))
    leobench.sweep(tiny, tmp_path / "out", workers=1)
    assert campaigns.contents(tmp_path / "out") == whole


def test_processes_that_are_spawned_may_be_another_s(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        leobench.sweep(tiny, tmp_path / "out", pool)
    assert campaigns.contents(tmp_path / "out") == whole


def test_what_a_killed_write_left_is_cleared_away(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        leobench.sweep(tiny, tmp_path / "out", workers=1, progress=interrupt_after(5))
    (tmp_path / "out" / "runs" / ".x-0001.json.partial").write_text("{")
    leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True)
    assert campaigns.contents(tmp_path / "out") == whole


def test_force_replaces_a_campaign(tiny: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    out = tmp_path / "out"
    leobench.sweep(campaigns.write(tmp_path, ("seed = 1", "seed = 2")), out, workers=1)
    assert campaigns.contents(out) != whole
    campaigns.write(tmp_path)
    leobench.sweep(tiny, out, workers=1, force=True)
    assert campaigns.contents(out) == whole


def test_two_campaigns_cannot_run_in_one_folder(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        leobench.sweep(tiny, tmp_path / "out", workers=1, progress=interrupt_after(5))
    with (tmp_path / "out" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(leobench.InputError, match="another process is running a campaign there"):
            leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True)


def test_a_panic_of_the_core_fails_its_run_only(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        pass

    genuine = _core.run

    def run(scenario: _core.Scenario, *rest: Any) -> Ran:
        if scenario.seed == 3300144296342471641:
            raise PanicException("index out of bounds")
        return genuine(scenario, *rest)

    monkeypatch.setattr(_core, "run", run)
    result = leobench.sweep(tiny, tmp_path / "out", workers=1)
    assert result.failures["error"].unique().to_list() == ["a bug in leobench: index out of bounds"]
    assert result.failures["replicate"].to_list() == [2] * 4


def test_an_error_that_is_not_the_run_s_ends_the_campaign_and_keeps_what_is_finished(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = _core.run

    def run(scenario: _core.Scenario, *rest: Any) -> Ran:
        if scenario.seed == 3300144296342471641:
            raise MemoryError
        return genuine(scenario, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(_core, "run", run)
        message = "variant limit=2-packets,rate=1-Mbps, replicate 2: MemoryError; finished runs are kept"
        with pytest.raises(leobench.RunError, match=message):
            leobench.sweep(tiny, tmp_path / "out", workers=1)
    seen: list[Status] = []
    leobench.sweep(tiny, tmp_path / "out", workers=1, resume=True, progress=seen.append)
    assert seen[0].kept == 4
    assert campaigns.contents(tmp_path / "out") == whole


class Counting(ThreadPoolExecutor):
    """Counts the runs that it has at a time."""

    most = now = 0

    def submit(self, *args: Any, **named: Any) -> Future[Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        future = super().submit(*args, **named)
        future.add_done_callback(self.count)
        return future

    def count(self, _: object) -> None:
        self.now -= 1


def test_an_executor_is_given_a_part_of_the_runs_at_a_time(
    tiny: Path, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "IN_FLIGHT", 3)
    with Counting(1) as executor:
        leobench.sweep(tiny, tmp_path / "out", executor)
    assert executor.most <= 4
    assert campaigns.contents(tmp_path / "out") == whole


def test_a_large_campaign_is_planned_in_little_memory(tiny: Path) -> None:
    large = Campaign.load(tiny).scaled(replicates=20_000)
    large.scenarios  # noqa: B018 (resolved beforehand)
    tracemalloc.start()
    plan = large.plan()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(plan) == 80_000
    assert most / len(plan) < 250, "bytes of a planned run, its seed and its number included"


def test_too_many_replicates_are_refused_wherever_they_are_asked_for(tiny: Path) -> None:
    with pytest.raises(leobench.InputError, match=r"replicates = 250001: is too many; .* from 1 to 250,000 "):
        Campaign.load(tiny).scaled(replicates=250_001)
