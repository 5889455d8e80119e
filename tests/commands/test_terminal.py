"""Output to closed or limited streams, and escaping of control characters for terminals."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli
from leobench.cli import terminal
from tests.support import campaigns
from tests.support.paths import ROOT
from tests.support.programs import LEOBENCH
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from pathlib import Path

ESCAPE = "\x1b]0;owned\x07"


def program(
    *args: str | bytes | Path, cwd: Path, redirect: str = "", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """A command line run by a shell, which redirects as it is told."""
    return subprocess.run(
        ["/bin/sh", "-c", f'"$@" {redirect}', "sh", *LEOBENCH, *args],
        cwd=cwd, env=os.environ | environment, capture_output=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, a campaign and a result."""
    folder = tmp_path_factory.mktemp("terminal")
    campaigns.write(folder)
    (folder / "quick.toml").write_text(QUICK)
    leobench.run(folder / "quick.toml", out=folder / "done")
    return folder


COMMANDS = {
    "--help": ["--help"],
    "--version": ["--version"],
    "list": ["list"],
    "list --json": ["list", "--json"],
    "list channels lms": ["list", "channels", "lms"],
    "schema": ["schema"],
    "check": ["check", "quick.toml"],
    "run": ["run", "quick.toml", "--force"],
    "plot": ["plot", "done"],
    "sweep": ["sweep", "tiny.toml", "--workers", "1", "--force"],
    "reproduce --list": ["reproduce", "--list"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_closed_standard_output_is_an_error_in_one_line(command: str, folder: Path) -> None:
    ran = program(*COMMANDS[command], cwd=folder, redirect=">&-")
    (line,) = [line for line in ran.stderr.decode().splitlines() if "warning" not in line]
    assert line == "leobench: output cannot be written: Bad file descriptor"
    assert ran.returncode == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_whoever_has_read_enough_may_go(command: str, folder: Path) -> None:
    ran = program(*COMMANDS[command], cwd=folder, redirect="| head -0")
    assert b"Traceback" not in ran.stderr
    assert b"BrokenPipe" not in ran.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_an_ascii_terminal_gets_ascii(command: str, folder: Path) -> None:
    for environment in (
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ):
        ran = program(*COMMANDS[command], cwd=folder, **environment)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.isascii()
        if "--json" in command or command == "schema":
            plain = program(*COMMANDS[command], cwd=folder, PYTHONIOENCODING="utf-8")
            assert json.loads(ran.stdout) == json.loads(plain.stdout)


@pytest.mark.parametrize("redirect", ["2>&-", "0<&-", "0<&- >&- 2>&-"])
def test_no_file_is_taken_for_a_closed_stream(redirect: str, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    program("run", "quick.toml", "--qlog", "--pcap", "--out", out, cwd=folder, redirect=redirect)
    assert leobench.open(out).tables == leobench.open(folder / "done").tables


@pytest.mark.parametrize(
    "args",
    [
        ["list", b"o\xff"],
        ["list", "channels", b"o\xff"],
        ["check", "quick.toml", "--set", b"name=o\xff"],
        ["run", "quick.toml", "--set", b"o\xff=1"],
        ["run", "quick.toml", "--seed", b"\xff"],
        ["run", "quick.toml", "--out", b"o\xff"],
        ["run", b"o\xff.toml"],
        ["check", b"o\xff.toml"],
        ["sweep", b"o\xff.toml"],
        ["sweep", "tiny.toml", "--out", b"o\xff"],
        ["plot", b"o\xff"],
        ["plot", "done", "--flow", b"o\xff"],
        ["plot", "done", "--kind", b"o\xff"],
        ["reproduce", b"o\xff"],
        ["reproduce", "khan2023es/fig3", "--quick", "--workers", b"\xff"],
    ],
    ids=str,
)
def test_bytes_that_are_no_text_are_refused_in_one_line(args: list[str | bytes], folder: Path) -> None:
    before = set(folder.iterdir())
    ran = program(*args, cwd=folder)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith(b"leobench: ")
    assert b"Traceback" not in ran.stderr
    assert set(folder.iterdir()) == before


def test_text_is_text_in_any_locale(folder: Path) -> None:
    c = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    ran = program("check", "quick.toml", "--set", "description=é", "--json", cwd=folder, **c)
    assert json.loads(ran.stdout)["description"] == "é"


def test_the_library_refuses_what_is_no_text(quick: Path) -> None:
    with pytest.raises(leobench.InputError, match=r"name = .*: is not text"):
        leobench.check(quick, {"name": "\udcff"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("60° µs é 漢", "60° µs é 漢"),
        ("a\n\tb", "a\n\tb"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b31m", "\\x9b31m"),  # what begins a sequence in a single character
        ("\x7f\r\b", "\\x7f\\r\\x08"),
        ("\u202egnp", "\\u202egnp"),  # turns round what follows
        ("\udcff", "\\udcff"),
    ],
)
def test_what_controls_a_terminal_is_shown_escaped(text: str, shown: str) -> None:
    assert terminal.shown(text) == shown


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"\x1b": ["\x7f", "\x9b", "\u202e", "\udcff", "é"]}
    with terminal.escaping():
        terminal.print_json(value)
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == value


SCHEDULER = """\
class Evil:
    def __init__(self, streams, random):
        pass

    def schedule(self, now, streams, room):
        raise RuntimeError("\\x1b]0;owned\\x07")
"""


def hostile(folder: Path) -> list[list[str]]:
    """Command lines that print names and texts of others."""
    (folder / f"a{ESCAPE}.toml").write_text(QUICK.replace('rate = "10 Mbps"', ""))
    evil = QUICK.replace('"quick"', '"q\\u001B]0;owned\\u0007"')
    (folder / "name.toml").write_text(evil)
    (folder / "evil.py").write_text(SCHEDULER)
    scheduled = QUICK.replace('congestion = "cubic" }', 'scheduler = { python = "evil:Evil" } }\nstreams = 2')
    (folder / "scheduled.toml").write_text(scheduled)
    key = QUICK.replace("[nodes.server]", '[nodes.server]\n[nodes."\\u001B]0;owned\\u0007\\n"]\nx = 1')
    (folder / "key.toml").write_text(key)
    node = QUICK.replace('to = "server"', 'to = "\\u001B]0;owned\\u0007\\n"')
    (folder / "node.toml").write_text(node)
    class_name = scheduled.replace("evil:Evil", "evil:\\u001B]0;owned\\u0007")
    (folder / "class.toml").write_text(class_name)
    return [
        ["check", f"a{ESCAPE}.toml"],
        ["check", "name.toml"],
        ["check", "name.toml", "--json"],
        ["check", "key.toml"],
        ["check", "node.toml"],
        ["run", "name.toml", "--out", "name"],
        ["run", "scheduled.toml", "--out", "scheduled"],
        ["run", "class.toml", "--out", "class"],
        ["run", "name.toml", "--out", f"out{ESCAPE}"],
        ["list", f"{ESCAPE}\n"],
        ["plot", ESCAPE],
        ["sweep", ESCAPE],
        ["reproduce", ESCAPE],
        [f"{ESCAPE}"],
        ["run", "name.toml", f"--{ESCAPE}"],
        ["sweep", "x.toml", "--workers", ESCAPE],
        ["check", "name.toml", "--set", ESCAPE],
    ]


def test_names_and_texts_of_others_reach_no_terminal_raw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for args in hostile(tmp_path):
        try:
            code = cli.main(args)
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        said = capsys.readouterr()
        assert terminal.shown(said.out + said.err) == said.out + said.err, args
        assert "owned" in said.out + said.err, args
        if code == 2:
            assert said.err.count("\n") == 1, args


def test_nothing_escapes_the_escaping() -> None:
    """All output goes through `print` or `terminal.draw`, whose text `main` passes through `shown`."""
    for file in (ROOT / "python" / "leobench" / "cli").glob("*.py"):
        if file.name != "terminal.py":
            text = file.read_text(encoding="utf-8")
            assert "stdout.write" not in text
            assert "stderr.write" not in text
            assert "json.dumps" not in text
