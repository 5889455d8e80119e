"""Campaigns whose processes are killed: nothing is lost, nobody stays behind, the bytes are the same."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench.campaign import processes
from tests.support import campaigns
from tests.support.programs import children_of, start
from tests.support.programs import leobench as finish

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from leobench.campaign import Status

genuine_work = processes._work
pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="finds worker processes in /proc"
)


def longer(folder: Path) -> Path:
    """A campaign that takes a second or two, for kills to fall into: sixty runs."""
    text = campaigns.CAMPAIGN.replace("replicates = 3", "replicates = 15")
    return campaigns.write(
        folder, campaign=text.replace("[[grid]]", '[set]\n"duration" = "20 s"\n\n[[grid]]', 1)
    )


def workers(parent: int) -> list[int]:
    """The worker processes of a campaign's process."""
    found = []
    for child in children_of(parent):
        with suppress(FileNotFoundError, ProcessLookupError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(child)
    return found


def finished(folder: Path) -> int:
    """Runs that are finished."""
    return len(list((folder / "runs").glob("*.json")))


def sweep(file: Path, out: str, *args: str) -> subprocess.Popen[str]:
    return start("sweep", file, "--out", out, "--workers", 2, "--quiet", *args, cwd=file.parent)


def wait_for(runs: int, folder: Path, process: subprocess.Popen[str]) -> list[int]:
    """Waits until that many runs are finished; the workers then."""
    while finished(folder) < runs:
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)
    return workers(process.pid)


def gone(pids: list[int]) -> bool:
    """Whether these processes end within half a minute."""
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("uninterrupted")
    leobench.sweep(longer(folder), folder / "out", workers=1)
    return campaigns.contents(folder / "out")


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda how: how.name
)
def test_a_killed_campaign_continues_and_leaves_no_process_behind(
    how: signal.Signals, tmp_path: Path, uninterrupted: dict[str, bytes]
) -> None:
    file, out = longer(tmp_path), tmp_path / "out"
    process = sweep(file, "out")
    children = wait_for(3, out, process)
    assert children
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-9 if how == signal.SIGKILL else 128 + how)
    assert gone(children)
    kept = finished(out)
    assert 3 <= kept < 60
    if how != signal.SIGKILL:
        assert said == f"leobench: interrupted; {kept} of 60 runs are kept in out/; continue with --resume\n"
    resumed = finish("sweep", file, "--out", "out", "--workers", 2, "--quiet", "--resume", cwd=tmp_path)
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert campaigns.contents(out) == uninterrupted
    assert json.loads((out / "manifest.json").read_text())["sessions"][-1]["runs"] == 60 - kept


def test_ctrl_c_on_a_terminal_reaches_workers_too_and_says_one_line(tmp_path: Path) -> None:
    """Pressed as soon as there is a worker, which is still being started then."""
    process = start("sweep", longer(tmp_path), "--out", "out", "--workers", 2, cwd=tmp_path, own_group=True)
    while not workers(process.pid):
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.startswith("leobench: interrupted; ")
    assert said.count("\n") == 1


def test_a_killed_worker_is_replaced(tmp_path: Path, uninterrupted: dict[str, bytes]) -> None:
    file, out = longer(tmp_path), tmp_path / "out"
    process = sweep(file, "out")
    os.kill(wait_for(3, out, process)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, "")
    assert campaigns.contents(out) == uninterrupted


