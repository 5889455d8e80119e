"""Links in real time, measured from outside by the kernel's arrival times of probes."""

from __future__ import annotations

import array
import json
import math
import random
import shlex
import statistics
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from leobench import api
from leobench.errors import INVALID_RUN
from tests.emulation import real_scenarios
from tests.emulation.busy_machine import witness
from tests.emulation.real_scenarios import Link
from tests.support.programs import leobench

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.usefixtures("hosts"), pytest.mark.alone]

PROGRAMS = Path(__file__).with_name("host_programs.py")
# Bytes of the headers of IPv4 and UDP.
HEADERS = 28
# A sender without gaps computes on purpose, so it waits for a processor beside driver and receiver.
BURST = "[real]\nwaited = 1"


class Arrival(NamedTuple):
    """A datagram that arrived; times in nanoseconds."""

    number: int
    sent: int
    received: int


class Probed(NamedTuple):
    """The outcome of a probe: arrivals, and the run's manifest and folder."""

    arrivals: list[Arrival]
    manifest: dict[str, Any]
    folder: Path


def program(*words: object) -> str:
    """The command that runs a program for hosts."""
    return shlex.join(map(str, (sys.executable, PROGRAMS, *words)))


def probe(folder: Path, link: str, *, count: int, size: int, gap_us: int, more: str = "") -> Probed:
    """Sends datagrams whose IP packets have this size from the client to the server."""
    folder.mkdir(exist_ok=True)
    scenario = folder / "scenario.toml"
    path = Link("path", ("client", "server"), link)
    scenario.write_text(real_scenarios.scenario(path, duration="1 h", more=more), encoding="utf-8")
    sender = program("send", "server", count, size - HEADERS, gap_us, folder / "ready")
    taker = program("take", folder / "got", folder / "ready")
    options = ["--settle", "0", "--out", "out", "--force"]
    ended = leobench(
        "emulate", scenario, "--on", "client", sender, "--on", "server", taker, *options, cwd=folder
    )
    assert ended.returncode in {0, INVALID_RUN}, ended.stderr
    got = array.array("q")
    got.frombytes((folder / "got").read_bytes())
    arrivals = [Arrival(*got[place : place + 3]) for place in range(0, len(got), 3)]
    manifest = json.loads((folder / "out" / "manifest.json").read_text(encoding="utf-8"))
    return Probed(arrivals, manifest, folder / "out")


def until_valid(
    folder: Path, link: str, enough: Callable[[Probed], bool] = lambda _: True, **probe_options: Any
) -> Probed:
    """A run whose clock can be trusted by its own verdict; a busy machine has twelve attempts.

    If none of them is, that is a failure, unless a witness that is not leobench's found the machine too busy
    after most of them.
    """
    found = []
    for attempt in range(12):
        probed = probe(folder / str(attempt), link, **probe_options)
        if probed.manifest["validity"]["verdict"] == "valid" and enough(probed):
            return probed
        reasons = probed.manifest["validity"]["warnings"] or ["its programs were too slow"]
        found.append((reasons, witness()))
    busy = [why for _, why in found if why is not None]
    if len(busy) > len(found) / 2:
        pytest.skip(f"this machine is too busy for real time: {busy[-1]}")
    pytest.fail(f"no valid run on a machine that has time for it: {found}")


