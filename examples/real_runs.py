"""The runs of a campaign in real time: programs on hosts instead of leobench's own transports.

`RealTime` is the executor of a campaign (`leobench.sweep`). Runs follow each other, as each needs the machine
for itself. A run whose clock cannot be trusted by its own verdict does not count and is repeated a few times.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.campaign.store import Outcome
from leobench.errors import InputError, LeobenchError
from leobench.scenario import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from leobench.campaign.plan import PlannedRun

EXAMPLES = Path(__file__).parent


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


class RealTime(Executor):
    """Executes the runs of a campaign in real time, one after the other."""

    def __init__(
        self,
        commands: Callable[[Mapping[str, Any]], Commands],
        measure: Callable[[dict[str, Any]], dict[str, Any]],
        attempts: int = 5,
    ) -> None:
        """Makes the executor.

        Args:
            commands: The programs of a run, given its scenario, which has one flow.
            measure: What the summary says of the flow, given what the main program printed.
            attempts: How often a run is tried at most until its clock can be trusted.
        """
        self._commands, self._measure, self._attempts = commands, measure, attempts
        self._one = ThreadPoolExecutor(1)

    def submit(self, _: object, run: PlannedRun, *__: object, **___: object) -> Future[Outcome]:  # type: ignore[override]
        """Executes a run, by programs instead of by leobench's own transports."""
        return self._one.submit(self._run, run)

    def _run(self, run: PlannedRun) -> Outcome:
        scenario = load(run.scenario, run.seed, run.overrides)
        text = scenario.to_json()
        spec = json.loads(text)
        commands = self._commands(spec)
        reasons: list[str] = []
        for _ in range(self._attempts):
            with tempfile.TemporaryDirectory() as folder:
                outcome = self._try(Path(folder), text, commands)
            if isinstance(outcome, Outcome):
                return outcome
            reasons = outcome
        return Outcome(None, f"{self._attempts} invalid runs, the last: {'; '.join(reasons)}", {})

    def _try(self, folder: Path, scenario: str, commands: Commands) -> Outcome | list[str]:
        """A run, or why it does not count."""
        (folder / "scenario.json").write_text(scenario, encoding="utf-8")
        words = [
            sys.executable,
            "-m",
            "leobench",
            "emulate",
            f"{folder}/scenario.json",
            "--out",
            f"{folder}/out",
        ]
        words += ["--on", *commands.other, "--on", *commands.main, "--settle", "1500"]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        results = folder / "out"
        if not (results / "manifest.json").exists():
            return Outcome(None, ended.stderr.strip()[-500:], {})
        manifest = json.loads((results / "manifest.json").read_text(encoding="utf-8"))
        if manifest["validity"]["verdict"] != "valid":
            return list(manifest["validity"]["warnings"])
        if manifest["exit_code"] != 0:
            program, code = commands.main[1], manifest["exit_code"]
            return Outcome(None, f"{program}: exit code {code}: {ended.stderr[-500:]}", {})
        summary = json.loads((results / "summary.json").read_text(encoding="utf-8"))
        (flow,) = json.loads(scenario)["flows"]
        summary["flows"] = [{"name": flow, **self._measure(json.loads(ended.stdout))}]
        return Outcome(summary, None, {})
