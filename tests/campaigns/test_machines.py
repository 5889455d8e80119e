"""The same campaign on a cluster of several machines that share no files."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.campaigns import machines, travelling
from tests.support import campaigns

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.campaigns.machines import Machine, Machines

pytest.importorskip("distributed", reason="needs the extra `dask`")


@pytest.fixture(scope="module")
def both() -> Iterator[Machines]:
    """Two machines; skips where they cannot be had, and fails where it was promised that they can."""
    obstacle = machines.obstacle()
    if obstacle is not None:
        if os.environ.get("LEOBENCH_HAS_HOSTS"):
            pytest.fail(obstacle)
        pytest.skip(obstacle)
    with machines.connected() as made:
        yield made


def dask(machine: Machine, *words: object, log: Path, **environment: str) -> subprocess.Popen[bytes]:
    return machine.start(sys.executable, "-m", "dask", *words, log=log, **environment)


def worker(machine: Machine, scheduler: str, folder: Path, name: str) -> subprocess.Popen[bytes]:
    options = ["--no-nanny", "--nthreads", 1, "--no-dashboard", "--name", name]
    place = ["--host", machine.address, "--local-directory", folder / name]
    return dask(machine, "worker", scheduler, *options, *place, log=folder / f"{name}.log")


def finished(out: Path) -> int:
    """Runs that the folder of a campaign holds."""
    return len(list(out.glob("runs/*.json")))


def test_a_cluster_that_shares_no_files_writes_the_same_bytes(both: Machines, tmp_path: Path) -> None:
    """Workers have an empty folder where the campaign lies, come late, and all but the last are killed."""
    home, logs = tmp_path / "home", tmp_path / "logs"
    logs.mkdir()
    file = travelling.write(home)
    alone = leobench.sweep(file, tmp_path / "alone", workers=1)
    failed = alone.failures.height
    assert 0 < failed < 24
    assert f"{home}/scenarios/turns.py" in alone.failures["error"][0]

    both.there.hide(home)
    assert both.there.run("find", home) == f"{home}\n"
    scheduler = f"tcp://{both.here.address}:8786"
    words = ("scheduler", "--host", both.here.address, "--no-dashboard", "--no-show")
    # A worker that was killed with results is not asked for them for longer than this.
    patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
    dask(both.here, *words, log=logs / "scheduler.log", **patience)
    out = tmp_path / "out"
    command = ("sweep", file, "--out", out, "--quiet", "--executor", "dask", "--scheduler", scheduler)
    run = both.here.start(sys.executable, "-m", "leobench", *command, log=logs / "campaign.log")
    said = logs / "campaign.log"
    machines.wait_until(lambda: "the cluster has no worker" in said.read_text(), "a warning")

    doomed = [worker(both.there, scheduler, logs, f"w{number}") for number in (1, 2)]
    for each, runs in zip(doomed, (3, 8), strict=True):
        machines.wait_until(lambda runs=runs: finished(out) >= runs, f"{runs} runs")  # type: ignore[misc]
        each.send_signal(signal.SIGKILL)
    assert finished(out) < 24
    worker(both.there, scheduler, logs, "w3")
    assert run.wait(timeout=120) == 1, "as on one machine: some runs failed"
    assert campaigns.contents(out) == campaigns.contents(tmp_path / "alone")
    assert both.there.run("find", home) == f"{home}\n"
    told = said.read_text().splitlines()
    assert told[0] == "leobench: warning: the cluster has no worker; runs wait until one joins"
    assert sum(line.startswith("leobench: failed: ") for line in told) == min(failed, 6)
