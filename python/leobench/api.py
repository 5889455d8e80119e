"""The library: the functions behind the command line."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.files import as_path
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor
    from os import PathLike

    from leobench._core import Scenario
    from leobench.attribution import Explanation
    from leobench.campaign import CampaignResult, Status
    from leobench.emulation.outcome import Emulation
    from leobench.emulation.programs import Program
    from leobench.emulation.session import Ended, Settings
    from leobench.emulation.surroundings import Surroundings
    from leobench.orbit import Survey
    from leobench.papers import Reproduction
    from leobench.result import Result

    Progress = Callable[[float, float, int], object]

# Bytes that a capture may keep of a packet: at least the longest headers of IPv6 and TCP, 40 and 60 bytes.
_SNAPLENS = range(100, 65_536)


def run(  # noqa: PLR0913 (every option of a run, by name)
    scenario: str | PathLike[str],
    seed: int | None = None,
    overrides: Mapping[str, object] | None = None,
    out: str | PathLike[str] | None = None,
    *,
    force: bool = False,
    qlog: bool = False,
    pcap: bool = False,
    snaplen: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs a scenario in virtual time, or in real time if it says so (`engine = "real"`).

    Args:
        scenario: The scenario file, TOML or JSON.
        seed: Seed of all randomness; the scenario's own unless given.
        overrides: Values to replace in the scenario, by place: `{"links.uplink.queue.limit": "15 packets"}`.
            A mapping is a table, and `None` removes the scenario's value.
        out: Folder to write the results to; in memory unless given.
        force: Whether to replace a result folder that exists.
        qlog: Whether to write a qlog of every QUIC endpoint (needs `out`); other flows have none.
        pcap: Whether to write a packet capture of every end of every flow (needs `out`).
        snaplen: Bytes that captures keep of a packet, from 100 (headers) to 65,535 (all); 128 unless given.
        progress: Called about ten times a second with the time of the run reached and that of the end,
            both in seconds, and the number of packets carried (0 in real time). Its exceptions end the
            run.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If the results cannot go to `out`.
        RunError: If the run fails.
    """
    loaded = load(scenario, seed, overrides)
    return run_loaded(loaded, out, force=force, qlog=qlog, pcap=pcap, snaplen=snaplen, progress=progress)


def _out(given: object) -> Path:
    return as_path("out", given, "the path of a folder")


