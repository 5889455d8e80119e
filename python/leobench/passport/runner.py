"""Runs the cases of a suite for a controller as one campaign, and judges its checks."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.campaign import Campaign, Variant, run_campaign, store
from leobench.errors import InputError, RunError
from leobench.passport import judge
from leobench.passport.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.campaign import PlannedRun, Status
    from leobench.campaign.store import Outcome
    from leobench.candidate import Candidate
    from leobench.passport.judge import Finding, Verdict
    from leobench.passport.suite import Check, Suite

# The folders of a passport: the scenario with the controller's files, and the runs.
SCENARIO, RUNS = "scenario", "runs"

# Of every run: what campaigns ask for. Checks read the whole summary.
_METRIC = "flows.main.goodput_bps"
# Runs of each case in real time: a run takes as long as it lasts.
_REAL_REPLICATES = 3
_VIRTUAL_ONLY = "not for the kernel's TCP in real time"


@dataclass(frozen=True)
class Examination:
    """The answers of a suite's checks for one controller.

    Attributes:
        candidate: The controller.
        suite: The suite.
        replicates: Runs of each case.
        findings: The answers, in the order of the suite's checks.
        files: SHA-256 of the files that the controller consists of, by name.
    """

    candidate: Candidate
    suite: Suite
    replicates: int
    findings: tuple[Finding, ...]
    files: Mapping[str, str]

    def count(self, verdict: Verdict) -> int:
        """The number of checks with this verdict."""
        return sum(finding.verdict == verdict for finding in self.findings)


def examine_all(
    candidates: Sequence[Candidate],
    suite: Suite,
    folder: Path,
    *,
    workers: int | None = None,
    resume: bool = False,
    force: bool = False,
    progress: Callable[[Status], object] | None = None,
) -> list[Examination]:
    """Runs the cases of a suite for one controller after the other, and judges its checks.

    Args:
        candidates: The controllers.
        suite: The suite.
        folder: Folder for the scenarios and the runs of all.
        workers: As in `leobench.sweep`, and so `resume` and `force`.
        resume: Whether to continue what is there.
        force: Whether to replace what is there.
        progress: Called as by `leobench.sweep`, with the runs of all controllers together.

    Raises:
        InputError: If a controller or an argument is wrong, or the results cannot go to `folder`.
        RunError: If the runs cannot go on; finished runs are kept.
    """
    counts = [len(_cases(each, suite)) * _replicates(each, suite) for each in candidates]
    places = [folder, *(folder / f"against{number or ''}" for number in range(len(candidates) - 1))]
    if not (resume or force):
        _refuse_existing(places)
    made: list[Examination] = []
    for number, (candidate, place) in enumerate(zip(candidates, places, strict=True)):
        total = _Total(sum(counts[:number]), sum(counts), progress or (lambda _: None))
        campaign = _campaign(candidate, suite, place)
        run_campaign(campaign, place / RUNS, workers=workers, resume=resume, force=force, progress=total)
        made.append(_judged(candidate, suite, campaign, place))
    return made


@dataclass
class _Total:
    """The progress of several campaigns as that of one.

    Attributes:
        before: Runs of the campaigns before this one.
        total: Runs of all.
        progress: Called with the sum.
    """

    before: int
    total: int
    progress: Callable[[Status], object]

    def __call__(self, status: Status) -> None:
        done, kept = self.before + status.done, self.before + status.kept
        self.progress(replace(status, done=done, total=self.total, kept=min(kept, done)))


def _judged(candidate: Candidate, suite: Suite, campaign: Campaign, place: Path) -> Examination:
    reader = store.Store(place / RUNS, {}, [])
    outcomes: dict[str, list[Outcome]] = {}
    for run in campaign.plan():
        outcomes.setdefault(run.variant, []).append(_finished(reader, run))
    findings = tuple(_finding(check, suite, outcomes.get(check.case)) for check in suite.checks)
    return Examination(candidate, suite, campaign.replicates, findings, _digests(candidate))


def _refuse_existing(places: Sequence[Path]) -> None:
    """Refuses folders with finished runs, before a file of theirs is replaced."""
    for place in places:
        if any((place / RUNS).glob("runs/*.json")):
            raise InputError(
                f"{place}: holds the runs of a passport already; continue it with --resume, replace it with "
                "--force, or choose another folder with --out"
            )


def _replicates(candidate: Candidate, suite: Suite) -> int:
    return min(suite.replicates, _REAL_REPLICATES) if candidate.engine == "real" else suite.replicates


def _cases(candidate: Candidate, suite: Suite) -> list[str]:
    return [name for name, case in suite.cases.items() if candidate.engine != "real" or case.kernel]


def _campaign(candidate: Candidate, suite: Suite, folder: Path) -> Campaign:
    """The runs as a campaign; its scenario is a copy beside the controller's files."""
    place = folder / SCENARIO
    names = _cases(candidate, suite)
    if not names:
        raise InputError(
            f"{candidate.text}: no case of these checks runs in real time; allowed: other checks"
        )
    try:
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(suite.network, place / suite.network.name)
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error}") from error
    candidate.copy_modules(place)
    overrides = {name: suite.cases[name].overrides(candidate) for name in names}
    replicates = _replicates(candidate, suite)
    described = {
        "suite": suite.version,
        "controller": candidate.text,
        "files": _digests(candidate),
        "cases": names,
        "runs": replicates,
    }
    return Campaign(
        name=f"passport-{suite.version}",
        description=f"Suite {suite.version} of `leobench passport`",
        file=place / suite.network.name,
        text=json.dumps(described, indent=1, ensure_ascii=False),
        scenario=place / suite.network.name,
        replicates=replicates,
        seed=1,
        seeds="common",
        metrics=(_METRIC,),
        tables=(),
        set={},
        variants=tuple(Variant(name, places, {}) for name, places in overrides.items()),
        command="passport",
    )


def _finished(reader: store.Store, run: PlannedRun) -> Outcome:
    outcome = reader.read(run)
    if outcome is None:
        raise RunError(f"{reader.folder}: run {run.stem} was removed while the passport was made")
    return outcome


def _finding(check: Check, suite: Suite, outcomes: Sequence[Outcome] | None) -> Finding:
    if outcomes is None:
        return judge.Finding(check, judge.NOT_MEASURED, note=_VIRTUAL_ONLY)
    # Times by a clock that cannot be trusted are no measurement.
    valid = [outcome for outcome in outcomes if all(doubt.kind != "clock" for doubt in outcome.doubts)]
    failures = [outcome.error for outcome in valid if outcome.error is not None]
    case, measure = suite.cases[check.case], MEASURES[check.measure]
    values = [None if outcome.summary is None else measure(outcome.summary, case) for outcome in valid]
    found = judge.judge(check, values, failures)
    if len(valid) == len(outcomes):
        return found
    note = f"{len(outcomes) - len(valid)} of {len(outcomes)} runs had no valid clock"
    return judge.Finding(check, found.verdict, found.values, found.estimate, note)


def _digests(candidate: Candidate) -> dict[str, str]:
    files: dict[str, Path] = {name: candidate.folder / name for name in candidate.modules}
    files |= {file.name: file for file in _libraries(candidate.transport)}
    return {name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in sorted(files.items())}


def _libraries(table: Mapping[str, Any]) -> list[Path]:
    """The native libraries that a transport names."""
    nested = [each for value in table.values() if isinstance(value, dict) for each in _libraries(value)]
    own = [Path(table["library"])] if isinstance(table.get("library"), str) else []
    return own + nested
