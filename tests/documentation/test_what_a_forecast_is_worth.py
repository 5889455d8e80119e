"""The guide to forecasts says what its campaigns measure."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import pytest

from leobench.campaign import Campaign
from tests.support.paths import ROOT
from tests.support.tables import check, rows, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.tables import Means

PAGE = ROOT / "docs" / "what-a-forecast-is-worth.md"

# Rows of the tables, and the ends of the names of their variants; none for a sender without forecasts.
QUALITIES = {
    "none": "",
    "exact, every second, 15 s ahead": "-exact",
    "1 s ahead": "-1-s-ahead",
    "100 ms ahead, every 100 ms": "-100-ms-ahead",
    "every 5 s": "-every-5-s",
    "every 15 s": "-every-15-s",
    "times wrong by 20 ms": "-wrong-by-20-ms",
    "times wrong by 100 ms": "-wrong-by-100-ms",
    "times wrong by 500 ms": "-wrong-by-500-ms",
    "times wrong by 2 s": "-wrong-by-2-s",
}
RATES = {
    "rates wrong by 2 %": "-rate-0-02",
    "rates wrong by 10 %": "-rate-0-1",
    "rates wrong by 30 %": "-rate-0-3",
}

# Rows and variants over the chain.
CHAIN = {
    "`olia`": "olia",
    "`maco` without the store": "maco-without",
    "`maco` without the filter": "maco-unfiltered",
    "`maco` without quick start": "maco-without-quick-start",
    "`maco` that takes every loss for congestion": "maco-unaware",
    "`maco`, at once, every 100 ms": "maco-exact",
    "every 1 s": "maco-every-1-s",
    "every 5 s": "maco-every-5-s",
    "every 15 s": "maco-every-15-s",
    "300 ms late": "maco-late-300-ms",
    "1 s late": "maco-late-1-s",
    "5 s late": "maco-late-5-s",
    "15 s late": "maco-late-15-s",
    "SNR wrong by 1 dB": "maco-snr-1",
    "SNR wrong by 3 dB": "maco-snr-3",
    "SNR wrong by 10 dB": "maco-snr-10",
    "SNR wrong by 30 dB": "maco-snr-30",
}

# Users of forecasts, and the same without one.
WITHOUT = {"hold": "cubic", "window": "cubic", "satcp": "tcp-cubic", "leocc": "bbr"}


def of(user: str, end: str) -> str:
    """The variant of a user of forecasts of some quality."""
    return user + end if end else WITHOUT.get(user, user)


def one_path(means: Means, flow: str, *, window: bool) -> dict[str, list[str]]:
    """Packets lost to handovers and Mbit/s by user; of `window` the 95 % quantile of the RTT and Mbit/s."""
    table = {}
    users = ("window",) if window else ("hold", "satcp", "leocc")
    kept = dict(list(QUALITIES.items())[:6]) | RATES if window else QUALITIES
    first = ("rtt_ms.p95", 0) if window else ("dropped_packets.handover", 0)
    for row, end in kept.items():
        cells = []
        for user in users:
            name = of(user, end)
            cells += [
                shown(means[name, f"{flow}.{first[0]}"], 1.0, first[1]),
                shown(means[name, f"{flow}.goodput_bps"], 1e-6, 2),
            ]
        table[row] = cells
    return table


def several_paths(means: Means) -> dict[str, list[str]]:
    """Late voice frames, the 99 % quantile of the delay of video, and the use of the second link in %."""
    table = {}
    for row, end in QUALITIES.items():
        cells = []
        for user, without in (("make_before_break", "standby"), ("earliest_arrival", "earliest_arrival")):
            name = user + end if end else without
            cells += [
                shown(means[name, "flows.main.streams.voice.late_messages"], 1.0, 1),
                shown(means[name, "flows.main.streams.video.delay_ms.p99"], 1.0, 0),
                shown(means[name, "links.leo2/van->office.utilisation"], 100.0, 0),
            ]
        table[row] = cells
    return table


def chain(means: Means) -> dict[str, list[str]]:
    """Mbit/s, reductions and the 95 % quantile of the RTT over the chain of satellites."""
    return {
        row: [
            shown(means[name, "flows.upload.goodput_bps"], 1e-6, 1),
            shown(means[name, "flows.upload.lost_packets"], 1.0, 0),
            shown(means[name, "flows.upload.rtt_ms.p95"], 1.0, 0),
        ]
        for row, name in CHAIN.items()
    }


STARLINK, EMERGENCY = "flows.download", "flows.file"
TABLES: dict[str, tuple[str, Callable[[Means], dict[str, list[str]]]]] = {
    "Over Starlink": ("forecast-starlink", partial(one_path, flow=STARLINK, window=False)),
    "A window over Starlink": ("forecast-starlink", partial(one_path, flow=STARLINK, window=True)),
    "In an emergency": ("forecast-emergency", partial(one_path, flow=EMERGENCY, window=False)),
    "Several paths": ("forecast-paths", several_paths),
    "What a sender knows of its access link": ("forecast-chain", chain),
}


def test_the_guide_names_campaigns_that_are_sound() -> None:
    named = re.findall(r"leobench sweep campaigns/(forecast-.*)\.toml", PAGE.read_text(encoding="utf-8"))
    assert named == list(dict.fromkeys(campaign for campaign, _ in TABLES.values()))
    for name in named:
        assert Campaign.load(ROOT / "campaigns" / f"{name}.toml").plan()
    for heading in TABLES:
        assert rows(PAGE, heading)


@pytest.mark.slow
@pytest.mark.parametrize("heading", TABLES)
def test_the_guide_in_full(heading: str, tmp_path: Path) -> None:
    """Every table holds what its campaign measures."""
    check(PAGE, heading, *TABLES[heading], tmp_path)
