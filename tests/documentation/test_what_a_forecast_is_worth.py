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

PAGE = ROOT / "docs" / "reports" / "what-a-forecast-is-worth.md"

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

# Rows and variants of reports on the access link.
REPORTS = {
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
    "times wrong by 500 ms": "maco-wrong-by-500-ms",
    "times wrong by 2 s": "maco-wrong-by-2-s",
}

# Users of forecasts, and the same without one.
WITHOUT = {
    "hold": "cubic",
    "window": "cubic",
    "satcp": "tcp-cubic",
    "leocc": "bbr",
    "make_before_break": "standby",
}


def variant(user: str, end: str) -> str:
    """The variant of a user of forecasts of some quality."""
    return user + end if end else WITHOUT.get(user, user)


def one_path(means: Means, flow: str) -> dict[str, list[str]]:
    """Packets lost to handovers and Mbit/s, by user."""
    return {
        row: [
            cell
            for name in (variant(user, end) for user in ("hold", "satcp", "leocc"))
            for cell in (
                shown(means[name, f"{flow}.dropped_packets.handover"], 1.0, 0),
                shown(means[name, f"{flow}.goodput_bps"], 1e-6, 2),
            )
        ]
        for row, end in QUALITIES.items()
    }


def window(means: Means, flow: str) -> dict[str, list[str]]:
    """The 95 % quantile of the RTT and Mbit/s of a sender whose window a forecast limits."""
    return {
        row: [
            shown(means[variant("window", end), f"{flow}.rtt_ms.p95"], 1.0, 0),
            shown(means[variant("window", end), f"{flow}.goodput_bps"], 1e-6, 2),
        ]
        for row, end in (dict(list(QUALITIES.items())[:6]) | RATES).items()
    }


def several_paths(means: Means, flow: str, link: str) -> dict[str, list[str]]:
    """Late voice frames, the 99 % quantile of the delay of video, and the use of the second link in %."""
    return {
        row: [
            cell
            for name in (variant(user, end) for user in ("make_before_break", "earliest_arrival"))
            for cell in (
                shown(means[name, f"{flow}.streams.voice.late_messages"], 1.0, 1),
                shown(means[name, f"{flow}.streams.video.delay_ms.p99"], 1.0, 0),
                shown(means[name, f"links.{link}.utilisation"], 100.0, 0),
            )
        ]
        for row, end in QUALITIES.items()
    }


def reports(means: Means, flow: str, beside: tuple[str, ...]) -> dict[str, list[str]]:
    """Mbit/s, lost packets and the 95 % quantile of the RTT: other controllers, and by reports."""
    names = {f"`{name}`": name for name in beside} | REPORTS
    return {
        row: [
            shown(means[name, f"{flow}.goodput_bps"], 1e-6, 1),
            shown(means[name, f"{flow}.lost_packets"], 1.0, 0),
            shown(means[name, f"{flow}.rtt_ms.p95"], 1.0, 0),
        ]
        for row, name in names.items()
        if (name, f"{flow}.goodput_bps") in means
    }


ONE_PATH = ("newreno", "cubic", "bbr")
DOWNLOAD, FILE, UPLOAD, CALL = "flows.download", "flows.file", "flows.upload", "flows.main"
TABLES: dict[str, tuple[str, Callable[[Means], dict[str, list[str]]]]] = {
    "Over Starlink": ("forecast-starlink", partial(one_path, flow=DOWNLOAD)),
    "Over a chain of satellites": ("forecast-chain-sender", partial(one_path, flow=UPLOAD)),
    "In an emergency": ("forecast-emergency", partial(one_path, flow=FILE)),
    "A window over Starlink": ("forecast-starlink", partial(window, flow=DOWNLOAD)),
    "A window over the chain": ("forecast-chain-sender", partial(window, flow=UPLOAD)),
    "A window in the emergency": ("forecast-emergency", partial(window, flow=FILE)),
    "Several paths": ("forecast-paths", partial(several_paths, flow=CALL, link="leo2/van->office")),
    "Several paths over the chain": (
        "forecast-chain-paths",
        partial(several_paths, flow=UPLOAD, link="second/terminal->server"),
    ),
    "Several paths in the emergency": (
        "forecast-emergency-paths",
        partial(several_paths, flow=CALL, link="terrestrial/van->office"),
    ),
    "Reports on the access link over the chain": (
        "forecast-chain",
        partial(reports, flow=UPLOAD, beside=("olia",)),
    ),
    "Reports on the access link over Starlink": (
        "forecast-starlink-access",
        partial(reports, flow=DOWNLOAD, beside=ONE_PATH),
    ),
    "Reports on the access link in the emergency": (
        "forecast-emergency-access",
        partial(reports, flow=UPLOAD, beside=ONE_PATH),
    ),
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