def run_loaded(
    scenario: Scenario,
    out: str | PathLike[str] | None = None,
    *,
    force: bool = False,
    qlog: bool = False,
    pcap: bool = False,
    snaplen: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Runs a loaded scenario; the other arguments are those of `run`."""
    from leobench import engine, folder, manifest
    from leobench.errors import InputError
    from leobench.result import Result, Tables
    from leobench.running import Running
    from leobench.summary import Summary

    _check_snaplen(snaplen, pcap=pcap)
    if out is None:
        for name, wanted in (("qlog", qlog), ("pcap", pcap)):
            if wanted:
                raise InputError(f"{name}: needs a folder to write to; give `out`")
        started = time.perf_counter()
        ended = engine.run(scenario, engine.Recording(), progress)
        wall_s = time.perf_counter() - started
        parsed = json.loads(ended.summary)
        described = manifest.describe(scenario, parsed, wall_s, ended.connected, ended.stalls, ended.clock)
        return Result(described, Summary(parsed), Tables.from_bytes(ended.tables), None)

    target = _out(out)
    with folder.writing(target, force=force) as partial:
        qlog_dir = partial / folder.QLOG if qlog else None
        pcap_dir = partial / folder.PCAP if pcap else None
        for asked in (qlog_dir, pcap_dir):
            if asked is not None:
                asked.mkdir()
        running = Running(partial, scenario, progress)
        started = time.perf_counter()
        recording = engine.Recording(partial, qlog_dir, pcap_dir, snaplen)
        ended = engine.run(scenario, recording, running)
        wall_s = time.perf_counter() - started
        running.end()
        if qlog_dir is not None and not any(qlog_dir.iterdir()):
            qlog_dir.rmdir()
        parsed = json.loads(ended.summary)
        described = manifest.describe(scenario, parsed, wall_s, ended.connected, ended.stalls, ended.clock)
        folder.describe(partial, described, parsed)
    return open(target)


def emulate(
    scenario: str | PathLike[str],
    programs: Sequence[tuple[str, str | Sequence[str]]],
    seed: int | None = None,
    overrides: Mapping[str, object] | None = None,
    out: str | PathLike[str] | None = None,
    *,
    force: bool = False,
    pcap: bool = False,
    snaplen: int | None = None,
) -> Emulation:
    """Runs programs on the hosts of a scenario, in real time, until the last of them ends.

    The programs are processes of this machine, each with the network of its host; what they print goes where
    this process prints. It takes Linux, and root or the right to make namespaces.

    Args:
        scenario: The scenario file, TOML or JSON. Its flows are left out.
        programs: Pairs of a host and a command, as text or as a list of words. The last one is the main
            program: the others start before it and end with it. An empty host stands for the near one
            (`docs/reference/real-time.md`).
        seed: Seed of all randomness; the scenario's own unless given.
        overrides: Values to replace in the scenario, as of `run`. The options of the command such as
            `--lateness` are its table `real`: `{"real.lateness": "2 ms"}`.
        out: Folder to write the results to; nothing is written unless given.
        force: Whether to replace a result folder that exists.
        pcap: Whether to write a packet capture of every host, with the truth as comments (needs `out`).
        snaplen: As of `run`.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If a host or a program does not exist, this machine or user cannot have hosts, the
            scenario has what only virtual time can run, or the results cannot go to `out`.
        RunError: If the network or the sandbox of the programs fails. (A program that fails raises nothing:
            its exit code is in the outcome.)
    """
    from leobench import data_files
    from leobench.emulation.outcome import Emulation, as_programs
    from leobench.summary import Summary

    checked = as_programs(programs)
    loaded = load(scenario, seed, overrides, flows="unused")
    described = data_files.absolute(json.loads(loaded.to_json()), Path(scenario).parent)
    ended = emulate_loaded(loaded, checked, out, force=force, pcap=pcap, snaplen=snaplen, described=described)
    written = None if out is None else open(out)
    return Emulation(ended.code, ended.exits, ended.verdict, Summary(json.loads(ended.summary)), written)


def emulate_loaded(  # noqa: PLR0913 (every option, by name)
    scenario: Scenario,
    programs: Sequence[Program],
    out: str | PathLike[str] | None = None,
    *,
    settings: Settings | None = None,
    force: bool = False,
    pcap: bool = False,
    snaplen: int | None = None,
    described: Mapping[str, Any] | None = None,
    surroundings: Surroundings | None = None,
) -> Ended:
    """Runs programs on the hosts of a loaded scenario, in real time, until the last of them ends.

    Args:
        scenario: The scenario; its flows are left out.
        programs: What runs where. An empty name stands for the near host.
        out: Folder to write the results to; nothing is written unless given.
        settings: How the network follows the clock; as the scenario says unless given.
        force: Whether to replace a result folder that exists.
        pcap: As of `emulate`, and so `snaplen`.
        snaplen: Bytes that captures keep of a packet.
        described: The scenario as it is written to `scenario.json` in `out`; nothing is unless given.
        surroundings: What there is beside the hosts; nothing unless given.

    Raises:
        InputError: If a host or a program does not exist, this machine or user cannot have hosts (it
            takes Linux), the scenario has what only virtual time can run, or the results cannot go to `out`.
        RunError: If the network or the sandbox of the programs fails.
    """
    from contextlib import ExitStack

    from leobench import folder, manifest
    from leobench.emulation import check, session
    from leobench.emulation.surroundings import Surroundings
    from leobench.engine import Recording
    from leobench.errors import InputError
    from leobench.running import Running

    _check_snaplen(snaplen, pcap=pcap)
    if pcap and out is None:
        raise InputError("pcap: needs a folder to write to; give `out`")
    settings = settings or session.Settings.of(scenario)
    surroundings = surroundings or Surroundings()
    programs = check.checked(scenario, programs, surroundings)
    with ExitStack() as held:
        partial = pcap_dir = None
        if out is not None:
            partial = held.enter_context(folder.writing(_out(out), force=force))
        if partial is not None and pcap:
            pcap_dir = partial / folder.PCAP
            pcap_dir.mkdir()
        running = None if partial is None else Running(partial, scenario)
        recording = Recording(partial, None, pcap_dir, snaplen)
        ended = session.run(scenario, programs, settings, recording, surroundings=surroundings)
        if running is not None and partial is not None:
            running.end()
            told = manifest.of_emulation(scenario, programs, ended)
            folder.describe(partial, told, json.loads(ended.summary), described)
    return ended


def sweep(
    campaign: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    executor: Executor | None = None,
    *,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
) -> CampaignResult:
    """Runs a campaign: every replicate of every variant of a scenario that a campaign file asks for.

    Args:
        campaign: The campaign file; `docs/howto/campaigns.md` describes it.
        out: Folder to write the results to; `results/<name>` unless given.
        executor: Where to run it, such as the executor of a Dask client; processes of this machine unless
            given. These import the calling program again, which needs `if __name__ == "__main__":`.
        workers: The number of such processes, one per processor unless given; 1 runs in this process.
        resume: Whether to continue this campaign if `out` holds a part of it.
        force: Whether to replace a campaign in `out`.
        progress: Called at the start and after every run. Its exceptions end the campaign; finished
            runs are kept.

    Raises:
        InputError: If the campaign or a scenario is wrong, or the results cannot go to `out`.
        RunError: If the executor breaks down or the disk is full; finished runs are kept. (A failed
            run raises nothing: it is in the result's `failures`. The result's `warnings` are
            reasons to distrust the numbers of other runs.)
    """
    from leobench.campaign import Campaign, run_campaign

    loaded = Campaign.load(campaign)
    target = Path("results") / loaded.name if out is None else _out(out)
    return run_campaign(
        loaded, target, executor, workers=workers, resume=resume, force=force, progress=progress
    )


def reproduce(
    target: str,
    out: str | PathLike[str] | None = None,
    *,
    quick: bool = False,
    readings: bool = True,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
) -> dict[str, Reproduction]:
    """Reproduces the figures of a paper, and judges the claims of the paper about them.

    Args:
        target: A paper, such as `khan2023`, or one of its figures, such as `khan2023/fig4`;
            `leobench reproduce --list` names all.
        out: Folder for the results, a subfolder per figure; `results/reproduce/<paper>` unless given, with
            `-quick` after it for a quick look.
        quick: Whether to take fewer and shorter runs; verdicts are less certain.
        readings: Whether to try the other readings of claims, too, which takes further runs.
        workers: As of `sweep`, for each campaign, and so `resume`, `force` and `progress`.
        resume: Whether to continue campaigns in `out`.
        force: Whether to replace campaigns in `out`.
        progress: Called at the start of each figure and after every run.

    Returns:
        The figures by name. `conclusions` of each are the outcomes of the claims, `result` is its campaign.

    Raises:
        InputError: If there is no such paper or figure, or the results cannot go to `out`.
        RunError: If a campaign gives up, or no run of it succeeds; finished runs are kept.
    """
    from leobench import papers
    from leobench.papers import reproduction, summary

    paper, figures = papers.find(target)
    folder = reproduction.folder(paper, quick=quick) if out is None else _out(out)
    done = {
        figure.name: reproduction.reproduce(
            paper,
            figure,
            folder / figure.name,
            reproduction.planned(figure, quick=quick),
            readings=readings,
            workers=workers,
            resume=resume,
            force=force,
            progress=progress,
        )
        for figure in figures
    }
    summary.write(paper, summary.read(paper, folder), folder)
    return done


def why(  # noqa: PLR0913 (every option, by name)
    scenario: str | PathLike[str],
    seed: int | None = None,
    overrides: Mapping[str, object] | None = None,
    out: str | PathLike[str] | None = None,
    *,
    flow: str | None = None,
    metric: str | None = None,
    seeds: int = 1,
    workers: int | None = None,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Explanation:
    """Explains what a flow with several paths loses, and to what, by runs without one cause after the other.

    Args:
        scenario: The scenario file, TOML or JSON.
        seed: The first seed; the scenario's own unless given.
        overrides: Values to replace in the scenario, as of `run`.
        out: Folder to write `why.json` and the figure `why.png` to; nothing is written unless given.
        flow: Name of the flow; the first with several paths unless given.
        metric: `goodput`, `delay_p95` or `delay_mean`; the goodput of bulk data unless given, and otherwise
            the 95th percentile of message delays.
        seeds: The number of seeds; two or more give intervals.
        workers: As of `sweep`.
        force: Whether to replace an explanation in `out`.
        progress: Called with the number of finished runs and that of runs known so far.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If it is for real time, no such flow has several paths, an argument is wrong, or `out`
            cannot be written to.
        RunError: If a run fails, or measures nothing.
    """
    from leobench.attribution import explain, files

    if out is not None:
        files.refuse_existing(_out(out), force=force)
    explanation = explain(
        scenario, seed, overrides, flow=flow, metric=metric, seeds=seeds, workers=workers, progress=progress
    )
    if out is not None:
        files.write(explanation, Path(out), force=force)
    return explanation


def check(scenario: str | PathLike[str], overrides: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Reads and checks a scenario without running it, and returns it with all defaults.

    Raises:
        ScenarioError: If the scenario is wrong.
    """
    resolved: dict[str, Any] = json.loads(load(scenario, None, overrides, flows="optional").to_json())
    return resolved


def survey(
    scenario: str | PathLike[str],
    seed: int | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    interval_s: float = 1.0,
) -> Survey:
    """Looks at the constellation of a scenario without running a transport.

    Args:
        scenario: The scenario file, TOML or JSON.
        seed: Seed of all randomness; the scenario's own unless given.
        overrides: Values to replace in the scenario, as of `run`.
        interval_s: Seconds between two samples of what links offer.

    Raises:
        ScenarioError: If the scenario is wrong.
        InputError: If it has no constellation.
    """
    from leobench import orbit

    return orbit.survey(load(scenario, seed, overrides, flows="optional"), interval_s)


def open(path: str | PathLike[str]) -> Result:  # noqa: A001 (read as `leobench.open`)
    """Opens the result folder of an earlier run; tables are read when they are first used.

    Raises:
        InputError: If there is no result folder at `path`.
    """
    from leobench import folder

    return folder.read(as_path("path", path, "the folder of a run"))


def schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    from leobench import _core

    parsed: dict[str, Any] = json.loads(_core.schema())
    return parsed


def summary_schema() -> dict[str, Any]:
    """The JSON Schema of `summary.json`: the type and the meaning of every key, the unit of every number."""
    from leobench import _core

    parsed: dict[str, Any] = json.loads(_core.summary_schema())
    return parsed


def kinds(kind: str) -> dict[str, str]:
    """The models of a kind (`channels`, `queues`, ...): every name with its one-line summary.

    Raises:
        InputError: If there is no such kind.
    """
    from leobench import _core

    return dict(_core.kinds(kind))


def describe(kind: str, name: str) -> dict[str, Any]:
    """The description of a model, such as `("channels", "lms")`.

    Returns:
        `{"kind", "name", "description", "example", "parameters": [{"name", "type", "required", "default",
        "description"}]}`. `example` is a line of a scenario that asks for it, `None` of a mere word. A
        default is `None` where there is none. A preset has `"states": [{"name", "rate_bps", "dwell_s",
        "time_share", "next"}]` too: rate, mean time spent in the state before it is left, share of all time,
        and the probability of each state to be the next.

    Raises:
        InputError: If there is no such kind or no such model.
    """
    from leobench import _core, parameters

    known = kinds(kind)
    states = _core.preset(name) if kind == "presets" else []
    names = [state[0] for state in states]
    told = [
        {
            "name": state,
            "rate_bps": rate_bps,
            "dwell_s": dwell_s,
            "time_share": time_share,
            "next": dict(zip(names, jump, strict=True)),
        }
        for state, rate_bps, dwell_s, time_share, jump in states
    ]
    key, schema = _core.kind_schema(kind)
    return parameters.describe(json.loads(schema), key, kind, name, known, told, dict(_core.refused(kind)))


def _check_snaplen(snaplen: int | None, *, pcap: bool) -> None:
    from leobench.errors import InputError

    if snaplen is None:
        return
    if not pcap:
        raise InputError("snaplen: applies to packet captures only; add pcap")
    if snaplen not in _SNAPLENS:
        allowed = f"from {_SNAPLENS[0]} (headers of IP and TCP) to {_SNAPLENS[-1]:,} (whole packets)"
        raise InputError(f"snaplen: {snaplen} is out of range; allowed: {allowed}")
