"""The runs of a campaign in real time: programs on hosts instead of leobench's own transports.

`RealTime` is the executor of a campaign (`leobench.sweep`). Runs follow each other, as each needs the machine
for itself. A run whose clock cannot be trusted by its own verdict does not count and is repeated a few times;
`invalid_runs` in the summary counts them. `OwnFlow` runs leobench's own transport beside such programs: the
same file, requested at the same time by the same end, in virtual or in real time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.campaign.store import Outcome
from leobench.errors import InputError, LeobenchError, RunError
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leobench.campaign.plan import PlannedRun

EXAMPLES = Path(__file__).parent
# Milliseconds from the start of the network to that of the main program.
SETTLE_MS = 1500
# How often a run is tried until its clock can be trusted.
ATTEMPTS = 5


@dataclass(frozen=True)
class Commands:
    """The programs of a run.

    Attributes:
        other: The host and the command of the one that runs beside.
        main: The host and the command of the one that ends the run; it prints a JSON object.
    """

    other: tuple[str, str]
    main: tuple[str, str]


def build_go(name: str, folder: Path) -> Path:
    """Builds a program in Go of the examples into a folder.

    Raises:
        InputError: If Go is not installed.
    """
    if shutil.which("go") is None:
        raise InputError(f"go: is not installed; {name} needs it")
    program = folder / name
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=EXAMPLES / name, check=True)
    return program


def build_rust(name: str) -> Path:
    """Builds a crate of the examples, in its folder.

    Raises:
        InputError: If Cargo is not installed.
    """
    if shutil.which("cargo") is None:
        raise InputError(f"cargo: is not installed; {name} needs it")
    words = ["cargo", "build", "--release", "--locked", "--quiet", "--target-dir", "target"]
    subprocess.run(words, cwd=EXAMPLES / name, check=True)
    return EXAMPLES / name / "target" / "release" / name


def told(main: Callable[[], int]) -> int:
    """The exit code of a script; what it refuses is said in a line."""
    try:
        return main()
    except LeobenchError as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1


class _Runs(Executor, ABC):
    """Executes the runs of a campaign by commands of leobench, one after the other."""

    def __init__(self, attempts: int) -> None:
        self._attempts = attempts
        self._one = ThreadPoolExecutor(1)

    @abstractmethod
    def prepare(self, spec: dict[str, Any]) -> list[str]:
        """The command that runs a scenario and its last options; may change the scenario."""

    @abstractmethod
    def measured(self, printed: str, summary: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers of the flow, given the standard output and leobench's own summary."""

    def submit(self, _: object, run: PlannedRun, *__: object, **___: object) -> Future[Outcome]:  # type: ignore[override]
        """Executes a run, in another way than campaigns do."""
        return self._one.submit(self._run, run)

    def _run(self, run: PlannedRun) -> Outcome:
        spec: dict[str, Any] = json.loads(load(run.scenario, run.seed, run.overrides).to_json())
        words = self.prepare(spec)
        try:
            printed, summary = valid_run(spec, words, self._attempts)
        except RunError as error:
            return Outcome(None, str(error), {})
        (flow,) = spec["flows"]
        summary["flows"] = [{"name": flow, **self.measured(printed, summary)}]
        return Outcome(summary, None, {})


def valid_run(
    spec: Mapping[str, Any], words: Sequence[str], attempts: int = ATTEMPTS
) -> tuple[str, dict[str, Any]]:
    """Runs a scenario until its clock can be trusted.

    Args:
        spec: The scenario.
        words: The command of leobench that runs it, and its last options.
        attempts: How often it is tried at most.

    Returns:
        The standard output and the summary, in which `invalid_runs` counts the runs before it.

    Raises:
        RunError: If a run fails, or none is valid.
    """
    reasons: list[str] = []
    for invalid in range(attempts):
        with tempfile.TemporaryDirectory() as folder:
            tried = _try(Path(folder), spec, words)
        if isinstance(tried, tuple):
            printed, summary = tried
            return printed, summary | {"invalid_runs": invalid}
        reasons = tried
    raise RunError(f"{attempts} invalid runs, the last: {'; '.join(reasons)}")


def _try(
    folder: Path, spec: Mapping[str, Any], words: Sequence[str]
) -> tuple[str, dict[str, Any]] | list[str]:
    """The standard output and the summary of a run, or why it does not count."""
    scenario, results = folder / "scenario.json", folder / "out"
    scenario.write_text(json.dumps(spec), encoding="utf-8")
    started = [sys.executable, "-m", "leobench", words[0], str(scenario), "--out", str(results)]
    ended = subprocess.run([*started, *words[1:]], capture_output=True, text=True, check=False)
    if not (results / "manifest.json").exists():
        raise RunError(ended.stderr.strip()[-500:])
    manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
    if manifest["validity"]["verdict"] != "valid":
        return list(manifest["validity"]["warnings"])
    if ended.returncode != 0:
        raise RunError(f"{words[-1]}: exit code {ended.returncode}: {ended.stderr[-500:]}")
    return ended.stdout, json.loads((results / "summary.json").read_text(encoding="utf-8"))


class RealTime(_Runs):
    """Executes the runs of a campaign in real time, by programs instead of leobench's own transports."""

    def __init__(
        self,
        commands: Callable[[Mapping[str, Any]], Commands],
        measure: Callable[[dict[str, Any]], dict[str, Any]],
        attempts: int = ATTEMPTS,
    ) -> None:
        """Makes the executor.

        Args:
            commands: The programs of a run, given its scenario, which has one flow.
            measure: What the summary says of the flow, given what the main program printed.
            attempts: How often a run is tried at most until its clock can be trusted.
        """
        super().__init__(attempts)
        self._commands, self._measure = commands, measure

    def prepare(self, spec: dict[str, Any]) -> list[str]:
        """Puts the programs on the hosts of the flow's ends."""
        commands = self._commands(spec)
        return ["emulate", "--settle", str(SETTLE_MS), "--on", *commands.other, "--on", *commands.main]

    def measured(self, printed: str, _: Mapping[str, Any]) -> dict[str, Any]:
        """Reads what the main program printed."""
        return self._measure(json.loads(printed))


class OwnFlow(_Runs):
    """Executes the runs of a campaign by `leobench run`, with the scenario's own transport.

    The flow becomes a file, which the receiving end requests as the programs of others do: it opens the
    connection at the time when they start. So `completion_s` counts from there to the last byte, handshake
    and request included, and `goodput_bps` is the size over it.
    """

    def __init__(self, engine: str, size: int, attempts: int = ATTEMPTS) -> None:
        """Makes the executor.

        Args:
            engine: In which time: `virtual` or `real`.
            size: Bytes of the file.
            attempts: As for `RealTime`; in virtual time, another attempt would be the same.
        """
        super().__init__(attempts if engine == "real" else 1)
        self._engine, self._size = engine, size

    def prepare(self, spec: dict[str, Any]) -> list[str]:
        """Makes the flow a file."""
        (flow,) = spec["flows"].values()
        for source in ("source", "sources", "streams"):
            flow.pop(source, None)
        flow["objects"] = [{"name": "file", "size": f"{self._size} B"}]
        flow["opened_by"], flow["start"] = "to", f"{SETTLE_MS} ms"
        spec["engine"], spec["until"] = self._engine, "drained"
        return ["run"]

    def measured(self, _: str, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Reads leobench's own summary."""
        (flow,) = summary["flows"]
        took = flow["page"]["completion_s"]
        return {"goodput_bps": None if took is None else 8 * self._size / took, "completion_s": took}
