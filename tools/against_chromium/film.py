"""A film over a link whose rate steps down and up, in dash.js in Chromium and by the model's `dynamic`."""

from __future__ import annotations

import itertools
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from leobench.errors import InputError, RunError
from tools.against_chromium import browser, footage, pages, report, sessions, watch

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

PORT = "8443"
DASHJS = "package/dist/modern/umd/dash.all.min.js"
HEADER = ("", "ours", "dash.js", "difference", "emulation")
# Milliseconds without a picture that a viewer may notice; `waiting` may also come for one or two.
STALL_MS = 100
# From the start of the network. The browser needs the first ten seconds.
STEPS = [
    {"at": "0 s", "rate": "6 Mbps", "delay": "25 ms"},
    {"at": "50 s", "rate": "1.5 Mbps"},
    {"at": "90 s", "rate": "6 Mbps"},
]
LINK = {
    "path": {"channel": {"kind": "schedule", "steps": STEPS}, "queue": {"kind": "fifo", "limit": "100 kB"}}
}


@dataclass(frozen=True)
class Watched:
    """The experience of a viewer.

    Attributes:
        bitrate_bps: The mean bitrate of the segments, by length.
        stalls: How often the picture stood still.
        stalled_s: How long in all.
        switches: How often two segments in a row had different bitrates.
    """

    bitrate_bps: float
    stalls: int
    stalled_s: float
    switches: int


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("--dashjs", type=Path, required=True, help="unpacked `npm pack dashjs@5`")
    parser.add_argument("--views", type=int, default=5, help="how often the film is watched (default: 5)")
    parser.add_argument(
        "--no-replacing", action="store_true", help="neither player replaces segments by better ones"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/against-chromium"), help="folder of the film"
    )


def run(args: argparse.Namespace) -> None:
    """Compares, and prints a table."""
    browser.program()
    script = player(args.dashjs)
    folder = args.out / "film"
    footage.make(folder)
    pairs, told = sessions.until_valid(
        "film", args.views, lambda seed: compare(folder, script, seed, args.out, not args.no_replacing)
    )
    print(report.table(HEADER, rows(pairs, told)), end="")


def compare(
    folder: Path, script: Path, seed: int, out: Path, replaces: bool
) -> tuple[sessions.Real, tuple[Watched, Watched]]:
    """A view by the model and one in dash.js, whose segments are written to files."""
    session, theirs = watched(folder, script, seed, replaces)
    start_s = session.wrote["started_ms"] / 1e3 - session.started_s
    ours, segments = modelled(folder, start_s, seed, replaces)
    segments.write_csv(out / f"film-{seed}-ours.csv")
    pl.DataFrame(session.wrote["segments"]).write_csv(out / f"film-{seed}-dashjs.csv")
    return session, (ours, theirs)


def player(folder: Path) -> Path:
    """The player's script.

    Raises:
        InputError: If it is not there.
    """
    script = folder / DASHJS
    if not script.is_file():
        raise InputError(f"--dashjs = {folder}: has no {DASHJS}; unpack `npm pack dashjs@5` there")
    return script


def rows(pairs: list[tuple[Watched, Watched]], told: str) -> list[list[str]]:
    """The rows of the table: medians, and the extremes of dash.js."""
    made = []
    for name, key, scale in (
        ("bitrate (Mbit/s)", "bitrate_bps", 1e-6),
        ("stalls", "stalls", 1),
        ("stalled (s)", "stalled_s", 1),
        ("switches", "switches", 1),
    ):
        ours, theirs = ([scale * float(getattr(pair[place], key)) for pair in pairs] for place in (0, 1))
        if not pairs:
            made.append([name, "", "", "", told])
            continue
        first, second = statistics.median(ours), statistics.median(theirs)
        difference = (
            f"{100 * (first / second - 1):+.0f} %" if key == "bitrate_bps" else f"{first - second:+.3g}"
        )
        spread = f"{second:.3g} ({min(theirs):.3g} to {max(theirs):.3g})"
        made.append([name, f"{first:.3g}", spread, difference, told])
    return made


def watched(folder: Path, script: Path, seed: int, replaces: bool) -> tuple[sessions.Real, Watched]:
    """The film in dash.js, which may replace segments by better ones."""
    words = (str(script.absolute()), "replace" if replaces else "keep")
    url = f"https://{sessions.FAR}:{PORT}/{footage.MANIFEST}"
    session = sessions.real(
        sessions.scenario(LINK),
        seed,
        lambda meeting: [
            (sessions.FAR, ("serve", "h2", PORT, str(folder.absolute()), str(meeting / "ready"))),
            (
                sessions.NEAR,
                ("watch", url, *words, str(meeting / "ready"), str(meeting / "out")),
            ),
        ],
    )
    return session, seen(session.wrote)


def seen(told: Mapping[str, Any]) -> Watched:
    """Numbers of what the page has told of a film; one that was loaded again counts by its last bitrate.

    Raises:
        RunError: If no segment came.
    """
    last = {each["index"]: each for each in told["segments"]}
    segments = [last[index] for index in sorted(last)]
    if not segments:
        raise RunError("the film had no segments")
    stalls = [end - start for start, end in told["stalls"] if end - start >= STALL_MS]
    length = sum(each["duration"] for each in segments)
    rates = [each["bitrate"] for each in segments]
    return Watched(
        bitrate_bps=sum(each["bitrate"] * each["duration"] for each in segments) / length,
        stalls=len(stalls),
        stalled_s=sum(stalls) / 1e3,
        switches=sum(first != second for first, second in itertools.pairwise(rates)),
    )


def modelled(folder: Path, start_s: float, seed: int, replaces: bool) -> tuple[Watched, pl.DataFrame]:
    """The film by the model, whose player may replace segments by better ones, and its segments.

    Raises:
        RunError: If nothing was played.
    """
    video: dict[str, Any] = {
        "manifest": footage.MANIFEST,
        "adaptation": "dynamic",
        "most_buffer": f"{watch.MOST_BUFFER_S} s",
        "abandons": True,
    }
    if replaces:
        # dash.js 5.2.1 replaces the segment at the picture, too.
        video["replaces_beyond"] = "0 s"
    flow = {
        "transport": pages.TCP,
        "from": sessions.FAR,
        "to": sessions.NEAR,
        "opened_by": "to",
        "start": f"{start_s:.3f} s",
        "video": video,
    }
    spec = sessions.scenario(LINK, flow, f"{start_s + 3 * footage.LENGTH_S:.3f} s") | {"until": "drained"}
    with tempfile.TemporaryDirectory() as out:
        result = sessions.virtual(spec, seed, folder, Path(out))
        segments = result.tables.segments.sort("t_ns")
    video_seen = result.summary.flows["main"].video
    if video_seen is None or video_seen.bitrate_bps is None:
        raise RunError("the model played nothing")
    ours = Watched(video_seen.bitrate_bps, video_seen.stalls, video_seen.stalled_s, video_seen.switches)
    return ours, segments
