"""Khan et al. 2023, Computer Networks: TCP and QUIC over satellite links. Figures 4 to 8."""

from functools import partial
from pathlib import Path

from leobench.papers import two_streams, two_streams_figures
from leobench.papers.catalogue import Figure, Paper, Quick, Remark
from leobench.papers.khan2023 import figures, published

_HERE = Path(__file__).parent
_figure = partial(Figure.of, _HERE)
_streams = partial(
    _figure, measure=two_streams.delay_measures, measures=two_streams.DELAYS, words=two_streams.WORDS
)

_FIG5 = _figure(
    "fig5",
    "Fig. 5: delay and throughput of TCP and QUIC over a single LMS link, CUBIC",
    figures.fig5,
    words=figures.WORDS,
)
_FIG7 = _streams(
    "fig7", "Fig. 7: mean delay of two streams by scheduler and load", two_streams_figures.delays
)
_E2E_TCP = _figure(
    "e2e-tcp",
    "TCP end to end: delay and throughput by mean interruption, beside the authors' published means",
    published.draw,
    quick=Quick.of(3, "20 s"),
    measure=published.measures,
    measures=published.MEASURES,
    words=published.WORDS,
    extra=True,
)

PAPER = Paper(
    name="khan2023",
    citation=(
        "F. Khan, C. Hervella, L. Diez, F. Fernández, N. J. Hernández Marcano, R. H. Jacobsen, R. Agüero, "
        '"Realistic assessment of transport protocols performance over LEO-based communications", '
        "Computer Networks, 2023"
    ),
    claims=_HERE / "claims.toml",
    figures=(
        _figure(
            "fig4",
            "Fig. 4: queue, delay and congestion window over an LMS channel, queue without limit",
            figures.fig4,
            measure=figures.fig4_measures,
            measures=figures.FIG4_MEASURES,
        ),
        _FIG5,
        _FIG5.again("fig5-newreno", "Fig. 5 with NewReno instead of CUBIC"),
        _FIG5.again(
            "fig5-implementations",
            "Fig. 5 with the default controllers and windows of Linux and quic-go",
        ),
        _FIG5.again("fig5-fq-codel", "Fig. 5 with FqCoDel above the device queue"),
        _FIG5.again(
            "fig5-blocking", "Fig. 5 with these defaults and an application that makes blocking writes"
        ),
        _figure(
            "fig6",
            "Fig. 6: application buffers of two streams by scheduler and load",
            two_streams_figures.buffers,
            quick=Quick.of(3, "10 s"),
            measure=two_streams.buffer_measures,
            measures=two_streams.BUFFERS,
            words=two_streams.WORDS,
        ),
        _FIG7,
        _FIG7.again("fig7-batches", "Fig. 7 with arrivals in batches of 50 ms"),
        _FIG7.again("fig7-bdp", "Fig. 7 with a link queue of a bandwidth-delay product"),
        _streams(
            "fig8",
            "Fig. 8: delay end to end by mean interruption, RR and back-pressure",
            two_streams_figures.interruptions,
            quick=Quick.of(5, "20 s"),
            measures=(*two_streams.DELAYS, *two_streams.SPREADS),
        ),
        _streams(
            "blocking",
            "Section 5.1: delay and throughput with and without an application buffer",
            two_streams_figures.delays_and_throughputs,
            extra=True,
        ),
        _E2E_TCP,
        _E2E_TCP.again(
            "e2e-tcp-no-drops", "TCP end to end without drops, beside the authors' published means"
        ),
    ),
    remarks=(
        Remark(
            "TCP carries TLS 1.3, as QUIC always does, and neither protocol has flow-control limits, so "
            "they differ in loss recovery, pacing and headers only. `fig5-implementations` has TCP without "
            "TLS, and the windows and controllers of Linux and quic-go.",
            ("fig5",),
        ),
        Remark(
            "The application rates are the paper's, 45.33 and 2.32 Mbit/s, which it calls the average link "
            "rates. The time-weighted means of its own channel are 41.33 and 2.80 Mbit/s, so the Ka band is"
            " overloaded and the S band is not.",
            ("fig4", "fig5"),
        ),
        Remark(
            "The paper does not say whether its delay includes the wait in the sender. The claims are "
            "judged both ways.",
            ("fig5",),
        ),
        Remark(
            "A queue of 7 or 15 packets drops packets when full. In the authors' published scenarios "
            "FqCoDel above it takes these packets and drops fewer; `fig5-fq-codel` has it.",
            ("fig5",),
        ),
        Remark(
            "Flow control is unlimited except in `fig5-implementations`. The QUIC that the paper names "
            "allows 6 MB in flight per stream, and Linux's TCP 6 MiB.",
            ("fig4", "fig5"),
        ),
        Remark(
            "The link queue is that of the authors' published scenarios, 30 kB, with which CUBIC carries "
            "about 31 Mbit/s, so loads of 80 % and 100 % both exceed the capacity. `fig7-bdp` has a queue "
            "of 113 kB.",
            ("fig6", "fig7"),
        ),
        Remark(
            "Messages arrive one by one, as the paper says. The authors' published generator draws a number"
            " every 50 ms, as `fig7-batches` does.",
            ("fig6", "fig7", "fig8"),
        ),
        Remark(
            "FQ and WFQ redistribute the share that a stream cannot fill, as the paper says. Some of its "
            "statements fit schedulers that do not, which are judged as well (`no surplus`).",
            ("fig6", "fig7"),
        ),
        Remark(
            "The throughput of a stream counts to its own last delivery, and that of both to the later one,"
            " so the throughputs of the streams need not add up to it.",
            ("fig7", "blocking"),
        ),
        Remark(
            "Packets wait while the link between the satellites is interrupted. The steps of 0.1 s are ours.",
            ("fig8",),
        ),
    ),
)
