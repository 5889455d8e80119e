"""Scenarios that would take more than a machine has: refused or ended with one line, and never
deaf to Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

# Address space of the command: the interpreter with its libraries takes a good part of it.
MEMORY_KIB = 3_000_000
SMALL = ("--set", "limits.memory=200 MB")
TINY_MESSAGES = '{ kind = "cbr", rate = "9000 Gbps", size = "1 B" }'
LONG_SLOT = '{ kind = "poisson_batch", rate = "5 Mbps", size = "1000 B", slot = "100000 h" }'
NO_MESSAGES = ("--set", "record.messages=false")


def _command(folder: Path, source: str, *options: str) -> list[str]:
    scenario = folder / "greedy.toml"
    scenario.write_text(QUICK, encoding="utf-8")
    run = [
        "run",
        str(scenario),
        "--out",
        str(folder / "out"),
        "--quiet",
        "--set",
        f"flows.main.source={source}",
    ]
    return [sys.executable, "-m", "leobench", *run, *options]


@pytest.mark.parametrize(
    ("source", "options", "code", "parts"),
    [
        (
            TINY_MESSAGES,
            (),
            2,
            ["flows.main.source", "2.3e12 messages", "`limits.tables`, 50 GB", "record.messages"],
        ),
        (LONG_SLOT, (), 2, ["flows.main.source", "2.2e11 messages at once", "`limits.memory`, 4 GB", "slot"]),
        (
            TINY_MESSAGES,
            NO_MESSAGES + SMALL,
            1,
            ["messages of flow `main`", "`limits.memory`, 200 MB", "blocking"],
        ),
    ],
    ids=["rows", "a slot", "a backlog"],
)
def test_what_does_not_fit_is_said_in_one_line(
    source: str, options: tuple[str, ...], code: int, parts: list[str], tmp_path: Path
) -> None:
    limited = ["sh", "-c", f'ulimit -v {MEMORY_KIB}; exec "$@"', "sh", *_command(tmp_path, source, *options)]
    ran = subprocess.run(limited, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == code, ran.stderr
    assert ran.stderr.count("\n") == 1, "one line, no traceback"
    for part in (*parts, "allowed: "):
        assert part in ran.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"greedy.toml"}, "nothing is left behind"


@pytest.mark.parametrize("source", [TINY_MESSAGES, LONG_SLOT], ids=["a rate", "a slot"])
def test_ctrl_c_is_heard_while_messages_pile_up(source: str, tmp_path: Path) -> None:
    """With limits raised for those who have the memory, the run goes on until it is told to stop."""
    roomy = ("--set", "limits.memory=200000 GB", *NO_MESSAGES)
    process = subprocess.Popen(_command(tmp_path, source, *roomy), stderr=subprocess.PIPE, text=True)
    try:
        limit = time.monotonic() + 60
        while not list(tmp_path.glob(".*out*/*.parquet")):
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.05)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        process.wait(timeout=30)
        took = time.monotonic() - asked
    finally:
        process.kill()
        process.communicate()
    assert process.returncode in {130, -signal.SIGINT}
    # Some milliseconds, and what the machine takes for others; all messages of the slot take minutes.
    assert took < 5, f"{took:.2f} s"
    assert {path.name for path in tmp_path.iterdir()} == {"greedy.toml"}, "nothing is left behind"
