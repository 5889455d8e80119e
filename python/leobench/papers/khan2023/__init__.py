"""Khan et al. 2023: QUIC over LMS links. Figures 4 and 5, the QUIC half."""

from pathlib import Path

from leobench.papers.catalogue import Figure, Paper, Quick
from leobench.papers.khan2023 import figures

_HERE = Path(__file__).parent
_QUICK = Quick(replicates=5, overrides={"duration": "10 s"})

PAPER = Paper(
    name="khan2023",
    citation=(
        "F. Khan, C. Hervella, L. Diez, F. Fernández, N. J. Hernández Marcano, R. H. Jacobsen, R. Agüero, "
        '"Realistic assessment of transport protocols performance over LEO-based communications", '
        "Computer Networks, 2023"
    ),
    claims=_HERE / "claims.toml",
    figures=(
        Figure(
            name="fig4",
            title="Fig. 4: queue, delay and congestion window over an LMS channel, queue without limit",
            campaign=_HERE / "fig4.toml",
            quick=_QUICK,
            claims="fig4",
            draw=figures.fig4,
            measure=figures.fig4_measures,
        ),
        Figure(
            name="fig5",
            title="Fig. 5, QUIC: delay and throughput over a single LMS link, CUBIC",
            campaign=_HERE / "fig5.toml",
            quick=_QUICK,
            claims="fig5",
            draw=figures.fig5,
        ),
        Figure(
            name="fig5-newreno",
            title="Fig. 5, QUIC: delay and throughput over a single LMS link, NewReno",
            campaign=_HERE / "fig5-newreno.toml",
            quick=_QUICK,
            claims="fig5",
            draw=figures.fig5,
            extra=True,
        ),
    ),
    remarks=(
        "TCP is not there yet: its claims are listed as not evaluated.",
        "The application rates are the paper's, 45.33 and 2.32 Mbit/s, which it calls the average link "
        "rates. Over time its own channel averages 41.33 and 2.80 Mbit/s: the Ka band is overloaded, and the "
        "S band is not.",
        "The paper does not say whether its delay includes the wait in the sender; both readings are judged.",
        "A queue of 7 or 15 packets drops what does not fit. In the authors' published scenarios another "
        "queue, of 10,240 packets, lies above it, so that theirs hardly drops.",
        "Flow control is unlimited; the QUIC that the paper names lets 6 MB per stream be under way.",
    ),
)
