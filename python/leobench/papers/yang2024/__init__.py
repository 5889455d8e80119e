"""Yang et al. 2024: MACO, coupled congestion control over a chain of satellites. Figures 8 to 13."""

from functools import partial
from pathlib import Path

from leobench.papers.catalogue import Figure, Paper, Quick, Remark
from leobench.papers.yang2024 import figures, measures

_HERE = Path(__file__).parent
_figure = partial(Figure.of, _HERE, words=figures.WORDS)
_transfer = partial(
    _figure,
    measure=measures.of_transfer,
    measures=measures.TRANSFER,
    quick=Quick(2, {"flows.upload.source.size": "2 MB"}),
)

PAPER = Paper(
    name="yang2024",
    citation=(
        'W. Yang, L. Cai, S. Shu, J. Pan, "Mobility-Aware Congestion Control for Multipath QUIC in '
        'Integrated Terrestrial Satellite Networks", IEEE Transactions on Mobile Computing, 2024'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        _figure(
            "fig8-11",
            "Figs. 8 to 11: windows, throughput, delays and recoveries over a chain of satellites",
            figures.over_time,
            quick=Quick(2, {"duration": "50 s"}),
            measure=measures.of_series,
            measures=measures.SERIES,
        ),
        _transfer("fig12", "Fig. 12: a file by bandwidth and spacing", figures.by_bandwidth),
        _transfer("fig13", "Fig. 13: a file by propagation delay and spacing", figures.by_delay),
    ),
    remarks=(
        Remark(
            "The transmit power is 35.46 dBm, with which equations 2 and 3 give 200 Mbit/s at 550 km; with "
            "the printed 35.12 dBm they give 198.6 Mbit/s.",
        ),
        Remark(
            "The paper does not say how many TCP flows there are. Here one takes the way of either subflow, "
            "so that all meet in the queue of a satellite that both subflows use.",
        ),
        Remark(
            "Random loss of 8e-6 is that of the authors' published scenarios. It is the only random element "
            "of these runs, so an interval shows the precision for this set-up.",
            ("fig8-11",),
        ),
        Remark(
            "A satellite's queue is a FIFO of the bandwidth-delay product, and what waits in it for a link "
            "is lost at that link's handover. The paper says neither.",
        ),
        Remark(
            "The delay of a packet is its round-trip sample less the way back, which has no queue; with "
            "acknowledgements every 20 packets it contains their wait.",
            ("fig8-11",),
        ),
        Remark(
            "A recovery is counted if the window comes back to 95 % of the bandwidth-delay product before "
            "the next loss; a claim about recoveries that never do cannot be told.",
            ("fig8-11",),
        ),
        Remark(
            "The file starts 5 s after TCP, at a random phase of the chain's cycle. The paper's own set-up "
            "would have it done within its first state.",
            ("fig12", "fig13"),
        ),
    ),
)
