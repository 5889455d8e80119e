"""Khan et al. 2023, GLOBECOM: schedulers that go by delay. Figures 4 to 7."""

from functools import partial
from pathlib import Path

from leobench.papers import two_streams, two_streams_figures
from leobench.papers.catalogue import Figure, Paper, Quick, Remark

_HERE = Path(__file__).parent
_figure = partial(Figure.of, _HERE, words=two_streams.WORDS)
_delays = partial(
    _figure, measure=two_streams.delay_measures, measures=(*two_streams.DELAYS, *two_streams.SHARES)
)

_FIG5_6 = _delays(
    "fig5-6",
    "Figs. 5 and 6: delay and throughput at 50 % load and in saturation",
    two_streams_figures.delays_and_throughputs,
    claims=("fig5", "fig6"),
)

PAPER = Paper(
    name="khan2023delay",
    citation=(
        'F. Khan, F. Fernández, L. Diez, R. Agüero, "Exploiting QUIC multi-streaming over NTN: delay-based '
        'scheduling policies", IEEE GLOBECOM, 2023'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        _figure(
            "fig4",
            "Fig. 4: application buffers and accumulated sojourn times at 80 % load",
            two_streams_figures.buffers_and_sojourns,
            measure=two_streams.sojourn_measures,
            measures=(*two_streams.BUFFERS, *two_streams.SOJOURNS),
        ),
        _FIG5_6,
        _FIG5_6.again("fig5-6-batches", "Figs. 5 and 6 with arrivals in batches of 50 ms"),
        _FIG5_6.again("fig5-6-bdp", "Figs. 5 and 6 with a link queue of a bandwidth-delay product"),
        _delays(
            "fig7",
            "Fig. 7: delay end to end by mean interruption",
            two_streams_figures.interruptions,
            quick=Quick.of(3, "20 s"),
            measures=(*two_streams.DELAYS, *two_streams.SPREADS, *two_streams.JITTER),
        ),
        _delays(
            "controllers",
            "Schedulers crossed with congestion controllers, at 80 % load",
            two_streams_figures.delays_by_controller,
            extra=True,
        ),
    ),
    remarks=(
        Remark(
            "Rates are those of Table 2 of the Computer Networks paper (khan2023), for 45 Mbit/s. This "
            "paper has shares of 45.32 Mbit/s, 0.7 % more.",
        ),
        Remark(
            "The link queue is that of the authors' published scenarios, 30 kB, with which CUBIC carries "
            "about 31 Mbit/s, so a load of 80 % exceeds the capacity. `fig5-6-bdp` has a queue of 113 kB.",
            ("fig4", "fig5", "fig6"),
        ),
        Remark(
            "Messages arrive one by one, as the paper says. The authors' published generator draws a number"
            " every 50 ms, as `fig5-6-batches` does.",
            ("fig4", "fig5", "fig6", "fig7"),
        ),
        Remark(
            "STBP sums the sojourn times of messages, as equation 4 says. The authors' code sums those of "
            "batches of 50 ms, which is judged as well (`stbp, batches`).",
        ),
        Remark(
            "FQ and WFQ redistribute the share that a stream cannot fill, as the paper says. Some of its "
            "statements fit schedulers that do not, which are judged as well (`no surplus`).",
            ("fig5", "fig6"),
        ),
        Remark(
            "The throughput of a stream counts to its own last delivery, and that of both to the later one,"
            " so the throughputs of the streams need not add up to it.",
            ("fig6",),
        ),
        Remark(
            "Packets wait while the link between the satellites is interrupted. The steps of 0.1 s are "
            "ours. The paper does not say which of its schedulers it calls Delay, so all are judged.",
            ("fig7",),
        ),
    ),
)
