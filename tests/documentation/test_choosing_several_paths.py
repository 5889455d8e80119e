"""The guide to several paths says what its campaigns measure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leobench.campaign import Campaign
from tests.support.paths import ROOT
from tests.support.tables import check, rows, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.tables import Means

PAGE = ROOT / "docs" / "reports" / "several-paths.md"
SCHEDULERS = ("min_rtt", "round_robin", "blest", "ecf", "earliest_arrival", "redundant")
CONTROLLERS = ("newreno", "cubic", "bbr3", "lia", "olia", "balia", "wvegas")
PAIRS = {
    "two satellites": "leo-leo2",
    "satellite and terrestrial": "leo-terrestrial",
    "satellite and cellular": "leo-cellular",
    "all three kinds": "leo-terrestrial-cellular",
}
# The sender, and the receiver's window.
FILE_CASES = {
    "up": ("van", "unlimited"),
    "down": ("office", "unlimited"),
    "up, 128 kB": ("van", "128 kB"),
}
MANAGERS = {
    "`per_interface`": "per_interface,reinject=on_timeout",
    "`per_interface`, reinject `idle`": "per_interface,reinject=idle",
    "`standby`": "standby,reinject=on_timeout",
    "`make_before_break`, 1 s": "make_before_break-lead-1-s,reinject=on_timeout",
    "`make_before_break`, 200 ms": "make_before_break-lead-200-ms,reinject=on_timeout",
}
QUEUES = {"drop-tail": "fifo-limit-200-packets", "`fq_codel`": "fq_codel"}
CONTROLLER_PLACES = (
    "flows.main.transport.congestion",
    "flows.main.transport.multipath.manager",
    "flows.rival.transport.congestion",
    "links.exit.queue",
)
VIDEO = "flows.main.streams.video"


def names_of(campaign: str, places: tuple[str, ...]) -> dict[tuple[str, ...], str]:
    """The variants of a campaign by what they set at some places: long names are cut."""
    loaded = Campaign.load(ROOT / "campaigns" / f"{campaign}.toml")
    return {
        tuple(str(variant.overrides[place]) for place in places): variant.name for variant in loaded.variants
    }


def file(means: Means) -> dict[str, list[str]]:
    """Goodput of a file in Mbit/s."""
    several = "flows.main.transport.multipath"
    window = "flows.main.transport.connection_window"
    names = names_of("paths-file", (f"{several}.links", f"{several}.scheduler", "flows.main.from", window))
    table = {}
    for pair, links in PAIRS.items():
        for case, ends in FILE_CASES.items():
            table[f"{pair}, {case}"] = [
                shown(means[names[str(links.split("-")), name, *ends], "flows.main.goodput_bps"], 1e-6, 1)
                for name in SCHEDULERS
            ]
    return table


def page(means: Means) -> dict[str, list[str]]:
    """Seconds until a page is complete."""
    metric = "flows.main.page.completion_s"
    return {
        pair: [shown(means[f"links={links},scheduler={name}", metric], 1.0, 2) for name in SCHEDULERS]
        for pair, links in PAIRS.items()
    }


def call(means: Means) -> dict[str, list[str]]:
    """95th percentile of the delay of a call's video frames, in ms."""
    metric = f"{VIDEO}.delay_ms.p95"
    return {
        pair: [shown(means[f"links={links},scheduler={name}", metric], 1.0, 0) for name in SCHEDULERS]
        for pair, links in PAIRS.items()
    }


def call_beside_file(means: Means) -> dict[str, list[str]]:
    """The same beside a file, by the queue of the cellular link."""
    metric = f"{VIDEO}.delay_ms.p95"
    pairs = [
        ("satellite and terrestrial", "leo-terrestrial", "drop-tail"),
        ("satellite and cellular, drop-tail", "leo-cellular", "drop-tail"),
        ("satellite and cellular, `fq_codel`", "leo-cellular", "`fq_codel`"),
    ]
    return {
        row: [
            shown(means[f"links={links},scheduler={name},queue={QUEUES[queue]}", metric], 1.0, 0)
            for name in ("min_rtt", "earliest_arrival", "redundant")
        ]
        for row, links, queue in pairs
    }


def managers(means: Means) -> dict[str, list[str]]:
    """Late frames, the 99th percentile of their delay, and the use of either second link in %."""
    table = {}
    for manager, variant in MANAGERS.items():
        cells = []
        for second in ("terrestrial", "leo2"):
            name = f"links=leo-{second},manager={variant}"
            cells += [
                shown(means[name, f"{VIDEO}.late_messages"], 1.0, 0),
                shown(means[name, f"{VIDEO}.delay_ms.p99"], 1.0, 0),
                shown(means[name, f"links.{second}/van->office.utilisation"], 100.0, 0),
            ]
        table[manager] = cells
    return table


def controllers(means: Means) -> dict[str, list[str]]:
    """Mbit/s of the connection with two paths and of its rival."""
    names = names_of("paths-controllers", CONTROLLER_PLACES)
    rows = {"one path, `newreno`": ("newreno", "standby")}
    rows |= {f"`{name}`": (name, "per_interface") for name in CONTROLLERS}
    table = {}
    for row, own in rows.items():
        cells = []
        for queue in (str({"kind": "fifo", "limit": "125 kB"}), "fq_codel"):
            for rival in ("newreno", "cubic", "bbr3"):
                name = names[(*own, rival, queue)]
                pair = [means[name, f"flows.{flow}.goodput_bps"] for flow in ("main", "rival")]
                cells.append(" : ".join(f"{1e-6 * each.mean:.1f}" for each in pair))
        table[row] = cells
    return table


# The table of each section, and its campaign.
TABLES: dict[str, tuple[str, Callable[[Means], dict[str, list[str]]]]] = {
    "A file": ("paths-file", file),
    "A page": ("paths-page", page),
    "A call": ("paths-call", call),
    "A call beside a file": ("paths-call-file", call_beside_file),
    "A link that is interrupted": ("paths-managers", managers),
    "Beside others": ("paths-controllers", controllers),
}


def test_the_guide_names_campaigns_that_are_sound() -> None:
    named = re.findall(r"leobench sweep campaigns/(paths-.*)\.toml", PAGE.read_text(encoding="utf-8"))
    assert named == [campaign for campaign, _ in TABLES.values()]
    for name in named:
        assert Campaign.load(ROOT / "campaigns" / f"{name}.toml").plan()
    for heading in TABLES:
        assert rows(PAGE, heading)


@pytest.mark.slow
@pytest.mark.parametrize("heading", TABLES)
def test_the_guide_in_full(heading: str, tmp_path: Path) -> None:
    """Every table holds what its campaign measures."""
    check(PAGE, heading, *TABLES[heading], tmp_path)
