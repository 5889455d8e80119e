"""Measurements that no network gives are refused by file and line, and leave nothing behind."""

from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from leobench import cli
from tests.recording.measurements import SAMPLES, intervals, iperf3, irtt, ping, probes
from tests.support.paths import ROOT
from tests.support.programs import leobench, start

sys.path.insert(0, str(ROOT / "tools" / "mutate"))
import recordings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Capture = pytest.CaptureFixture[str]

GOOD = [(number, 0.1 * number, 40.0) for number in range(1, 6)]
ANSWER = "[1000.5] 64 bytes from gateway: icmp_seq=3 ttl=60 time=40 ms"
DISH = "timestamp,pop_ping_drop_rate,pop_ping_latency_ms,downlink_throughput_bps\n100,0,40,50e6\n"


def with_line(text: str, line: str) -> str:
    """Pings with another line before the fourth answer, which is the fifth line."""
    lines = text.split("\n")
    return "\n".join([*lines[:4], line, *lines[4:]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ANSWER.replace("1000.5", "0"),
            "file:5: the answer came 1,000 s before that of line 4; allowed: times in the order of the lines",
        ),
        (
            ANSWER.replace("1000.5", "1694477135.5"),
            "file:6: the answer came 1,694,476,135 s before that of line 5; "
            "allowed: times in the order of the lines",
        ),
        (
            ANSWER.replace("1000.5]", "1000"),
            f"file:5: {ANSWER.replace('1000.5]', '1000')!r} is not an answer as `ping -D` prints it",
        ),
        (
            ANSWER.replace("1000.5", "1e400"),
            "file:5: the time is '1e400'; allowed: a finite number",
        ),
        (
            ANSWER.replace("=3", "=99999999999"),
            "file:5: the icmp_seq is 99999999999; allowed: from 0 to 65,535",
        ),
        (
            ANSWER.replace("=40", "=-30"),
            "file:5: the round trip is -0.03 s; allowed: from 0 to 120 s",
        ),
        (
            ANSWER.replace("=40", "=1.2.3"),
            "file:5: time= is '1.2.3'; allowed: a finite number",
        ),
    ],
)
def test_a_wrong_answer_of_ping(text: str, message: str, tmp_path: Path) -> None:
    refused(with_line(ping(*GOOD), text), message, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            iperf3(12e6, 24e6).replace("24000000.0", "null"),
            "file:16: `sum.bits_per_second` is null; allowed: a finite number",
        ),
        (
            iperf3(12e6, 1e15),
            "file:16: the rate is 1e+15 bit/s; allowed: from 0 to 1,000,000,000,000 bit/s",
        ),
        (
            iperf3(12e6, lost_percent=180.0),
            "file:8: the lost_percent is 180 %; allowed: from -100 to 100 %",
        ),
        (
            iperf3(12e6).replace("1000", "1e400"),
            "file:1: `start.timestamp.timesecs` is inf; allowed: a finite number",
        ),
        (iperf3(12e6)[:-4], "file:16: is not JSON: no `,` between items"),
        (
            irtt(("maybe", 5)),
            "file:3: `lost` is 'maybe'; allowed: False, 'false', True, 'true', 'true_up', 'true_down'",
        ),
        (irtt(("false", None)), "file:3: `delay.rtt` is missing"),
        (f"{DISH}101,7,40,50e6\n", "file:3: the loss is 7; allowed: from 0 to 1"),
        (f"{DISH}101,nan,40,50e6\n", "file:3: pop_ping_drop_rate is 'nan'; allowed: a finite number"),
        (f"{DISH}101,0,-30,50e6\n", "file:3: the round trip is -0.03 s; allowed: from 0 to 120 s"),
        (f"{DISH}101,0,40\n", "file:3: has 3 cells; allowed: 4, as the first line"),
        (
            f"{DISH}1694477135683,0,40,5\n",
            "file:3: the time is 1694477135683 s; allowed: from 0 to 100,000,000,000 s",
        ),
        (
            f"{DISH}1694477135,0,40,5\n101,0,40,5\n",
            "file:3: the time is 19,612.0 days from the median of all; "
            "allowed: recordings of at most 31 days, by one clock",
        ),
        (probes(*GOOD).replace(",5,", ",5.5,"), "file:6: the number is 5.5; allowed: a whole number"),
        (
            probes(*GOOD, (4_000_000_000, 0.7, 4.0)),
            "file:7: 3,999,999,994 probes are missing before this one; "
            "allowed: at most 5,000,000 probes in all",
        ),
        (
            probes(*GOOD).replace("1000.340000", "914.5"),
            "file:4: the answer came 86 s before that of line 3; allowed: times in the order of the lines",
        ),
        (
            "time,rtt\n2026-03-20T12:00:00,40\n2026-03-19T12:00:00,40\n2026-03-20T12:00:01,40\n",
            "file:3: the answer came 86,400 s before that of line 2; "
            "allowed: times in the order of the lines",
        ),
        (
            "time,rtt\n200,40\n160,40\n120,40\n",
            "file:4: the answer came 80 s before that of line 2; allowed: times in the order of the lines",
        ),
        (
            intervals((0, 1, 1e6), (0.5, 1.5, 2e6)),
            "file:16: the interval starts at 0.5 s, before that of line 8 ends, at 1 s; "
            "allowed: one interval after the other",
        ),
        (
            intervals((1, 1, 1e6), (0, 1, 2e6)),
            "file:16: the interval starts at 0 s, before that of line 8 ends, at 2 s; "
            "allowed: one interval after the other",
        ),
        (
            intervals((0, 1, 1e6), (1, 0, 2e6), (1, 1, 1e6)),
            "file:16: the interval has no length; allowed: above 0 s, except in the last interval",
        ),
        (
            intervals((1, 1, 1e6), end=0.0),
            "file:8: the interval ends at 0 s and starts at 1 s; allowed: ends after starts",
        ),
        (
            "time,rtt\n1,0.04\n",
            "file:1: the column `rtt` does not state its unit, and its median is 0.04; "
            "allowed: `rtt_s`, `rtt_ms` or `rtt_us`",
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_of_another_format(text: str, message: str, tmp_path: Path) -> None:
    refused(text, message, tmp_path)


def refused(text: str, message: str, folder: Path) -> None:
    """Checks that a file is refused so, and that nothing is left of it."""
    (folder / "file").write_text(text, encoding="utf-8")
    ended = leobench("record", "file", "--rate", "20", "--out", "o.csv", "--mahimahi", "o.trace", cwd=folder)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"leobench: {message}")
    assert ended.stderr.count("\n") == 1
    assert [entry.name for entry in folder.iterdir()] == ["file"]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_named_so(text: str, tmp_path: Path) -> None:
    refused(text, "file: is empty; allowed: a measurement\n", tmp_path)


