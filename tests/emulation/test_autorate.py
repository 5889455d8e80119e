"""The adaptive shaper of the examples: its rule, handed the time, and before a link whose rate falls."""

from __future__ import annotations

import importlib.util
import itertools
import json
import shlex
import shutil
import struct
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "examples"
MBIT = 1e6
# The rule counts one packet of 1,500 bytes at the rate on top of its thresholds.
PACKET_BITS = 12_000


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("autorate", EXAMPLES / "autorate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


autorate = _module()


def direction(minimum: float = 5, base: float = 20, maximum: float = 80) -> Any:
    limits = autorate.Limits(minimum * MBIT, base * MBIT, maximum * MBIT)
    return autorate.Direction(limits, autorate.Settings(), 0.0)


def test_a_loaded_direction_without_delay_rises_by_four_percent_per_load() -> None:
    shaped = direction()
    for step in range(1, 11):
        shaped.on_load(0.8 * shaped.rate)
        # Four probes per measurement of the load: only one of them raises the rate.
        for probe in range(4):
            shaped.on_delay(1 + 0.2 * step + 0.05 * probe, 0.0)
        assert shaped.rate == pytest.approx(20 * MBIT * 1.04**step)


def test_a_load_below_three_quarters_does_not_raise_the_rate() -> None:
    shaped = direction()
    shaped.on_load(0.74 * shaped.rate)
    shaped.on_delay(0.5, 0.0)
    assert shaped.rate == 20 * MBIT


@pytest.mark.parametrize(
    ("above", "factor"),
    [
        # A mean of 100 ms; of 45 ms, halfway from the threshold to 60 ms; and below the threshold.
        (0.200, 0.75),
        (2 * (0.045 + PACKET_BITS / (20 * MBIT)), 0.87),
        (0.040, 0.99),
    ],
)
def test_the_third_late_delay_cuts_the_rate_by_their_mean(above: float, factor: float) -> None:
    """The window of six begins with zeros, so the mean is half of the delays."""
    shaped = direction()
    rates = []
    for probe in range(3):
        shaped.on_delay(1 + 0.05 * probe, above)
        rates.append(shaped.rate)
    assert rates[:2] == [20 * MBIT] * 2
    assert rates[2] == pytest.approx(20 * MBIT * factor)


def test_cuts_are_at_least_three_tenths_of_a_second_apart_and_end_at_the_minimum() -> None:
    shaped = direction()
    changes, before = [], shaped.rate
    for probe in range(200):
        now = 1 + 0.05 * probe
        shaped.on_delay(now, 0.5)
        if shaped.rate != before:
            changes.append(now)
        before = shaped.rate
    assert min(b - a for a, b in itertools.pairwise(changes)) > 0.3
    assert shaped.rate == 5 * MBIT


def test_a_load_raises_nothing_within_three_tenths_of_a_second_of_a_cut() -> None:
    shaped = direction()
    for probe in range(3):
        shaped.on_delay(1 + 0.05 * probe, 0.5)
    cut = shaped.rate
    for probe in range(3, 9):  # until 1.4 s, at which the cut of 1.1 s is 0.3 s ago
        shaped.on_load(shaped.rate)
        shaped.on_delay(1 + 0.05 * probe, 0.0)
    assert shaped.rate == cut
    shaped.on_delay(1.45, 0.0)
    assert shaped.rate == pytest.approx(1.04 * cut)


def test_a_loaded_direction_ends_at_the_maximum() -> None:
    shaped = direction()
    for step in range(60):
        shaped.on_load(shaped.rate)
        shaped.on_delay(1 + 0.2 * step, 0.0)
    assert shaped.rate == 80 * MBIT


@pytest.mark.parametrize("delays", [0.0, 0.5])
def test_an_idle_direction_returns_to_its_base_by_a_percent_a_second(delays: float) -> None:
    """From the maximum down, and from the minimum up."""
    shaped = direction()
    for step in range(100):
        shaped.on_load(shaped.rate)
        shaped.on_delay(1 + 0.2 * step, delays)
    begin = shaped.rate
    assert begin == (80 if delays == 0 else 5) * MBIT
    shaped.on_load(0)
    rates = []
    for probe in range(20 * 300):
        shaped.on_delay(30 + 0.05 * probe, 0.0)
        rates.append(shaped.rate)
    # A step at the first probe after a second, which is 1.05 s: about 1 % in each.
    factor = 0.99 if begin > 20 * MBIT else 1.01
    assert rates[20 * 10] == pytest.approx(begin * factor**10, rel=0.011)
    assert rates[-1] == 20 * MBIT


def test_the_baseline_falls_at_once_and_rises_slowly() -> None:
    baseline = autorate.Baseline(autorate.Settings())
    assert baseline.above(0.050) == 0
    # Ninety percent of the way down at the first lower delay.
    assert baseline.above(0.040) == pytest.approx(0.040 - 0.041)
    # A thousandth of the way up each time: after 693, half of the step.
    for _ in range(693):
        above = baseline.above(0.141)
    assert above == pytest.approx(0.050, rel=0.02)


def test_silence_sets_rates_to_their_minimum() -> None:
    limits = autorate.Limits(5 * MBIT, 20 * MBIT, 80 * MBIT)
    both = autorate.Autorate((limits, limits), autorate.Settings(), 0.0)
    both.on_delays(1.0, (0.02, 0.02))
    both.on_time(10.9)
    assert both.rates() == [20 * MBIT] * 2
    both.on_time(11.1)
    assert both.rates() == [5 * MBIT] * 2


def test_one_way_delays_cut_only_their_direction() -> None:
    limits = autorate.Limits(5 * MBIT, 20 * MBIT, 80 * MBIT)
    both = autorate.Autorate((limits, limits), autorate.Settings(), 0.0)
    for probe in range(8):
        both.on_delays(1 + 0.05 * probe, (0.02, 0.02 if probe < 2 else 0.2))
    up, down = both.rates()
    assert up == 20 * MBIT
    assert down < 20 * MBIT


def test_timestamps_may_pass_midnight_and_clocks_differ() -> None:
    """RFC 792: milliseconds since midnight UT, here 30 ms before it and 10 ms after."""
    body = struct.pack("!III", 86_400_000 - 30, 10, 10)
    assert autorate.Timestamps().delays(body)[0] == pytest.approx(0.040)
    assert autorate.Timestamps().delays(struct.pack("!III", 500, 450, 450))[0] == pytest.approx(-0.050)


@pytest.mark.parametrize(
    ("rates", "complaint"),
    [("8 4 12", "--up: allowed: a minimum, a base and a maximum"), ("0 4 12", "--up: allowed: a minimum")],
)
def test_bad_rates(rates: str, complaint: str) -> None:
    words = ["--up-device", "lo", "--down-device", "lo", "--up", *rates.split(), "--down", "1", "2", "3"]
    ended = subprocess.run(
        [sys.executable, str(EXAMPLES / "autorate.py"), *words, "localhost"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert complaint in ended.stderr


# 12 Mbit/s, from second 5 on 4; a queue of 250 ms, and of 750 then.
_FALLING = """\
duration = "60 s"
[nodes.client]
[nodes.server]
[links.path]
between = ["client", "server"]
queue = { kind = "fifo", limit = "250 packets" }
[links.path.channel]
kind = "schedule"
file = "falling.csv"
"""


@pytest.mark.alone
@pytest.mark.usefixtures("hosts")
def test_the_rate_follows_a_link_that_slows_down(tmp_path: Path) -> None:
    """It falls below the link's, and pings are faster than without a shaper."""
    lacking = [tool for tool in ("tc", "iperf3", "ping") if shutil.which(tool) is None]
    if lacking:
        pytest.skip(f"{', '.join(lacking)}: not installed")
    (tmp_path / "falling.csv").write_text(
        "time,rate,delay\n0 s,12 Mbps,20 ms\n5 s,4 Mbps,\n", encoding="ascii"
    )
    scenario = tmp_path / "falling.toml"
    scenario.write_text(_FALLING, encoding="utf-8")
    log = tmp_path / "log.csv"
    adaptive = f"{EXAMPLES / 'router.sh'} 8 8 --up 2 8 14 --down 2 8 14 --one-way --log {log} server"
    load = [sys.executable, str(EXAMPLES / "under_load.py"), "server", "--seconds", "12"]
    late, goodput = {}, {}
    for name, router in (
        ("none", "true"),
        ("adaptive", f"env PYTHON={shlex.quote(sys.executable)} {adaptive}"),
    ):
        ended = leobench(
            "emulate", scenario, *PATIENT, "--settle", "500", "--router", router,
            "--on", "server", "iperf3 -s -1 --logfile /dev/null", "--host", "lan", "--", *load, cwd=tmp_path,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        said = json.loads(ended.stdout)
        # The last 4 s of pings: the rate fell about 3 s before.
        late[name] = sorted(said["round_trips_ms"][-80:])[40]
        goodput[name] = said["goodput_bps"] / MBIT
    # 750 ms of queue, or as much of it as CUBIC has filled again since the losses at 5 s.
    assert late["none"] > 250, late
    # The path's 40 ms, the rule's 30 ms, and twice as much again, as the rule looks at means of the past.
    assert late["adaptive"] < 160, late
    rates = [
        [float(each) for each in line.split(",")] for line in log.read_text(encoding="ascii").splitlines()
    ]
    # Upload: between the base and the maximum on the fast link, and below the slow one's at some time.
    assert max(up for _, up, *_ in rates) > 9
    assert min(up for _, up, *_ in rates[-40:]) < 4
    # Nobody downloads, and delays are one way: the base, unless a busy machine delays pings.
    assert sorted(down for _, _, down, *_ in rates)[len(rates) // 2] == 8.0
    assert goodput["adaptive"] > 0.6 * goodput["none"], goodput


def _compare(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLES / "shapers.py"), *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_a_comparison_replaces_no_runs(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "runs.jsonl").touch()
    ended = _compare("--out", "out", cwd=tmp_path)
    refused = "shapers.py: out/runs.jsonl: exists; allowed: another folder, or --resume\n"
    assert (ended.returncode, ended.stderr) == (2, refused)


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_the_comparison_of_shapers(tmp_path: Path) -> None:
    """A short one: every router has its line, and the lowest static rate the least delay."""
    words = ("--replicates", 1, "--seconds", 8, "--directions", "download", "--busy", 1)
    ended = _compare("--out", "out", *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    lines = (tmp_path / "out" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["router"]: row for row in map(json.loads, lines)}
    assert len(ended.stdout.splitlines()) == 2 + len(rows) == 7
    assert rows["static, 2.8 Mbit/s"]["p50_ms"] < rows["no shaper"]["p50_ms"] / 2
    assert 2 < rows["static, 2.8 Mbit/s"]["goodput_mbps"] < 2.8
