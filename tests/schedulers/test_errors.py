"""Stream schedulers written in Python that go wrong: what is said, and that nothing is left of the run."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import cli
from tests.schedulers import python_schedulers
from tests.schedulers.python_schedulers import SCENARIO, TURNS, files

if TYPE_CHECKING:
    from pathlib import Path

# `schedule` of a class that goes wrong after 0.5 s, and what is said about it.
BROKEN = {
    "raises": ("return 1 // 0", ["raised ZeroDivisionError: ", ", in schedule\n    return 1 // 0\n"]),
    "raises from a helper": (
        "return self.help({})",
        [
            "raised KeyError: 'depth'",
            "in schedule\n    return self.help({})\n",
            'in help\n    return table["depth"]\n',
        ],
    ),
    "raises on the way": (
        "return ((stream, 1 // 0) for stream in streams)",
        ["raised ZeroDivisionError", "in <genexpr>\n"],
    ),
    "raises in a chain": (
        "try:\n                self.help({})\n            except KeyError as error:\n"
        "                raise ValueError('no depth') from error",
        ["raised ValueError: no depth", "KeyError: 'depth'", "direct cause"],
    ),
    "exits": ("raise SystemExit('enough')", ["raised SystemExit: enough", ", in schedule\n"]),
    "ends a generator": ("raise GeneratorExit", ["raised GeneratorExit", ", in schedule\n"]),
    "exits as programs do": ("__import__('sys').exit(3)", ["raised SystemExit: 3", ", in schedule\n"]),
    "raises what ends nothing": (
        "raise type('Stop', (BaseException,), {})('now')",
        ["raised broken.Stop: now", ", in schedule\n"],
    ),
    "too many bytes of a stream": (
        "return [(streams[0], streams[0].backlog + 1)]",
        ["gave stream ", " bytes, but only ", " are waiting"],
    ),
    "too many bytes for the packet": (
        "return [(s, min(s.backlog, room + 1)) for s in sorted(streams, key=lambda s: -s.backlog)]",
        ["gave ", " bytes to a packet with room for "],
    ),
    "an unknown stream": ("return [(3, 1)]", ["chose stream 3, which does not exist; allowed: 0 to 2"]),
    "a negative stream": (
        "return [(-1, 1)]",
        ["chose -1, which is not a stream; allowed: one of the streams, "],
    ),
    "an idle stream": (
        "idle = {0, 1, 2}.difference(stream.number for stream in streams)\n"
        "            if idle:\n                return [(idle.pop(), 1)]",
        ["chose stream ", "which has no bytes waiting"],
    ),
    "no stream": ("return [('s1', 1)]", ["chose 's1', which is not a stream; allowed: one of the streams, "]),
    "nothing": ("return None", ["returned None; allowed: a list of pairs of a stream and its bytes"]),
    "an empty list": ("return []", ["chose no stream, but ", " bytes are waiting"]),
    "no bytes at all": ("return [(streams[0], 0)]", ["chose no stream, but ", " bytes are waiting"]),
    "negative bytes": ("return [(streams[0], -1)]", ["bytes; allowed: a whole number from 0", " -1 "]),
    "half a byte": ("return [(streams[0], 0.5)]", ["bytes; allowed: a whole number from 0", " 0.5 "]),
    "no pairs": ("return streams", ["returned <Stream ", "instead of a pair; allowed: a list of pairs"]),
    "triples": ("return [(streams[0], 1, 2)]", ["instead of a pair"]),
    "a list of three": ("return [[streams[0], 1, 2]]", ["instead of a pair"]),
    "a set of two": ("return [{streams[0], 1}]", ["instead of a pair"]),
    "no list": ("return 3", ["returned 3; allowed: a list of pairs"]),
    "pairs without bytes, without an end": (
        "return iter(lambda: (streams[0], 0), None)",
        ["returned 10001 pairs without bytes for one packet; allowed: pairs with bytes, or the end"],
    ),
    "pairs without an end": (
        "if streams[0].backlog > room: return __import__('itertools').repeat((streams[0], 1))",
        ["gave ", " bytes to a packet with room for "],
    ),
    "a boolean": ("return [(streams[0], True)]", [" True bytes; allowed: a whole number from 0"]),
    "a boolean as a stream": ("return [(False, 1)]", ["chose False, which is not a stream"]),
    "a length that lies": (
        "return [type('L', (), {'__len__': lambda self: 2})()]",
        ["instead of a pair"],
    ),
    "a long and colourful repr": (
        "return [type('R', (), {'__repr__': lambda self: '\\x1b[2J' * 1_000_000})()]",
        ["returned \\u{1b}[2J", "… (4000000 characters) instead of a pair"],
    ),
    "a long text": ("raise ValueError('x' * 1_000_000)", ["raised ValueError: xxx", " (1000012 characters)"]),
    "another connection": (
        "return [(self.first.setdefault('stream', streams[0]), 1)]",
        ["chose a stream of another connection"],
    ),
}

BROKEN_CLASS = """\
class Broken:
    first = {}

    def __init__(self, streams, random):
        pass

    def help(self, table):
        return table["depth"]

    def schedule(self, now, streams, room):
        if now >= START:
            BODY
        return [(streams[0], min(streams[0].backlog, room))]