def test_one_row_is_no_rows(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(iperf3(12e6), encoding="utf-8")
    ended = leobench("record", "file", "--out", "o.csv", cwd=tmp_path)
    said = "o.csv: 1 row over 0.1 s, from 0 probes (0 lost) and 1 rate; 0 rows are interruptions"
    assert ended.stdout.splitlines()[0] == said


def test_a_link_that_is_never_up_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(iperf3(0.0, 0.0), encoding="utf-8")
    ended = leobench("record", "file", "--out", "o.csv", cwd=tmp_path)
    said = "the link is never up: every rate is zero, or every probe lost in an interruption"
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {said}\n")


def test_too_long_a_trace_leaves_nothing(tmp_path: Path) -> None:
    refused(
        iperf3(*[1e12] * 20),
        "--mahimahi: the rates make 166,666,667 opportunities of 1,500 bytes; "
        "allowed: from 1 to 100,000,000\n",
        tmp_path,
    )


def test_packets_that_iperf3_takes_back_are_no_loss(tmp_path: Path, capsys: Capture) -> None:
    assert table(iperf3(12e6, lost_percent=-0.4), tmp_path) == ["0 s,12000000 bps,0.000 ms,0,true"]
    capsys.readouterr()


def test_a_table_begins_with_a_rate(tmp_path: Path) -> None:
    assert table(iperf3(0.0, 24e6), tmp_path, "--bin", "100") == [
        "0 s,24000000 bps,0.000 ms,0,false",
        "0.1 s,24000000 bps,0.000 ms,0,true",
    ]


def test_times_of_days_keep_their_digits(tmp_path: Path) -> None:
    """Beyond 27 hours, rows of 100 ms had the same time as their neighbours."""
    answers = [(1, 0.0, 40.0), (2, 100_000.1, 50.0), (3, 100_000.2, 60.0)]
    rows = table(probes(*answers), tmp_path, "--interruption", "9", "--rate", "20")
    assert [row.split(",")[0] for row in rows] == ["0 s", "100000.1 s", "100000.2 s"]


def test_a_program_started_again_counts_anew(tmp_path: Path) -> None:
    """Two pings in a file: the second overwrote the first, and its numbers were missing."""
    first, second = ping(*GOOD), ping(*[(number, 0.5 + sent, 60.0) for number, sent, _ in GOOD])
    for text in (first + second, "\n".join((first + second).replace("PING", "ping").split("\n"))):
        rows = table(text, tmp_path)
        assert [row.split(",")[2] for row in rows] == ["20.000 ms", "30.000 ms"]


def test_dates_without_a_zone_are_in_utc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On 5 November 2023 at 06:00 UTC, clocks in New York went back by an hour."""
    text = "datetimestamp_utc,pop_ping_latency_ms\n2023-11-05T05:59:59,40\n2023-11-05T06:00:00,50\n"
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        rows = table(text, tmp_path)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert [row.split(",")[0] for row in rows] == ["0 s", "1 s"]


@pytest.mark.parametrize("kind", SAMPLES)
def test_compressed_files_are_read(kind: str, tmp_path: Path) -> None:
    plain = table(SAMPLES[kind], tmp_path)
    (tmp_path / "file").write_bytes(gzip.compress(SAMPLES[kind].encode()))
    assert table(None, tmp_path) == plain
    (tmp_path / "file").write_bytes(gzip.compress(SAMPLES[kind].encode())[:-20])
    ended = leobench("record", "file", "--out", "none.csv", cwd=tmp_path)
    assert ended.stderr == "leobench: file: is damaged; allowed: complete gzip files\n"


def test_a_csv_of_probes_is_as_ping(tmp_path: Path) -> None:
    """With numbers; without them, a probe is lost whose round trip is empty or -1."""
    lossy = [answer for answer in GOOD if answer[0] != 3]
    expected = table(ping(*lossy), tmp_path)
    assert len(expected) == 3
    assert table(probes(*lossy), tmp_path) == expected
    for lost in ("", "-1.0"):
        cells = [f"{1000.1 + 0.1 * n:.1f},{lost if n == 2 else '40'}" for n in range(5)]
        assert len(table("\n".join(["time,rtt_ms", *cells, ""]), tmp_path)) == 3


@pytest.mark.parametrize("write", [ping, probes])
def test_the_first_answer_to_a_probe_counts(write: Callable[..., str], tmp_path: Path) -> None:
    """In a CSV, the last one did."""
    rows = table(write((1, 0.0, 40.0), (1, -0.2, 400.0), (2, 0.3, 40.0), (3, 0.4, 40.0)), tmp_path)
    assert rows == ["0 s,20000000 bps,20.000 ms,0,true"]


def table(text: str | None, folder: Path, *options: str) -> list[str]:
    """The rows that come of a file, by the command in this process."""
    if text is not None:
        (folder / "file").write_text(text, encoding="utf-8")
    out = folder / "out.csv"
    words = ["record", str(folder / "file"), "--out", str(out), "--force", *(options or ("--rate", "20"))]
    assert cli.main(words) == 0
    return out.read_text(encoding="utf-8").splitlines()[1:]


def test_the_printed_line_makes_a_scenario(tmp_path: Path) -> None:
    """Its mean rate is that of both intervals, so a limit in BDP knows what to go by."""
    for name, text in {"ping": ping(*GOOD), "iperf3": iperf3(*[12e6] * 3, *[24e6] * 2)}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    ended = leobench("record", "ping", "iperf3", "--out", 'roof\'s "1".csv', cwd=tmp_path)
    *_, line = ended.stdout.splitlines()
    expected = 'channel = { kind = "schedule", file = "roof\'s \\"1\\".csv", mean_rate = "18 Mbps" }'
    assert line == expected
    (tmp_path / "over.toml").write_text(recordings.SCENARIO.format(channel=line), encoding="utf-8")
    checked = leobench("check", "over.toml", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    without = leobench("check", "over.toml", "--set", 'links.l.channel.mean_rate=""', cwd=tmp_path)
    assert without.returncode == 2


def test_the_example_of_the_guide(tmp_path: Path) -> None:
    pages = [ROOT / "docs" / folder / "recording.md" for folder in ("howto", "reference")]
    page = "".join(each.read_text(encoding="utf-8") for each in pages)
    (tmp_path / "pings.csv").write_text(page.split("```csv\n")[1].split("```")[0], encoding="utf-8")
    ended = leobench("record", "pings.csv", "--rate", "50", "--out", "roof.csv", cwd=tmp_path)
    first, *_, line = ended.stdout.splitlines()
    assert first.startswith("roof.csv: 5 rows over 0.5 s, from 4 probes (1 lost) and 0 rates")
    assert f"```toml\n{line}\n```" in page
    wrong = page.split("begins): `ping.txt:7: ")[1].split("`")[0]
    (tmp_path / "wrong").mkdir()
    refused(ping(*GOOD).replace("time=40.0", "time=-30"), f"file:2: {wrong}", tmp_path / "wrong")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--out file", "file: is one of the measurements; choose another file"),
        ("--out a --mahimahi ./a", "a: is given twice; choose another file"),
        ("--out a --bin 0.5", "--bin: 0.5 ms is out of range; allowed: from 1 ms"),
        ("--out a --interruption 0", "--interruption: 0 is out of range; allowed: from 1"),
        ("--out=", "--out: is empty; allowed: the name of a file"),
        ("--out a --mahimahi=", "--mahimahi: is empty; allowed: the name of a file"),
        ("--out pipe", "pipe: cannot be written to: is a pipe, a device or a socket"),
    ],
)
def test_outputs_and_options_that_are_refused(options: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(iperf3(12e6), encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    ended = leobench("record", "file", "--force", *options.split(), cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {message}\n")
    assert (tmp_path / "file").read_text(encoding="utf-8") == iperf3(12e6)


@pytest.mark.parametrize(
    "words",
    [
        "record pipe --out o",
        "check pipe.toml",
        "run pipe.toml",
        "sweep pipe.toml",
        "agree pipe.toml",
        "orbit pipe.toml",
        "qvis pipe",
        "emulate pipe.toml",
        "plot results",
    ],
)
def test_a_pipe_is_not_waited_for(words: str, tmp_path: Path) -> None:
    for name in ("pipe", "pipe.toml"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "results").mkdir()
    os.mkfifo(tmp_path / "results" / "manifest.json")
    process = start(*words.split(), cwd=tmp_path)
    try:
        _, said = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 2, said
    assert "is a pipe, a device or a socket" in said
    assert said.count("\n") == 1


def test_a_few_mutated_measurements() -> None:
    """The short form of `python tools/mutate/recordings.py --count 600`."""
    assert recordings.violations(40, 7) == []
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_the_mutator_sees_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_: object) -> int:
        raise ZeroDivisionError

    def litter(_: object) -> int:
        (tmp_path / "left").touch()
        sys.stderr.write("leobench: no\n")
        return 2

    trial = recordings.Trial(tmp_path, random.Random(1))  # noqa: S311
    for command, expected in ((crash, "ZeroDivisionError"), (litter, "leaves ['left', 'measured']")):
        monkeypatch.setattr(cli, "main", command)
        assert expected in str(trial.problem())