@pytest.mark.parametrize(
    ("busy", "outcome"),
    [([None] * 12, "Failed"), (["b"] * 5 + [None] * 7, "Failed"), (["b"] * 12, "Skipped")],
)
def test_only_a_busy_machine_excuses_invalid_runs(
    busy: list[str | None], outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = {"validity": {"verdict": "invalid", "warnings": ["late"]}}
    monkeypatch.setitem(globals(), "probe", lambda *_, **__: Probed([], late, tmp_path))
    monkeypatch.setitem(globals(), "witness", iter(busy).__next__)
    with pytest.raises(BaseException, match="machine") as raised:
        until_valid(tmp_path, "", count=1)
    assert raised.typename == outcome


def test_a_delay_is_that_of_propagation_and_serialisation(tmp_path: Path) -> None:
    """20 ms, and 1,000 bytes at 10 Mbit/s: 0.8 ms. Within 0.3 ms at the median, in the budget at p99."""
    link = 'rate = "10 Mbps"\ndelay = "20 ms"\nqueue = { kind = "fifo", limit = "100 packets" }'

    def lateness(probed: Probed) -> list[float]:
        return sorted((arrival.received - arrival.sent) / 1e6 - 20.8 for arrival in probed.arrivals)

    def sent_in_time(probed: Probed) -> bool:
        """Whether hardly any waited between the sender's look at the clock and the network's."""
        late = lateness(probed)
        return len(late) == 300 and late[296] < 1

    probed = until_valid(tmp_path, link, sent_in_time, count=300, size=1_000, gap_us=3_000)
    late = lateness(probed)
    assert late[0] > 0
    assert statistics.median(late) < 0.3


@pytest.mark.parametrize(("rate_mbps", "count"), [(1, 80), (10, 300), (100, 1_500), (500, 4_000)])
def test_a_rate_is_that_of_the_link(rate_mbps: int, count: int, tmp_path: Path) -> None:
    """A burst that waits in the queue leaves at the rate of the link, within 1 %."""
    link = f'rate = "{rate_mbps} Mbps"\ndelay = "1 ms"\nqueue = {{ kind = "fifo", limit = "10000 packets" }}'
    serialised = 1_428 * 8 / rate_mbps * 1e3

    def backlogged(probed: Probed) -> list[Arrival]:
        """The longest part in which each waited for a millisecond and for others: the sender was ahead."""
        runs = groupby(
            probed.arrivals, lambda arrival: arrival.received - arrival.sent > 1e6 + max(1e6, 3 * serialised)
        )
        waited = [list(run) for has_waited, run in runs if has_waited]
        return max(waited, key=len, default=[])

    def is_ahead(probed: Probed) -> bool:
        return len(backlogged(probed)) > count / 2

    probed = until_valid(tmp_path, link, is_ahead, count=count, size=1_428, gap_us=0, more=BURST)
    # A busy receiver may have lost some: their numbers count. One in a hundred may be late in a valid run,
    # which the median does not see.
    waited = backlogged(probed)
    half = len(waited) // 2
    rate = statistics.median(
        (last.number - first.number) * 1_428 * 8 / ((last.received - first.received) / 1e9)
        for first, last in zip(waited, waited[half:], strict=False)
    )
    assert rate == pytest.approx(rate_mbps * 1e6, rel=0.01)


def test_losses_are_as_frequent_as_the_link_says(tmp_path: Path) -> None:
    """One in ten of 3,000: four standard deviations are 2.2 %."""
    link = (
        'rate = "100 Mbps"\ndelay = "1 ms"\nqueue = { kind = "fifo", limit = "10000 packets" }\n'
        'loss = { kind = "bernoulli", probability = 0.1 }'
    )
    probed = until_valid(tmp_path, link, count=3_000, size=200, gap_us=200)
    share = 1 - len(probed.arrivals) / 3_000
    assert share == pytest.approx(0.1, abs=4 * math.sqrt(0.1 * 0.9 / 3_000))


def test_a_mahimahi_trace_delivers_its_bytes(tmp_path: Path) -> None:
    """A line of the trace is an opportunity for 1,500 bytes in that millisecond; a full queue uses each."""
    draw = random.Random(5)  # noqa: S311
    times = sorted(draw.sample(range(1, 3_000), 600))
    (tmp_path / "trace").write_text("".join(f"{time}\n" for time in times), encoding="ascii")
    link = (
        'queue = { kind = "fifo", limit = "1000 packets" }\n'
        f'channel = {{ kind = "trace", file = "{tmp_path / "trace"}" }}'
    )
    # The trace repeats after its last line.
    line = [time + times[-1] * round_ for round_ in range(4) for time in times]
    # A valid run has punctual writes; the receiver's own clock may still be late on a machine that pauses.
    for _ in range(3):
        probed = until_valid(tmp_path, link, count=400, size=1_500, gap_us=0, more=BURST)
        bins, expected, late = _beside(line, [arrival.received / 1e6 for arrival in probed.arrivals])
        if late <= 4:
            break
    assert sum(bins) == 600_000
    assert late <= 4, "more than one in a hundred, three times"
    most = 1_500 * (1 + late)
    assert all(abs(got - due) <= most for got, due in zip(bins, expected, strict=True)), (bins, expected)


def _beside(line: list[int], arrived: list[float]) -> tuple[list[int], list[int], int]:
    """Bytes that arrived and those of the trace in slices of 100 ms, and how many arrived 0.5 ms late."""
    assert len(arrived) == 400

    def spread(shift: int) -> float:
        late = sorted(time - line[place + shift] for place, time in enumerate(arrived))
        return late[-5] - late[0]

    # When the trace began is known to the network only: the shift at which arrivals follow it.
    shift = min(range(len(line) - 400), key=spread)
    origin = min(time - line[place + shift] for place, time in enumerate(arrived))
    begin = line[shift]
    bins = [0] * 50
    expected = [0] * 50
    late = 0
    for place, time in enumerate(arrived):
        late += time - origin > line[place + shift] + 0.5
        # Opportunities come at whole milliseconds: half of one keeps what is a little late in its bin.
        bins[int((time - origin - begin + 0.5) // 100)] += 1_500
        expected[int((line[place + shift] - begin + 0.5) // 100)] += 1_500
    return bins, expected, late


class CoDel:
    """RFC 8289 section 5: what a queue under CoDel drops of packets that arrive at known times."""

    TARGET, INTERVAL, MTU = 5_000_000, 100_000_000, 1_500

    def __init__(self, arrivals: list[tuple[int, int, int]], rate_bps: int) -> None:
        self.arrivals, self.rate = arrivals, rate_bps
        self.taken = 0
        self.dropped: list[int] = []
        self.first_above = self.drop_next = 0
        self.count = self.last_count = 0
        self.dropping = False

    def run(self) -> list[int]:
        """The packets that are dropped, in their order."""
        now = 0
        while self.taken < len(self.arrivals):
            now = max(now, self.arrivals[self.taken][0])
            packet = self._dequeue(now)
            if packet is None:
                continue
            now += -(-packet[2] * 8 * 1_000_000_000 // self.rate)
        return self.dropped

    def _backlog(self, now: int) -> int:
        waiting = 0
        for arrival, _, size in self.arrivals[self.taken :]:
            if arrival > now:
                break
            waiting += size
        return waiting

    def _do_dequeue(self, now: int) -> tuple[tuple[int, int, int] | None, bool]:
        if self.taken == len(self.arrivals) or self.arrivals[self.taken][0] > now:
            self.first_above = 0
            return None, False
        packet = self.arrivals[self.taken]
        self.taken += 1
        if now - packet[0] < self.TARGET or self._backlog(now) <= self.MTU:
            self.first_above = 0
            return packet, False
        if self.first_above == 0:
            self.first_above = now + self.INTERVAL
            return packet, False
        return packet, now >= self.first_above

    def _next(self, time: int) -> int:
        return time + int(self.INTERVAL / math.sqrt(self.count))

    def _dequeue(self, now: int) -> tuple[int, int, int] | None:
        packet, ok_to_drop = self._do_dequeue(now)
        if self.dropping:
            if not ok_to_drop:
                self.dropping = False
            while self.dropping and now >= self.drop_next and packet is not None:
                self.dropped.append(packet[1])
                self.count += 1
                packet, ok_to_drop = self._do_dequeue(now)
                if ok_to_drop:
                    self.drop_next = self._next(self.drop_next)
                else:
                    self.dropping = False
        elif ok_to_drop and packet is not None:
            self.dropped.append(packet[1])
            packet, _ = self._do_dequeue(now)
            self.dropping = True
            delta = self.count - self.last_count
            is_recent = delta > 1 and now - self.drop_next < 16 * self.INTERVAL
            self.count = delta if is_recent else 1
            self.drop_next = self._next(now)
            self.last_count = self.count
        return packet


def test_codel_drops_what_it_drops_for_the_same_arrivals(tmp_path: Path) -> None:
    """The queue's decisions follow from its own times alone, however late packets leave."""
    import polars as pl

    link = 'rate = "2 Mbps"\ndelay = "5 ms"\nqueue = { kind = "codel", limit = "1000 packets" }'
    probed = probe(tmp_path, link, count=500, size=1_000, gap_us=2_500, more="[record]\npackets = true")
    packets = api.open(probed.folder).tables.packets.filter(pl.col("link") == "path/client->server")
    came = packets.filter(pl.col("event") == "enqueue").select("t_ns", "packet", "size_bytes").rows()
    dropped = packets.filter(pl.col("event") == "drop")["packet"].to_list()
    assert len(came) == 500
    assert len(dropped) > 10
    assert dropped == CoDel(came, 2_000_000).run()
    assert len(probed.arrivals) == 500 - len(dropped)
