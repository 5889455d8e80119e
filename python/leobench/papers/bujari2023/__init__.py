"""Bujari et al. 2023: uploads over TCP and QUIC from an emergency area. Figure 3."""

from pathlib import Path

from leobench.papers.bujari2023 import figures
from leobench.papers.catalogue import Figure, Paper, Quick

_HERE = Path(__file__).parent

PAPER = Paper(
    name="bujari2023",
    citation=(
        "A. Bujari, M. Franco, C. E. Palazzi, M. Quadrini, C. Roseti, F. Zampognaro, "
        '"Use of QUIC Protocol for Efficient Data Transmission over Satellite in Emergency Scenario", 2023'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        Figure.of(
            _HERE,
            "fig3",
            "Fig. 3: goodput, congestion window and RTT of an upload over TCP and QUIC, NewReno",
            figures.fig3,
            quick=Quick(2, {"flows.upload.source.size": "30 MB"}),
            measure=figures.fig3_measures,
            measures=figures.MEASURES,
            words=figures.WORDS,
        ),
    ),
    remarks=(
        "The paper does not say how long the upload of Fig. 3 lasts; here it is a file of 200 MB, which "
        "takes nearly 180 s.",
        "A queue of the bandwidth-delay product of that link is 25 kB for the round trip of the link alone, "
        "and 50 kB for that of the whole path: both are read so.",
        "TCP carries TLS 1.3, as QUIC always does, and the packets of both have 1,500 bytes. In the "
        "simulator of the paper TCP has no TLS.",
        "Nothing here is left to chance but which packet numbers QUIC skips: runs hardly differ. Intervals "
        "say how exactly this set-up was measured, not how far another packet size would move it.",
        "The paper calls one RTT slightly higher and does not say whose: QUIC's, unless read otherwise.",
    ),
)
