"""Mazilu et al. 2025: controllers over emulated LEO paths. Its abstract's findings, over set-ups of ours."""

from pathlib import Path

from leobench.papers.catalogue import Figure, Paper, Quick, Remark
from leobench.papers.mazilu2025 import figures

_HERE = Path(__file__).parent

PAPER = Paper(
    name="mazilu2025",
    citation=(
        'M. Mazilu, A. Valentine, G. Parisis, "Evaluating Learning Congestion control Schemes for LEO '
        'Constellations", arXiv 2510.25498, 2025'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        Figure.of(
            _HERE,
            "path",
            "Findings 1 to 3: one flow over inter-satellite links",
            figures.path,
            quick=Quick.of(2, "60 s"),
            words=figures.PATH_WORDS,
        ),
        Figure.of(
            _HERE,
            "fairness",
            "Findings 4 and 5: two flows with different round-trip times, three queues",
            figures.fairness,
            quick=Quick.of(2, "100 s"),
            words=figures.FAIRNESS_WORDS,
        ),
    ),
    remarks=(
        Remark(
            "Only the abstract was at hand. Rates, queues and durations are those of the authors' published "
            "scripts where they state them, and ours otherwise; bounds are ours.",
        ),
        Remark(
            "The path is London to New York over Starlink of March 2026, where the authors follow the orbits "
            "of a design. Its round trip is some 45 ms, theirs 84 ms: a queue of the same size is larger "
            "than its product. Forecasts are exact, where theirs err as elements of different ages do.",
            ("path",),
        ),
    ),
)