def answer_half_once(connection: Connection) -> None:
    """A worker that is killed in the middle of its answer, if it is the first to answer at all."""
    try:
        Path(os.environ["ANSWERED"]).touch(exist_ok=False)
    except FileExistsError:
        genuine_work(connection)
        return
    # An answer begins with its length in bytes.
    os.write(connection.fileno(), struct.pack("!i", 1_000_000) + b"half of it")
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_killed_in_the_middle_of_its_answer_is_replaced(
    tmp_path: Path, uninterrupted: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANSWERED", str(tmp_path / "answered"))
    monkeypatch.setattr(processes, "_work", answer_half_once)
    signal.alarm(60)
    leobench.sweep(longer(tmp_path), tmp_path / "out", workers=2)
    signal.alarm(0)
    assert (tmp_path / "answered").exists()
    assert campaigns.contents(tmp_path / "out") == uninterrupted


def test_workers_that_are_killed_again_and_again_end_the_campaign(
    tmp_path: Path, uninterrupted: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = longer(tmp_path), tmp_path / "out"

    def kill(status: Status) -> None:
        # Soon: the workers do not wait until what they have done is written.
        if status.done == 1:
            os.kill(workers(os.getpid())[0], signal.SIGKILL)

    monkeypatch.setattr(processes, "REPLACEMENTS", 0)
    message = "variant .*: worker processes were killed 1 times, .*; finished runs are kept: continue with"
    with pytest.raises(leobench.RunError, match=message):
        leobench.sweep(file, out, workers=2, progress=kill)
    assert 1 <= finished(out) < 60
    leobench.sweep(file, out, workers=2, resume=True)
    assert campaigns.contents(out) == uninterrupted


@pytest.mark.slow
def test_twenty_kills_at_random_moments(tmp_path: Path, uninterrupted: dict[str, bytes]) -> None:
    """Parent or a worker, killed before the first run is finished or anywhere after, then resumed."""
    file = longer(tmp_path)
    rng = random.Random(1)  # noqa: S311
    struck = []
    for attempt in range(20):
        out = tmp_path / f"run-{attempt}"
        process = sweep(file, out.name)
        if attempt >= 4:
            wait_for(rng.randrange(55), out, process)
        time.sleep(rng.uniform(0, 0.5 if attempt < 4 else 0.03))
        children = workers(process.pid)
        struck.append(finished(out))
        if attempt % 2 and children:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(children), signal.SIGKILL)
        else:
            process.send_signal(rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
        process.communicate(timeout=60)
        assert gone(children)
        resumed = finish("sweep", file, "--out", out, "--quiet", "--resume", cwd=tmp_path)
        assert resumed.returncode == 0, resumed.stderr
        assert campaigns.contents(out) == uninterrupted, attempt
    assert sum(0 < runs < 60 for runs in struck) >= 12, "kills fell between the first run and the last"


def test_a_program_without_a_guard_is_told_about_it(tmp_path: Path) -> None:
    file = campaigns.write(tmp_path)
    script = tmp_path / "script.py"
    call = f"leobench.sweep({str(file)!r}, 'out', workers=2)\n"

    def run(text: str, *args: object) -> subprocess.CompletedProcess[str]:
        text = f"import leobench\n{text}"
        script.write_text(text)
        return subprocess.run(
            [sys.executable, *map(str, args)],
            cwd=tmp_path, input=text, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    messages = {
        script: "every worker process imports the calling program again: put the call below "
        '`if __name__ == "__main__":`, or give workers=1',
        "-": "workers: a program read from standard input cannot have worker processes: each imports it; "
        "give workers=1, or write the program to a file",
    }
    for arg, message in messages.items():
        ran = run(call, arg)
        assert ran.returncode == 1
        assert ran.stderr.count("Traceback") == 1, "that of the program, and none of a worker"
        assert ran.stderr.splitlines()[-1] == f"leobench.errors.InputError: {message}"
        assert run(call.replace("workers=2", "workers=1, force=True"), arg).stderr == ""
        shutil.rmtree(tmp_path / "out")
    mended = run(f'if __name__ == "__main__":\n    {call}', script)
    assert (mended.returncode, mended.stderr) == (0, "")


EXITING = """\
import os

class Exiting:
    def __init__(self, streams, random):
        pass

    def schedule(self, now, streams, room):
        os._exit(9)
"""


def test_a_scheduler_that_exits_is_blamed_with_its_run(tmp_path: Path) -> None:
    quic = 'transport = { kind = "quic", scheduler = { python = "exiting:Exiting" } }\nstreams = 2'
    file = campaigns.write(tmp_path)
    scenario = tmp_path / "udp.toml"
    scenario.write_text(scenario.read_text().replace('transport = "udp"', quic))
    (tmp_path / "exiting.py").write_text(EXITING)
    ended = finish("sweep", file, "--out", "out", "--workers", 2, "--quiet", cwd=tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert re.match(
        r"leobench: variant \S+, replicate 1: its worker process ended by itself with exit code 9; "
        r".*; finished runs are kept",
        ended.stderr,
    )
    assert "__main__" not in ended.stderr