"""

# The module, and what is said about it before the run.
UNUSABLE = {
    "no module": (None, ["there is no module `turns`", "a module in ", ", or one that is installed"]),
    "no class": ("class Turn:\n    def schedule(self): ...", ["has no `Turns`", "did you mean `Turn`?"]),
    "no classes": ("import leobench", ["has no `Turns`", "a class with a method `schedule`"]),
    "syntax": ("class Turns:\n    def schedule(self:", ["SyntaxError: ", "(turns.py, line 2)"]),
    "raises": ("import math\nx = math.sqrt(-1)", ["cannot be imported: ValueError: ", "(turns.py, line 2)"]),
    "exits": ("import sys\nsys.exit(0)", ["cannot be imported: SystemExit: 0", "(turns.py, line 2)"]),
    "ends a generator": ("raise GeneratorExit", ["cannot be imported: GeneratorExit", "(turns.py, line 1)"]),
    "constructor exits": (
        "import sys\nclass Turns:\n    def __init__(self, streams, random):\n        sys.exit('bye')\n"
        "    def schedule(self): ...",
        ["cannot be built: SystemExit: bye", "(turns.py, line 4)"],
    ),
    "constructor ends a generator": (
        "class Turns:\n    def __init__(self, streams, random):\n        raise GeneratorExit\n"
        "    def schedule(self): ...",
        ["cannot be built: GeneratorExit", "(turns.py, line 3)"],
    ),
    "needs another": (
        "import numpyy",
        ["cannot be imported: ModuleNotFoundError", "'numpyy'", "(turns.py, line 1)"],
    ),
    "constructor raises": (
        "class Turns:\n    def __init__(self, streams, random):\n        raise ValueError('never\\nmind')\n"
        "    def schedule(self): ...",
        ["cannot be built: ValueError: never", "(turns.py, line 3)"],
    ),
    "constructor takes nothing": (
        "class Turns:\n    def schedule(self): ...",
        [
            "cannot be built: TypeError",
            "allowed: a class that takes the number of streams, a `random.Random`",
        ],
    ),
    "abstract": (
        "import leobench\nclass Turns(leobench.StreamScheduler):\n    def scheduel(self): ...",
        ["cannot be built: TypeError", "schedule"],
    ),
    "no scheduler": ("def Turns(streams, random):\n    return 3", ["has no method `schedule`"]),
}


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    return python_schedulers.write(tmp_path)


@pytest.mark.parametrize("case", BROKEN)
def test_a_scheduler_that_goes_wrong_ends_the_run(
    case: str, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body, parts = BROKEN[case]
    start = "0" if case == "another connection" else "0.5"
    module = BROKEN_CLASS.replace("START", start).replace("BODY", body)
    (scenario.parent / "broken.py").write_text(module, encoding="utf-8")
    text = SCENARIO.replace("turns:Turns", "broken:Broken")
    if case == "another connection":
        text += text[text.index("[flows.main]") :].replace("flows.main", "flows.other")
    scenario.write_text(text, encoding="utf-8")
    assert cli.main(["check", str(scenario)]) == 0
    before = files(tmp_path)
    capsys.readouterr()
    assert cli.main(["run", str(scenario), "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    found = re.match(
        r"leobench: flow `(main|other)`: scheduler `broken:Broken` at (\d+\.\d{9}) s: ", said.err
    )
    assert found, said.err
    assert float(start) <= float(found[2]) < 0.7
    for part in parts:
        assert part in said.err
    if "raised" in parts[0]:
        assert f'File "{scenario.parent / "broken.py"}", line ' in said.err
        assert "leobench/" not in said.err.replace(str(scenario.parent), ""), "of the user's own code only"
    else:
        assert said.err.count("\n") == 1
    assert files(tmp_path) == before, "nothing is left of the run"


@pytest.mark.parametrize("case", UNUSABLE)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_class_that_cannot_be_used_is_found_before_the_run(
    case: str, command: str, scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, parts = UNUSABLE[case]
    file = scenario.parent / "turns.py"
    if module is None:
        file.unlink()
    else:
        file.write_text(module, encoding="utf-8")
    before = files(tmp_path)
    out = ["--out", str(tmp_path / "out")] if command == "run" else []
    assert cli.main([command, str(scenario), *out]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f'leobench: {scenario}: flows.main.transport.scheduler.python = "turns:Turns": ')
    assert said.count("\n") == 1
    assert "; allowed: " in said
    for part in parts:
        assert part in said
    assert files(tmp_path) == before


def test_modules_beside_the_scenario_are_not_all_there_are(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (scenario.parent / "helpers.py").write_text("", encoding="utf-8")
    name = "flows.main.transport.scheduler.python=turn:Turns"
    assert cli.main(["check", str(scenario), "--set", name]) == 2
    said = capsys.readouterr().err
    right = "`helpers`, `turns`, or one that is installed; did you mean `turns`?"
    assert said.endswith(f": there is no module `turn`; allowed: {right}\n")


@pytest.mark.parametrize("raised", ["SystemExit('bye')", "GeneratorExit", "ValueError('bye')"])
@pytest.mark.parametrize("method", ["schedule", "on_change"])
def test_whatever_a_scheduler_raises_fails_the_run_of_the_program(
    raised: str, method: str, scenario: Path, tmp_path: Path
) -> None:
    own = f"    def {method}(self, *_):\n        raise {raised}\n"
    text = TURNS.replace("def schedule", "def other") if method == "schedule" else TURNS
    (scenario.parent / "turns.py").write_text(f"{text}\n{own}", encoding="utf-8")
    command = [sys.executable, "-m", "leobench", "run", str(scenario), "--out", str(tmp_path / "out")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 1
    assert re.match(r"leobench: flow `main`: scheduler `turns:Turns` at \d+\.\d{9} s: raised ", ran.stderr)
    assert f", in {method}\n    raise {raised}\n" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("scheduler", "parts"),
    [
        ('{ python = "turns" }', ['.python = "turns": names no class', "`mymodule:MyScheduler`"]),
        ('{ python = "turns:Turns", weights = [1, 2] }', [".weights", "has 2 weights, for 3 streams"]),
        ('{ python = "turns:Turns", weights = [1] }', [".weights", "has 1 weight, for 3 streams"]),
        ('{ python = "turns:Turns", weights = [1, 0, 2] }', [".weights[1] = 0", "above 0"]),
        ('{ python = "turns:Turns", weights = [1, -1, 2] }', [".weights[1] = -1", "above 0"]),
        ('{ python = "turns:Turns", parameters = 3 }', [".parameters = 3: is an integer, not a table"]),
        ('{ python = "turns:Turns", parameters = { pace = 3 } }', ["TypeError", "'pace'"]),
        ('{ python = "turns:Turns", weight = 3 }', [".weight = 3: unknown key", "did you mean `weights`?"]),
        ('{ pyton = "turns:Turns" }', [".kind: is required but missing; allowed: `rr`", "`python`"]),
        ('"python"', [".python: is required but missing"]),
    ],
)
def test_what_a_scenario_may_say_of_it(
    scheduler: str, parts: list[str], scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SCENARIO.replace('{ python = "turns:Turns" }', scheduler)
    scenario.write_text(text, encoding="utf-8")
    assert cli.main(["check", str(scenario)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    for part in parts:
        assert part in said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_in_a_scheduler_ends_the_program(
    number: signal.Signals, code: int, scenario: Path, tmp_path: Path
) -> None:
    endless = TURNS.replace("shares = []", "shares = []\n        while now > 0.5: print(end='.', flush=True)")
    (scenario.parent / "turns.py").write_text(endless, encoding="utf-8")
    command = [sys.executable, "-m", "leobench", "run", str(scenario), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.read(1) == b"."
        running.send_signal(number)
        _, printed = running.communicate(timeout=30)
    assert running.returncode == code
    assert printed.decode() == "leobench: interrupted; nothing was written\n"
    assert files(tmp_path) == {scenario.parent, *files(scenario.parent)}


def test_an_interrupt_comes_out_of_the_library_as_itself(scenario: Path) -> None:
    (scenario.parent / "turns.py").write_text(
        TURNS.replace("shares = []", "raise KeyboardInterrupt"), encoding="utf-8"
    )
    with pytest.raises(KeyboardInterrupt):
        leobench.run(scenario)
    (scenario.parent / "turns.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        leobench.check(scenario)
    # Nothing of it is left for the next.
    with pytest.raises(leobench.ScenarioError, match="unknown key"):
        leobench.check(scenario, {"links.uplink.dealy": "3 ms"})
