"""Khan et al. 2023, the Spanish paper: Figure 7, four schedulers end to end."""

from pathlib import Path

from leobench.papers import two_streams, two_streams_figures
from leobench.papers.catalogue import Figure, Paper, Quick, Remark

_HERE = Path(__file__).parent

PAPER = Paper(
    name="khan2023es",
    citation=(
        'F. Khan, F. Fernández, L. Diez, R. Agüero, "Estrategias de scheduling sobre QUIC en entornos '
        'NTN", 2023'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        Figure.of(
            _HERE,
            "fig7",
            "Fig. 7: delay end to end by mean interruption, four schedulers",
            two_streams_figures.interruptions,
            quick=Quick.of(5, "20 s"),
            measure=two_streams.delay_measures,
            measures=(*two_streams.DELAYS, *two_streams.SPREADS),
            words=two_streams.WORDS,
        ),
    ),
    remarks=(
        Remark(
            "The other figures are those of the English paper (khan2023). The 27 and 15 Mbit/s that this "
            "paper gives for a load of 80 % are neither 80 % nor 2 to 1; the English paper has 24 and 12.",
        ),
        Remark(
            "Packets wait while the link between the satellites is interrupted. The steps of 0.1 s are ours.",
        ),
    ),
)
