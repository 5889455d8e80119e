"""Programs that do not get to run although they could: no such run may pass for valid."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leobench.errors import INVALID_RUN
from tests.support.programs import leobench

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.usefixtures("hosts"), pytest.mark.alone]

SCENARIO = """\
name = "fast"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "1 Gbps"
delay = "1 ms"
queue = { kind = "fifo", limit = "1000 packets" }
"""
OWN = shlex.join([sys.executable, str(Path(__file__).with_name("host_programs.py"))])
POUR = f"{OWN} pour server 2"
LOOPS = 'loops=; for each in 1 2 3 4 5 6; do (while :; do :; done) & loops="$loops $!"; done'
# The first processor that the programs may use, for all of them.
PINNED = "import os, sys; os.sched_setaffinity(int(sys.argv[1]), {min(os.sched_getaffinity(0))})"
PIN = shlex.join([sys.executable, "-c", PINNED]) + " $$"


def verdict(tmp_path: Path, command: str, *options: str) -> dict[str, Any]:
    """The manifest of a transfer over 1 Gbit/s that a shell starts."""
    (tmp_path / "fast.toml").write_text(SCENARIO, encoding="utf-8")
    server = ("--on", "server", f"{OWN} drain -")
    programs = (*server, "--host", "client", "--", "sh", "-c", command)
    # Neither the driver nor the mean of the processors is judged here.
    patient = ("--stall", "10000", "--busy", "1", "--out", "out", *options)
    ended = leobench("emulate", "fast.toml", *patient, *programs, cwd=tmp_path)
    manifest: dict[str, Any] = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    is_invalid = manifest["validity"]["verdict"] == "invalid"
    assert ended.returncode == (manifest["exit_code"] or (INVALID_RUN if is_invalid else 0))
    for warning in manifest["validity"]["warnings"]:
        assert warning in ended.stderr
    return manifest


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group that may use a hundredth of a processor."""
    legacy, unified = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    folder = (legacy if legacy.is_dir() else unified) / f"leobench-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control groups can be made here: {error}")
    try:
        if legacy.is_dir():
            (folder / "cpu.cfs_period_us").write_text("100000", "ascii")
            (folder / "cpu.cfs_quota_us").write_text("1000", "ascii")
        else:
            (folder / "cpu.max").write_text("1000 100000", "ascii")
        yield folder / "cgroup.procs"
    except OSError as error:
        pytest.skip(f"control groups have no quotas here: {error}")
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def seconds(manifest: dict[str, Any]) -> float:
    """How many seconds of a run do not count."""
    return sum((end - begin for begin, end in manifest["clock"]["invalid_s"]), 0.0)


@pytest.mark.parametrize(
    "command",
    [
        # A mean over the run would be below any limit.
        pytest.param(f"{LOOPS}; {POUR}; kill $loops; sleep 4", id="loops with a quiet tail"),
        pytest.param(
            f"for each in 1 2 3 4 5 6; do {OWN} pulse 3 & done; {POUR}; sleep 2", id="pulses of 60 %"
        ),
        pytest.param(f"{PIN}; {LOOPS}; {POUR}; kill $loops; sleep 4", id="pinned beside loops"),
    ],
)
def test_programs_that_wait_for_a_processor(command: str, tmp_path: Path) -> None:
    manifest = verdict(tmp_path, command)
    assert manifest["validity"]["verdict"] == "invalid"
    assert any("programs waited for a processor in" in each for each in manifest["validity"]["warnings"])
    # Of the two seconds of the transfer, and of what the loops take to start beside it.
    assert 1 < seconds(manifest) < manifest["clock"]["elapsed_s"] - 0.5
    assert manifest["clock"]["programs_waited"] > 0.5


def test_programs_that_a_quota_holds_back(group: Path, tmp_path: Path) -> None:
    manifest = verdict(tmp_path, f"echo $$ > {shlex.quote(str(group))}; {POUR}")
    assert manifest["validity"]["verdict"] == "invalid"
    wanted = "the quota of a control group held programs back in"
    assert any(wanted in each and group.parent.name in each for each in manifest["validity"]["warnings"])
    assert seconds(manifest) > 1


def test_programs_that_are_stopped(tmp_path: Path) -> None:
    command = f"{POUR} & sleep 1; kill -STOP $!; sleep 1; kill -CONT $!; wait"
    manifest = verdict(tmp_path, command, "--waited", "0.99")
    assert manifest["validity"]["verdict"] == "invalid"
    assert any("programs were stopped in 1." in each for each in manifest["validity"]["warnings"])
    assert seconds(manifest) > 0.8


def test_what_is_allowed_is_up_to_the_user(tmp_path: Path) -> None:
    manifest = verdict(tmp_path, f"{LOOPS}; {POUR}; kill $loops", "--waited", "1", "--lateness", "10000")
    assert manifest["validity"] == {"verdict": "valid", "warnings": []}
    assert manifest["clock"]["programs_waited"] > 0.5
    assert manifest["clock"]["budget"]["waited"] == 1


def test_datagrams_that_sockets_have_no_room_for_are_told_by_socket(tmp_path: Path) -> None:
    """One that stays open is named; what one lost that is closed before it could be asked is not."""
    ready = shlex.quote(str(tmp_path / "ready"))
    (tmp_path / "fast.toml").write_text(SCENARIO, encoding="utf-8")
    patient = ("--lateness", "10000", "--stall", "10000", "--busy", "1", "--waited", "1", "--out", "out")
    programs = ("--on", "server", f"{OWN} deaf {ready}", "--on", "client", f"{OWN} volley server {ready}")
    ended = leobench("emulate", "fast.toml", *patient, *programs, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    (overrun,) = manifest["clock"]["socket_overruns_by"]
    lost = overrun.pop("datagrams")
    assert lost == manifest["clock"]["socket_overruns"] > 300
    name = Path(sys.executable).resolve().name[:15]
    assert overrun.pop("program") in {name, Path(sys.executable).name[:15]}
    assert overrun == {"host": "server", "address": "0.0.0.0:7000"}
    # They are the host's: a warning, and the numbers stay valid.
    assert manifest["validity"]["verdict"] == "warnings"
    (warning,) = manifest["validity"]["warnings"]
    assert warning.startswith("server: the socket of `python")
    assert f"had no room for {lost} datagrams" in warning
    assert f"leobench: warning: {warning}" in ended.stderr
