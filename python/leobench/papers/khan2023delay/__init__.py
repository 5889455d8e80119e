"""Khan et al. 2023, GLOBECOM: schedulers that go by delay. Figures 4 to 7."""

from dataclasses import replace
from pathlib import Path

from leobench.papers import two_streams, two_streams_figures
from leobench.papers.catalogue import Figure, Paper, Quick

_HERE = Path(__file__).parent
_QUICK = Quick(replicates=5, overrides={"duration": "10 s"})

_FIG4 = Figure(
    name="fig4",
    title="Fig. 4: application buffers and accumulated sojourn times at 80 % load",
    campaign=_HERE / "fig4.toml",
    quick=_QUICK,
    claims=("fig4",),
    draw=two_streams_figures.buffers_and_sojourns,
    measure=two_streams.buffer_measures,
    words=two_streams.WORDS,
)
_FIG5_6 = Figure(
    name="fig5-6",
    title="Figs. 5 and 6: delay and throughput at 50 % load and in saturation",
    campaign=_HERE / "fig5-6.toml",
    quick=_QUICK,
    claims=("fig5", "fig6"),
    draw=two_streams_figures.delays_and_throughputs,
    measure=two_streams.delay_measures,
    words=two_streams.WORDS,
)
_FIG7 = Figure(
    name="fig7",
    title="Fig. 7: delay end to end by mean interruption",
    campaign=_HERE / "fig7.toml",
    quick=Quick(replicates=3, overrides={"duration": "20 s"}),
    claims=("fig7",),
    draw=two_streams_figures.interruptions,
    measure=two_streams.delay_measures,
    words=two_streams.WORDS,
)
_CONTROLLERS = Figure(
    name="controllers",
    title="Schedulers crossed with congestion controllers, at 80 % load",
    campaign=_HERE / "controllers.toml",
    quick=_QUICK,
    claims=("controllers",),
    draw=two_streams_figures.delays_by_controller,
    measure=two_streams.delay_measures,
    words=two_streams.WORDS,
    extra=True,
)

PAPER = Paper(
    name="khan2023delay",
    citation=(
        'F. Khan, F. Fernández, L. Diez, R. Agüero, "Exploiting QUIC multi-streaming over NTN: delay-based '
        'scheduling policies", IEEE GLOBECOM, 2023'
    ),
    claims=_HERE / "claims.toml",
    figures=(
        _FIG4,
        _FIG5_6,
        replace(
            _FIG5_6,
            name="fig5-6-batches",
            title="Figs. 5 and 6 with arrivals in batches of 50 ms",
            campaign=_HERE / "fig5-6-batches.toml",
            extra=True,
        ),
        replace(
            _FIG5_6,
            name="fig5-6-bdp",
            title="Figs. 5 and 6 with a link queue of a bandwidth-delay product",
            campaign=_HERE / "fig5-6-bdp.toml",
            extra=True,
        ),
        _FIG7,
        _CONTROLLERS,
    ),
    remarks=(
        "Rates are those of Table 2 of the Computer Networks paper (khan2023), for 45 Mbit/s; this paper has "
        "shares of 45.32 Mbit/s, 0.7 % more.",
        "The link queue is that of the authors' published scenarios, 30 kB, with which CUBIC carries some "
        "31 Mbit/s: a load of 80 % is more than that. `fig5-6-bdp` has a queue of 113 kB.",
        "Messages arrive one by one, as the paper says; the authors' published generator draws a number "
        "every 50 ms, as `fig5-6-batches` does.",
        "STBP sums the sojourn times of messages, as equation 4 says; the authors' code sums those of "
        "batches of 50 ms, which is judged besides (`stbp, batches`).",
        "FQ and WFQ give away what a stream leaves of its share, as the paper says; some of its remarks fit "
        "schedulers that do not, which are judged besides (`no surplus`).",
        "The throughput of a stream counts to its own last delivery, and that of both to the later one: "
        "those of the streams need not add up to it.",
        "Fig. 7: packets wait while the link between the satellites is interrupted; steps of 0.1 s are ours. "
        "The paper does not say which of its schedulers is the one called Delay: all are judged.",
    ),
)
