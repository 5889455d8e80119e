"""leobench's QUIC and aioquic, which was written by others, understand each other."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.quic.meetings import Meeting
from tests.quic.plans import NAMES, draw

# What must have happened in any set of meetings that is worth the name.
EVERYTHING = [
    "meetings",
    "bytes",
    "datagrams lost",
    "datagrams repeated",
    "datagrams damaged",
    "datagrams overtaken",
    "meetings with a large certificate",
    *(
        f"{what}: {name}"
        for what in (
            "meetings with this client",
            "meetings with 64 streams from",
            "meetings with a window below 4 kB at",
            "meetings with huge windows at",
            "streams that ended at",
            "RESET_STREAM arrived at",
            "STOP_SENDING arrived at",
            "connections that ended by application at",
            "connections that ended by idle at",
            "key updates by",
            "unreliable datagrams arrived at",
            "connections after a Retry by",
        )
        for name in NAMES
    ),
]


def hold(seeds: range, size: int) -> Counter[str]:
    """Holds the meetings with these seeds; a failure names the seed, which `MEETING` repeats."""
    tally: Counter[str] = Counter()
    for seed in seeds:
        plan = draw(seed, size)
        try:
            Meeting(plan, tally).hold()
        except Exception as error:
            raise AssertionError(f"MEETING={seed}: {error!r} in {plan}"[:2_000]) from error
    for what in EVERYTHING:
        assert tally[what] > 0, f"no meeting had: {what}"
    return tally


def test_meetings() -> None:
    hold(range(80), 20_000)


@pytest.mark.slow
def test_500_meetings(capsys: pytest.CaptureFixture[str]) -> None:
    tally = hold(range(1_000, 1_500), 100_000)
    with capsys.disabled():
        for what in EVERYTHING:
            print(f"{tally[what]:>12} {what}")  # noqa: T201


@pytest.mark.skipif("MEETING" not in os.environ, reason="repeats the meeting that MEETING names")
def test_one_meeting() -> None:
    seed = int(os.environ["MEETING"])
    Meeting(draw(seed, 20_000 if seed < 1_000 else 100_000), Counter()).hold()
