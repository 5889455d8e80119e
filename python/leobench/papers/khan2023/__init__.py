"""Khan et al. 2023, Computer Networks: TCP and QUIC over satellite links. Figures 4 to 8."""

from functools import partial
from pathlib import Path

from leobench.papers import two_streams, two_streams_figures
from leobench.papers.catalogue import Figure, Paper, Quick
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
            "Fig. 5 with the controllers and windows that Linux and quic-go have unless told otherwise",
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
        _figure(
            "e2e-tcp",
            "TCP end to end: delay and throughput by mean interruption, beside the authors' published means",
            published.draw,
            quick=Quick.of(3, "20 s"),
            measure=published.measures,
            measures=published.MEASURES,
            words=published.WORDS,
            extra=True,
        ),
    ),
    remarks=(
        "Fig. 5: TCP carries TLS 1.3, as QUIC always does, and neither protocol has a limit of flow control: "
        "what tells them apart is loss recovery, pacing and headers. `fig5-implementations` has TCP without "
        "TLS, and the windows and controllers of Linux and quic-go.",
        "The application rates are the paper's, 45.33 and 2.32 Mbit/s, which it calls the average link "
        "rates. Over time its own channel averages 41.33 and 2.80 Mbit/s: the Ka band is overloaded, and the "
        "S band is not.",
        "The paper does not say whether its delay includes the wait in the sender; the claims about Fig. 5 "
        "are judged both ways.",
        "A queue of 7 or 15 packets drops what does not fit. In the authors' published scenarios another "
        "queue, of 10,240 packets, lies above it, so that theirs hardly drops.",
        "Flow control is unlimited but for `fig5-implementations`; the QUIC that the paper names lets 6 MB "
        "per stream be under way, and the TCP of Linux 6 MiB.",
        "Figs. 6 and 7 have the link queue of the authors' published scenarios, 30 kB, with which CUBIC "
        "carries some 31 Mbit/s: their loads of 80 % and 100 % are both more than that. `fig7-bdp` has a "
        "queue of 113 kB.",
        "Messages arrive one by one, as the paper says; the authors' published generator draws a number "
        "every 50 ms, as `fig7-batches` does.",
        "FQ and WFQ give away what a stream leaves of its share, as the paper says; some of its remarks fit "
        "schedulers that do not, which are judged besides (`no surplus`).",
        "The throughput of a stream counts to its own last delivery, and that of both to the later one: "
        "those of the streams need not add up to it.",
        "Fig. 8: packets wait while the link between the satellites is interrupted; steps of 0.1 s are ours.",
    ),
)
