"""Kassing et al. 2020: Hypatia. Round trips and TCP over lasers, and what changes them."""

from pathlib import Path

from leobench.papers.catalogue import Figure, Paper, Quick, Remark
from leobench.papers.hypatia2020 import figures, measures, over_hops

_HERE = Path(__file__).parent

PAPER = Paper(
    name="hypatia2020",
    citation=(
        'S. Kassing, D. Bhattacherjee, A. B. Aguas, J. E. Saethre, A. Singla, "Exploring the Internet from '
        'space with Hypatia", ACM IMC 2020'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        Figure.of(
            _HERE,
            "fig3-5",
            "Figs. 3 to 5: round trips between pairs of cities, and TCP between them",
            figures.over_time,
            quick=Quick.of(2, "60 s"),
            measure=measures.of_pair,
            measures=measures.PAIR,
            words=figures.PAIR_WORDS,
        ),
        Figure.of(
            _HERE,
            "fig6-7",
            "Figs. 6 to 8: round trips and ways between 50 pairs of cities over three constellations",
            figures.of_pairs,
            quick=Quick.of(5, "20 s"),
            measure=measures.of_pairs,
            measures=measures.PAIRS,
            words=figures.PAIRS_WORDS,
        ),
        Figure.of(
            _HERE,
            "fig10",
            "Fig. 10: capacity that is left unused beside the traffic of other cities",
            figures.unused_rate,
            quick=Quick.of(2, "20 s"),
            measure=over_hops.of_cross,
            measures=over_hops.CROSS,
            words=figures.CROSS_WORDS,
        ),
    ),
    remarks=(
        Remark(
            "Only the abstract was at hand. Set-ups and numbers are those of the authors' published code and "
            "reference data, which make the paper's figures.",
        ),
        Remark(
            "Packets of 1,432 bytes pass hops without framing; ns-3's have two bytes more. Datagrams of "
            "30 kbit/s beside the flow make runs differ.",
            ("fig3-5",),
        ),
        Remark(
            "50 pairs of the paper's 4,950, each city once. Replicate k of n judges every n-th pair: an "
            "interval is one over pairs, as nothing is random.",
            ("fig6-7",),
        ),
        Remark(
            "Hypatia limits links to the ground by a length over flat ground. On the round Earth, Telesat's "
            "10 degrees become 16 degrees below the horizon; here satellites are at 5 degrees at least.",
            ("fig6-7",),
        ),
        Remark(
            "Each replicate draws other pairs of 92 cities; the authors draw 43 pairs once. Cities within "
            "2,100 km of an end are left out, there pairs whose ways share a satellite with an end.",
            ("fig10",),
        ),
    ),
)
