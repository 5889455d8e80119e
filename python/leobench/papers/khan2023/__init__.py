"""Khan et al. 2023, Computer Networks: TCP and QUIC over satellite links. Figures 4 to 8."""

from dataclasses import replace
from pathlib import Path

from leobench.papers import two_streams, two_streams_figures
from leobench.papers.catalogue import Figure, Paper, Quick
from leobench.papers.khan2023 import figures

_HERE = Path(__file__).parent
_QUICK = Quick(replicates=5, overrides={"duration": "10 s"})

_FIG5 = Figure(
    name="fig5",
    title="Fig. 5: delay and throughput of TCP and QUIC over a single LMS link, CUBIC",
    campaign=_HERE / "fig5.toml",
    quick=_QUICK,
    claims=("fig5",),
    draw=figures.fig5,
    words=figures.WORDS,
)
_FIG6 = Figure(
    name="fig6",
    title="Fig. 6: application buffers of two streams by scheduler and load",
    campaign=_HERE / "fig6.toml",
    quick=Quick(replicates=3, overrides={"duration": "10 s"}),
    claims=("fig6",),
    draw=two_streams_figures.buffers,
    measure=two_streams.buffer_measures,
    words=two_streams.WORDS,
)
_FIG7 = Figure(
    name="fig7",
    title="Fig. 7: mean delay of two streams by scheduler and load",
    campaign=_HERE / "fig7.toml",
    quick=_QUICK,
    claims=("fig7",),
    draw=two_streams_figures.delays,
    measure=two_streams.delay_measures,
    words=two_streams.WORDS,
)
_FIG8 = Figure(
    name="fig8",
    title="Fig. 8: delay end to end by mean interruption, RR and back-pressure",
    campaign=_HERE / "fig8.toml",
    quick=Quick(replicates=5, overrides={"duration": "20 s"}),
    claims=("fig8",),
    draw=two_streams_figures.interruptions,
    measure=two_streams.delay_measures,
    words=two_streams.WORDS,
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
        Figure(
            name="fig4",
            title="Fig. 4: queue, delay and congestion window over an LMS channel, queue without limit",
            campaign=_HERE / "fig4.toml",
            quick=_QUICK,
            claims=("fig4",),
            draw=figures.fig4,
            measure=figures.fig4_measures,
        ),
        _FIG5,
        replace(
            _FIG5,
            name="fig5-newreno",
            title="Fig. 5 with NewReno instead of CUBIC",
            campaign=_HERE / "fig5-newreno.toml",
            extra=True,
        ),
        replace(
            _FIG5,
            name="fig5-implementations",
            title="Fig. 5 with the controllers and windows that Linux and quic-go have unless told otherwise",
            campaign=_HERE / "fig5-implementations.toml",
            extra=True,
        ),
        _FIG6,
        _FIG7,
        replace(
            _FIG7,
            name="fig7-batches",
            title="Fig. 7 with arrivals in batches of 50 ms",
            campaign=_HERE / "fig7-batches.toml",
            extra=True,
        ),
        replace(
            _FIG7,
            name="fig7-bdp",
            title="Fig. 7 with a link queue of a bandwidth-delay product",
            campaign=_HERE / "fig7-bdp.toml",
            extra=True,
        ),
        _FIG8,
        Figure(
            name="blocking",
            title="Section 5.1: delay and throughput with and without an application buffer",
            campaign=_HERE / "blocking.toml",
            quick=_QUICK,
            claims=("blocking",),
            draw=two_streams_figures.delays_and_throughputs,
            measure=two_streams.delay_measures,
            words=two_streams.WORDS,
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
        "The paper does not say whether its delay includes the wait in the sender; both readings are judged.",
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
