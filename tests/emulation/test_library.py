"""Programs on hosts, from Python."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"

# A script of its own: what programs print goes where it prints.
SCRIPT = """\
import sys
import leobench

patient = {"real.lateness": "10 s", "real.stall": "10 s", "real.busy": 1, "real.waited": 1}
server = "import socket; s = socket.socket(); s.bind(('', 5000)); s.listen(); s.accept()[0].send(b'hello')"
client = '''
import socket, time
for attempt in range(100):
    try:
        print(socket.create_connection(("server", 5000)).recv(5).decode())
        raise SystemExit(3)
    except OSError:
        time.sleep(0.1)
'''
done = leobench.emulate(
    sys.argv[1],
    [("server", [sys.executable, "-c", server]), ("", [sys.executable, "-c", client])],
    seed=7,
    overrides=patient,
    out="out",
)
print(done.code, [each.code for each in done.exits], done.valid, done.reasons)
print(done.summary.seed, done.summary.engine, done.result.summary == done.summary)
print(done.summary.links["path/server->client"].delivered_packets > 2, len(done.result.tables.queues) > 0)
"""


@pytest.mark.usefixtures("hosts")
def test_programs_run_and_their_outcome_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(ONE_FLOW)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.stdout.splitlines() == [
        "hello", "3 [0, 3] True []", "7 real True", "True True",
    ], done.stderr  # fmt: skip
    assert (tmp_path / "out" / "summary.json").is_file()


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ([], 'programs: is empty; allowed: pairs such as ("client", "ping -c 3 server")'),
        (["ping"], "programs[0]: 'ping' is not a pair; allowed: a host and a command"),
        ([("client", "true"), ("client", "")], "programs[1]: the command is empty; allowed: a program"),
        ([("client", "echo 'a")], 'programs[0]: the command "echo \'a" cannot be read: No closing quotation'),
        ([("client", 7)], "programs[0]: the command 7 cannot be read: "),
        ([("client", [])], "programs[0]: the command is empty"),
        ([("cleint", "true")], "cleint: is not a host of the scenario; allowed: `client`, `server`"),
        ([("client", "no-such-program")], "no-such-program: no such program; install it"),
    ],
)
def test_what_is_no_program_on_a_host_is_refused(programs: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(leobench.InputError) as refused:
        leobench.emulate(ONE_FLOW, programs)
    assert str(refused.value).startswith(said)
