"""Zhao and Pan 2024: live video over Starlink with dash.js. Their published sessions beside ours."""

from pathlib import Path

from leobench.papers.catalogue import Figure, Paper, Quick, Remark
from leobench.papers.zhao2024 import figures, measures

_HERE = Path(__file__).parent


def _figure(name: str, title: str) -> Figure:
    return Figure.of(
        _HERE,
        name,
        title,
        figures.draw(name),
        quick=Quick(3, {"flows.stream.video.length": "120 s"}),
        measure=measures.of_sessions,
        measures=measures.NAMES,
        words=figures.WORDS,
    )


PAPER = Paper(
    name="zhao2024",
    citation=(
        'J. Zhao, J. Pan, "Low-Latency Live Video Streaming over a Low-Earth-Orbit Satellite Network with '
        'DASH", ACM MMSys 2024'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        _figure("starlink", "Live streams over Starlink, by the player's target of latency"),
        _figure("terrestrial", "The same over a wired path"),
    ),
    remarks=(
        Remark(
            "The text of the paper was not at hand: claims are about the sessions that its authors "
            "published (10 of 300 s each, CC BY-SA 4.0), whose means are in sessions.csv. A range is two "
            "standard deviations of a session about their mean, or 5 % of it where that is more, unless "
            "the claim says otherwise.",
        ),
        Remark(
            "Segments have 1.92 s, as the test content has where it is described, and no chunks. Delay "
            "and loss are those of the authors' pings in Seattle; the capacity is ours. Bitrates are "
            "those that segments were asked for in.",
        ),
        Remark(
            "The authors' own algorithm (CMAB) and LoL+ are not built in. Players here load no audio, and "
            "never leave out content that they are far behind of.",
        ),
    ),
)
