"""Weaknesses that papers and kernels know: over the paths that attacks found, and, slowly, by attacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from leobench.attack import attack, evaluate, shrink, write
from leobench.attack.goals import GOALS, Seen
from leobench.attack.space import Event, Path
from leobench.candidate import Candidate, Transport

if TYPE_CHECKING:
    import pathlib

HYSTART = '{ kind = "cubic", slow_start = "hystart" }'
# A fade to a quarter in slow start; frames as long as a quarter of the round trip.
FADE = Path(20, 40, 50, (Event("fade", 0.4, (("length", 3_000.0), ("rate", 0.25))),))
FRAMES = Path(30, 38.6, 500, (Event("frames", 0.0, (("period", 20.0), ("wait", 10.0))),))

# An outage when BBR's shortest round trip is ten seconds old, and the loss of the probe that follows.
UNLUCKY = Path(
    10,
    17.6,
    30,
    (Event("outage", 10.005, (("length", 1_270.0),)), Event("loss", 13.5, (("length", 50.0),))),
)


def seen(controller: str, path: Path, transport: Transport = "tcp") -> Seen:
    candidate = Candidate.parse(controller, transport)
    return evaluate.look(write.scenario(path, candidate, GOALS["starve"], 1), candidate)


def test_bbr_takes_a_fade_for_a_policer() -> None:
    """`bbr_lt_bw_sampling` of Linux paces at the long-term rate for 48 round trips, here of 80 ms."""
    run = seen("bbr", FADE)
    stuck = (run.times > 3.7) & (run.times < 6.0)
    rate_mbps = float(run.delivered[stuck].sum()) * 8 / 1e6 / 2.3
    assert rate_mbps < 0.27 * 20
    # Without losses to tell it from, BBR would probe the path within eight round trips.
    later = run.times > 17
    assert float(run.delivered[later].sum()) > 0.8 * float(run.offered[later].sum())


def test_one_loss_in_probe_rtt_stalls_bbr() -> None:
    """As in CC-Fuzz (HotNets 2022), a loss at the wrong moment costs seconds.

    After the outage, PROBE_RTT allows four packets while those that it took count as in flight, so that only
    a probe timeout can send. One round trip over the outage makes it 2.2 s; the next is twice as long.
    """
    stall = GOALS["stall"].measure
    assert stall(seen("bbr", UNLUCKY, "quic")) == pytest.approx(2.2 + 2 * 2.2, abs=0.5)
    assert stall(seen("cubic", UNLUCKY, "quic")) < 0.5
    without = replace(UNLUCKY, events=UNLUCKY.events[:1])
    assert stall(seen("bbr", without, "quic")) == pytest.approx(2.2, abs=0.1)


def test_hystart_leaves_slow_start_early_over_frames() -> None:
    """Waits for frames look like a queue: round trips increase by more than an eighth."""
    early, standard = seen(HYSTART, FRAMES), seen("cubic", FRAMES)
    soon = early.times < 5
    bdp = 30e6 / 8 * 0.0772
    assert float(np.max(early.cwnd[soon])) < 0.8 * bdp
    assert float(np.max(standard.cwnd[soon])) > 1.5 * bdp
    assert GOALS["starve"].measure(early) > GOALS["starve"].measure(standard) + 0.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("controller", "against", "events", "least"),
    [
        ("bbr", None, ["loss", "outage", "reconfiguration", "fade"], 0.4),
        (HYSTART, "cubic", ["frames", "reconfiguration"], 0.3),
    ],
)
def test_attacks_find_them(
    controller: str, against: str | None, events: list[str], least: float, tmp_path: pathlib.Path
) -> None:
    outcome = attack(
        Candidate.parse(controller, "tcp"),
        "starve",
        tmp_path / "out",
        against=None if against is None else Candidate.parse(against, "tcp"),
        events=events,
        evaluations=1_000,
    )
    assert outcome.search.harm > least
    assert outcome.search.harm > outcome.beside.harm
    assert outcome.small[1] >= shrink.KEPT * outcome.found[1]
