from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leobench import cli
from tests.support.programs import LEOBENCH, start

if TYPE_CHECKING:
    Capture = pytest.CaptureFixture[str]

TABLES = {
    "messages",
    "transport",
    "streams",
    "queues",
    "channel",
    "paths",
    "events",
    "packets",
    "opportunities",
    "routes",
    "handovers",
    "losses",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


INTERRUPTED = "leobench: interrupted; nothing was written\n"


def test_a_run_writes_a_whole_folder_and_says_where(tmp_path: Path, quick: Path, capsys: Capture) -> None:
    assert cli.main(["run", str(quick), "--seed", "3"]) == 0
    said = capsys.readouterr()
    assert "Results in results/quick-3/" in said.out
    assert "main" in said.out
    assert "uplink/client->server" in said.out
    assert said.err == "", "no bar where there is no terminal"
    folder = tmp_path / "results" / "quick-3"
    assert {file.name for file in folder.iterdir()} == {
        "manifest.json",
        "summary.json",
        *(f"{name}.parquet" for name in TABLES),
    }
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["seed"] == manifest["scenario"]["seed"] == 3
    assert manifest["engine"] == "virtual"
    assert manifest["validity"] == {"verdict": "valid", "warnings": []}
    assert manifest["wall_s"] > 0


def test_values_can_be_set_from_the_command_line(tmp_path: Path, quick: Path, capsys: Capture) -> None:
    run = ["run", str(quick), "--json", "--set", "links.uplink.queue.limit=3 packets"]
    assert cli.main([*run, "--set", "flows.main.transport.congestion=newreno"]) == 0
    said = json.loads(capsys.readouterr().out)
    (flow,) = said["summary"]["flows"]
    assert flow["congestion"] == "newreno"
    manifest = json.loads((tmp_path / "results/quick-1/manifest.json").read_text())
    assert manifest["scenario"]["links"]["uplink"]["queue"] == {"kind": "fifo", "limit": "3 packets"}
    assert said["out"] == "results/quick-1"
    assert said["summary"] == json.loads((tmp_path / "results/quick-1/summary.json").read_text())


def test_a_folder_that_exists_is_refused_before_the_run(tmp_path: Path, quick: Path, capsys: Capture) -> None:
    run = ["run", str(quick), "--out", "out", "--quiet"]
    assert cli.main(run) == 0
    written = (tmp_path / "out" / "manifest.json").stat().st_mtime_ns
    assert cli.main([*run, "--set", "duration=1 h"]) == 2
    assert "out: exists already" in capsys.readouterr().err
    assert (tmp_path / "out" / "manifest.json").stat().st_mtime_ns == written
    assert cli.main([*run, "--force"]) == 0
    assert (tmp_path / "out" / "manifest.json").stat().st_mtime_ns > written
    assert capsys.readouterr().out == ""


def test_qlogs_are_written_on_request(tmp_path: Path, quick: Path) -> None:
    assert cli.main(["run", str(quick), "--qlog", "--out", "out", "--quiet"]) == 0
    logs = sorted((tmp_path / "out" / "qlog").iterdir())
    assert len(logs) == 2, "one for each end of the connection"
    for log in logs:
        assert b"packet_sent" in log.read_bytes()


def test_a_qlog_of_no_quic_flow_is_said_to_be_none(tmp_path: Path, quick: Path, capsys: Capture) -> None:
    over_tcp = ["--set", 'flows.main.transport="tcp"']
    assert cli.main(["run", str(quick), "--qlog", "--out", "out", "--quiet", *over_tcp]) == 0
    said = "leobench: warning: --qlog: only QUIC flows write a qlog, and the scenario has none\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / "out" / "qlog").exists()


def test_a_run_cut_short_is_marked(tmp_path: Path, quick: Path, capsys: Capture) -> None:
    overload = ["--set", "flows.main.source.rate=20 Mbps", "--set", 'until="time"']
    assert cli.main(["run", str(quick), "--quiet", *overload]) == 0
    assert "warning: flow main: " in capsys.readouterr().err
    manifest = json.loads((tmp_path / "results/quick-1/manifest.json").read_text())
    assert manifest["validity"]["verdict"] == "warnings"


def test_check_goes_through_all_and_says_which_is_wrong(quick: Path, tmp_path: Path, capsys: Capture) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(quick.read_text().replace('"10 Mbps"', '"10 Mb"'))
    assert cli.main(["check", str(wrong), str(quick)]) == 2
    said = capsys.readouterr()
    assert said.out == f"{quick}: ok: quick, 2 s, 2 nodes, 1 link, 1 flow\n"
    assert said.err.startswith(f'leobench: {wrong}: links.uplink.rate = "10 Mb": has an unknown unit "Mb"')
    assert "did you mean `10 Mbps`" in said.err
    assert cli.main(["check", "--json", str(quick)]) == 0
    assert json.loads(capsys.readouterr().out)["flows"]["main"]["background"] is False
    assert cli.main(["check", "--json", str(quick), str(quick)]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == ["quick", "quick"]
    assert cli.main(["check", "--json", str(wrong), str(quick)]) == 2
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == ["quick"]
    assert cli.main(["check", "--json", str(wrong)]) == 2
    assert capsys.readouterr().out == ""


def test_everything_can_be_listed(capsys: Capture) -> None:
    assert cli.main(["list"]) == 0
    everything = capsys.readouterr().out
    for name in (
        "channels:",
        "lms",
        "on_off",
        "presets:",
        "ka",
        "fifo",
        "gilbert_elliott",
        "gilbert_elliott_time",
        "cubic",
        "rr",
        "poisson",
    ):
        assert name in everything
    assert cli.main(["list", "congestion", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)["congestion"]) >= {"cubic", "newreno"}
    assert cli.main(["list", "chanels"]) == 2
    assert "did you mean `channels`" in capsys.readouterr().err


def test_what_is_not_modelled_is_listed_with_the_reason(capsys: Capture) -> None:
    assert cli.main(["list", "congestion"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("tcpwave   (is not modelled: ")
    assert cli.main(["list", "congestion", "tcpwave"]) == 2
    assert "leobench: congestion tcpwave: is not modelled: " in capsys.readouterr().err
    assert cli.main(["list", "congestion", "--json"]) == 0
    assert "tcpwave" not in json.loads(capsys.readouterr().out)["congestion"]


def test_the_parameters_of_everything_can_be_seen(capsys: Capture) -> None:
    assert cli.main(["list", "channels", "on_off"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("on_off: A constant rate with random interruptions")
    assert (
        "\nrate (required)\n    Rate while the channel is on.\n    Allowed: a rate with its unit (bps, "
        in said
    )
    assert '\noutage (default: "hold")\n' in said
    assert "Allowed: `hold` or `drop`." in said
    assert said.endswith(
        '\nExample: channel = { kind = "on_off", rate = "80 Mbps", on = "5 s", off = "500 ms" }\n'
    )
    assert cli.main(["list", "channels", "reconfiguration"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert 'such as "10 ms"; or a table whose `kind` is `fixed` (`value`), `uniform` (`from`, `to`),' in said
    assert cli.main(["list", "congestion", "cubic"]) == 0
    assert capsys.readouterr().out.endswith('\nExample: congestion = "cubic"\n')
    assert cli.main(["list", "channels", "lms"]) == 0
    assert "Allowed: an array of 3, each an array of 3, each a number from 0 to 1." in capsys.readouterr().out
    assert cli.main(["list", "transports", "quic", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    parameters = {each["name"]: each for each in described["parameters"]}
    assert parameters["initial_rtt"]["default"] == "333 ms"
    assert parameters["pacing"]["type"] == "true or false"
    assert not any(each["required"] for each in parameters.values())
    assert cli.main(["list", "channels", "lsm"]) == 2
    assert "did you mean `lms`" in capsys.readouterr().err
    assert cli.main(["list", "queue", "fifo"]) == 2
    assert "did you mean `queues`" in capsys.readouterr().err
    assert cli.main(["list", "--json"]) == 0
    for kind, names in json.loads(capsys.readouterr().out).items():
        for name, summary in names.items():
            assert cli.main(["list", kind, name]) == 0
            said = capsys.readouterr().out
            assert " ".join(said.split()).startswith(f"{name}: {summary}")
            assert "\nkind (" not in said
            expected = "mean rate: " if kind == "presets" else "Allowed: "
            assert ("It has no parameters" in said) != (expected in said)
            assert ("\nExample: " in said) == (kind != "presets")


def test_the_parts_of_a_link_budget_are_listed(capsys: Capture) -> None:
    assert cli.main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    budget = {"transmitters", "receivers", "antennas", "noise", "fading", "rates"}
    assert budget <= set(listed)
    assert {"fixed", "parabolic", "phased"} <= set(listed["antennas"])
    assert cli.main(["list", "antennas", "parabolic"]) == 0
    said = capsys.readouterr().out
    assert "\ndiameter (required)\n    Diameter of the aperture.\n" in said
    assert "\nefficiency (default: 0.65)\n" in said
    assert said.endswith('\nExample: antenna = { kind = "parabolic", diameter = "60 cm" }\n')
    assert cli.main(["list", "rates", "modcod"]) == 0
    assert '\nExample: rate = { kind = "modcod", table = "dvb-s2x" }\n' in capsys.readouterr().out
    assert cli.main(["list", "antenas"]) == 2
    assert "did you mean `antennas`" in capsys.readouterr().err


def test_the_schema_is_printed(capsys: Capture) -> None:
    assert cli.main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert set(schema["required"]) == {"name"}
    assert "flows" in schema["properties"]


def test_a_result_folder_can_be_plotted(tmp_path: Path, quick: Path, capsys: Capture) -> None:
    assert cli.main(["run", str(quick), "--out", "out", "--quiet"]) == 0
    assert cli.main(["plot", "out"]) == 0
    assert capsys.readouterr().out == "out/timeline.png\n"
    assert (tmp_path / "out" / "timeline.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main(["plot", "out", "--out", "part.pdf", "--from", "1", "--to", "2"]) == 0
    assert (tmp_path / "part.pdf").read_bytes().startswith(b"%PDF")
    assert cli.main(["plot", "out", "--flow", "mian"]) == 2
    assert "did you mean `main`" in capsys.readouterr().err
    assert cli.main(["plot", "absent"]) == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["run"], "leobench: the following arguments are required: SCENARIO; see `leobench run --help`\n"),
        (["rnu", "x.toml"], "leobench: rnu: no such command; allowed: `run`, "),
        (["chekc"], "; did you mean `check`?\n"),
        (
            ["run", "x.toml", "--set", "duration"],
            "leobench: --set: 'duration' is not PLACE=VALUE; allowed: a place and a value, such as ",
        ),
        (
            ["run", "x.toml", "--sed", "3"],
            "leobench: --sed: no such option; did you mean `--seed`?\n",
        ),
        (["run", "x.toml", "--sed=3"], "leobench: --sed: no such option; did you mean `--seed`?\n"),
        (
            ["sweep", "x.toml", "--replicates", "3"],
            "leobench: --replicates: no such option; what runs, such as `replicates`, is set by the keys of "
            "the campaign's file\n",
        ),
        (["check", "x.toml", "-q"], "leobench: -q: no such option; see `leobench check --help`\n"),
        (["list", "channels", "lms", "x"], "leobench: unrecognized arguments: x; see `leobench --help`\n"),
        (
            ["emulate", "x.toml", "ping", "-c", "1"],
            "leobench: -c: no such option; options of a program go after `--`, as in "
            "`leobench emulate SCENARIO -- PROGRAM ARGUMENTS`\n",
        ),
        (
            ["sweep", "x.toml", "--workers", "two"],
            "leobench: --workers: two: is not a whole number; see `leobench sweep --help`\n",
        ),
        (
            ["plot", "x", "--from", "two"],
            "leobench: --from: two: is not a number of seconds; see `leobench plot --help`\n",
        ),
        (
            ["sweep", "x.toml", "--executor", "thread"],
            "leobench: --executor: thread: unknown word; allowed: `processes`, `dask`\n",
        ),
        (
            ["sweep", "x.toml", "--resume", "--force"],
            "leobench: --force: not allowed with argument --resume; see `leobench sweep --help`\n",
        ),
    ],
)
def test_a_wrong_command_line_exits_2(args: list[str], message: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(args)
    assert exit_.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("command", ["", "run", "check", "list", "schema", "plot"])
def test_help_has_an_example(command: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main([*command.split(), "--help"])
    assert exit_.value.code == 0
    assert f"\n  leobench {command}" in capsys.readouterr().out


def test_without_a_command_there_is_help(capsys: Capture) -> None:
    assert cli.main([]) == 0
    alone = capsys.readouterr()
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    assert alone == capsys.readouterr()
    assert alone.out.startswith("usage: leobench ")


# Prints the modules that the program has loaded when it has run a command line.
LOADED = """
import sys
from leobench import cli
try:
    cli.main(sys.argv[1:])
except SystemExit:
    pass
print("LOADED", *sys.modules)
"""


def loaded_by(*args: str) -> tuple[set[str], set[str]]:
    """The modules of leobench, and all others, that a command line has loaded at its end."""
    ran, bare = (
        subprocess.run([sys.executable, "-c", program, *args], capture_output=True, text=True, check=True)
        for program in (LOADED, "import sys; print('LOADED', *sys.modules)")
    )
    loaded = {*ran.stdout.rpartition("LOADED ")[2].split()} - {*bare.stdout.split()}
    own = {name for name in loaded if name.partition(".")[0] == "leobench"}
    return own, loaded - own


def test_a_run_loads_no_library(tmp_path: Path, quick: Path) -> None:
    """It is no longer than its engine takes: the core writes the tables, and nothing reads them."""
    own, others = loaded_by("run", str(quick), "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "summary.json").exists()
    assert "leobench._core" in own
    assert {name.partition(".")[0] for name in others} <= sys.stdlib_module_names


def test_help_loads_no_library() -> None:
    """It answers at once: libraries, the core and what a command needs are loaded when the command runs."""
    own, others = loaded_by("--help")
    assert {name.partition(".")[0] for name in others} <= sys.stdlib_module_names
    rooms = {"leobench", "leobench.cli", "leobench.errors", "leobench.files"}
    assert {name for name in own if not name.startswith("leobench.cli.")} <= rooms


def test_the_version_is_that_of_the_core(capsys: Capture) -> None:
    from leobench import _core

    with pytest.raises(SystemExit) as exit_:
        cli.main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out.startswith(f"leobench {_core.__version__}\ncommit ")


def test_a_bar_is_drawn_on_a_terminal_only(quick: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    args = ["run", str(quick), "--out", "out", "--set", "duration=20 s"]
    process = subprocess.Popen([*LEOBENCH, *args], cwd=tmp_path, stderr=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    drawn = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        drawn += chunk
    os.close(ours)
    output, _ = process.communicate()
    assert process.returncode == 0
    assert b"virtual s/s" in drawn
    assert b"of 20 s" in drawn
    assert b"#" not in output


def test_whoever_reads_the_output_may_stop(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*LEOBENCH, "schema"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as errors:
        assert errors.read() == b""
    assert process.wait(60) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("args", [["list"], ["--help"], ["--version"], ["run", "quick.toml", "--out", "out"]])
def test_output_that_cannot_be_written_is_said(args: list[str], quick: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [*LEOBENCH, *args], cwd=quick.parent, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert process.returncode == 1
    assert process.stderr == "leobench: output cannot be written: No space left on device\n"
    assert not list(tmp_path.glob(".*")), "nothing half-written"


def test_a_name_too_long_for_a_folder_is_refused(quick: Path, capsys: Capture) -> None:
    for name in ("a" * 300, f"new/{'a' * 300}"):
        assert cli.main(["run", str(quick), "--out", name]) == 2
        assert capsys.readouterr().err == f"leobench: {name}: cannot be written to: File name too long\n"


def test_an_interruption_at_any_moment_is_one_line(quick: Path, tmp_path: Path) -> None:
    """Also while libraries are imported, which may turn the interruption into errors of their own."""
    for after in (0.1, 0.2, 0.3, 0.4, 0.6):
        process = start("run", quick, "--out", f"out-{after}", "--set", "duration=100000 s", cwd=tmp_path)
        wait_for_imports(process)
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        # Python ends by the signal if it was interrupted in an `exec` of a library.
        assert process.returncode in (130, -signal.SIGINT)
        assert said == INTERRUPTED
        assert not list(tmp_path.glob(".out*"))


def test_an_interruption_of_the_first_imports_is_silent(tmp_path: Path) -> None:
    """From the first line of leobench on; while Python itself starts, its own handler reports a traceback."""
    silent = False
    for command in (["--help"], ["list"], ["run", "none.toml"], ["record", "none", "--out", "out.csv"]):
        for after in (0, 0.005, 0.01, 0.02, 0.05, 0.1):
            process = start(*command, cwd=tmp_path)
            silent |= wait_for_leobench(process)
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            assert process.returncode in (0, 2, 130, -signal.SIGINT)
            assert said.count("\n") <= 1, said
    assert silent, "an interruption ends the process before there is anything to report"


@pytest.mark.parametrize(
    "interrupted",
    [
        # A library turns the interruption of its import into an error of its own.
        """
def main():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt as interrupt:
        raise ImportError("a part is missing") from interrupt
cli.main = main""",
        # The interruption comes before the program has begun.
        """
install = signal.signal
def interrupted(signum, handler):
    install(signum, handler)
    if handler is signal.SIG_DFL:  # the end, when everything is done
        return
    os.kill(os.getpid(), signal.SIGINT)
signal.signal = interrupted""",
        # A finalizer swallows the exception.
        """
class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
def main():
    Dying()
    time.sleep(60)
cli.main = main""",
    ],
)
def test_an_interruption_outside_a_command_is_one_line(interrupted: str) -> None:
    program = f"import os, signal, time\nfrom leobench import cli\n{interrupted}\ncli.entry()"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", INTERRUPTED)


def wait_for_leobench(process: subprocess.Popen[str]) -> bool:
    """Waits until Python's own handler of SIGINT is gone; whether nothing had replaced it by then."""
    by_python = False
    while process.poll() is None:
        caught = signals_caught(process)
        if by_python and not caught >> (signal.SIGINT - 1) & 1:
            return True
        if caught >> (signal.SIGTERM - 1) & 1:
            return False
        by_python = bool(caught >> (signal.SIGINT - 1) & 1)
    return False


def wait_for_imports(process: subprocess.Popen[str]) -> None:
    """Waits until Python itself has started and handles signals as leobench asks it to."""
    while process.poll() is None and not signals_caught(process) >> (signal.SIGTERM - 1) & 1:
        pass


def signals_caught(process: subprocess.Popen[str]) -> int:
    """The signals that a process handles, as a bit mask."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next((int(line.split()[1], 16) for line in lines if line.startswith("SigCgt")), 0)


def test_an_interrupted_run_leaves_nothing(quick: Path, tmp_path: Path) -> None:
    for kill, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
        process = start("run", quick, "--out", "out/run", "--set", "duration=100000 s", cwd=tmp_path)
        running = tmp_path / "out"
        while not (running.is_dir() and any(running.glob(".run.partial-*/*.parquet"))):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(kill)
        _, said = process.communicate(timeout=60)
        assert process.returncode == code
        assert list(running.iterdir()) == []
        assert said == INTERRUPTED


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        ("'bye'", 1, "bye\n"),
        ("7", 7, ""),
        ("None", 0, ""),
        ("0", 0, ""),
        ("True", 1, ""),
        ("[3]", 1, "[3]\n"),
    ],
)
def test_the_program_exits_as_it_is_asked_to(asked: str, code: int, said: str) -> None:
    program = f"import sys; from leobench import cli; cli.main = lambda: sys.exit({asked}); cli.entry()"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (code, "", said)


@pytest.mark.parametrize(
    "orders",
    [
        (["list", "channels", "lms", "--json"], ["list", "channels", "--json", "lms"]),
        (["list", "channels", "lms", "--json"], ["list", "--json", "channels", "lms"]),
        (["check", "--json", "{quick}", "{quick}"], ["check", "{quick}", "--json", "{quick}"]),
        (
            ["check", "{quick}", "--set", "duration=1 s", "--json"],
            ["check", "--set", "duration=1 s", "{quick}", "--json"],
        ),
        (["reproduce", "absent", "--quick"], ["reproduce", "--quick", "absent"]),
    ],
)
def test_the_order_of_words_and_options_does_not_matter(
    orders: tuple[list[str], list[str]], quick: Path, capsys: Capture
) -> None:
    first, second = (
        (cli.main([word.replace("{quick}", str(quick)) for word in words]), *capsys.readouterr())
        for words in orders
    )
    assert first == second
