"""Bujari et al. 2023: uploads over TCP and QUIC from an emergency area. Figures 3 to 6."""

from functools import partial
from pathlib import Path

from leobench.papers.bujari2023 import figures, handover, later
from leobench.papers.catalogue import Figure, Paper, Quick, Remark

_HERE = Path(__file__).parent
_handover = partial(
    Figure.of,
    _HERE,
    quick=Quick(2, {"duration": "130 s"}),
    measure=handover.measures_and_shares,
    measures=(*handover.MEASURES, *handover.SHARES),
    words=handover.WORDS,
)
_later = partial(Figure.of, _HERE, quick=Quick(1, {}), words=later.WORDS, extra=True)
_across = partial(_later, measure=handover.measures, measures=handover.MEASURES)
_CONTROLLERS = _across(
    "controllers", "QUIC under seven controllers across the handover, three queues", later.controllers
)

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
        _handover(
            "fig4",
            "Fig. 4: an upload across a handover, both queues of the first link's bandwidth-delay product",
            handover.fig4,
        ),
        _handover(
            "fig5",
            "Fig. 5: an upload across a handover, both queues of the second link's bandwidth-delay product",
            handover.fig5,
        ),
        _handover("fig6", "Fig. 6: an upload across a handover, both queues under CoDel", handover.fig6),
        _CONTROLLERS,
        _CONTROLLERS.again(
            "controllers-tcp", "TCP under seven controllers across the handover, three queues"
        ),
        _across("queues", "QUIC across the handover, nine queues, two controllers", later.queues),
        _later(
            "random-handovers",
            "QUIC across handovers at random times, two queues, three controllers",
            later.random_handovers,
        ),
        _later(
            "migration",
            "QUIC and TCP across three kinds of handover, both directions, five queues, by cause",
            later.migration,
            quick=Quick(2, {"duration": "130 s"}),
            measure=handover.measures_and_shares,
            measures=(*handover.MEASURES, *handover.SHARES),
        ),
        _across("download", "An upload and a download across the handover", later.download),
        _later(
            "reconnect",
            "A file across the handover: QUIC, and TCP that reconnects",
            later.reconnect,
            measure=later.reconnect_measures,
            measures=later.RECONNECT_MEASURES,
        ),
        _later(
            "users",
            "Three devices upload across the handover",
            later.users,
            measure=later.users_measures,
            measures=later.USERS_MEASURES,
        ),
        _later(
            "call",
            "A call and pages beside an upload across the handover",
            later.call,
            measure=later.call_measures,
            measures=later.CALL_MEASURES,
        ),
    ),
    remarks=(
        Remark(
            "The paper does not say how long the upload of Fig. 3 lasts. Here it is a file of 200 MB, which"
            " takes nearly 180 s.",
            ("fig3",),
        ),
        Remark(
            "A queue of the link's bandwidth-delay product is 25 kB with the round trip of the link alone, "
            "and 50 kB with that of the path. Both are judged.",
            ("fig3",),
        ),
        Remark(
            "A queue of the bandwidth-delay product of the first or the second link is 25 or 100 kB with the"
            " round trip of the link alone, and 50 or 125 kB with that of the path. Both are judged.",
            ("fig4", "fig5", "fig6"),
        ),
        Remark(
            "The van translates addresses, so QUIC's connection moves to a new one (`rebind`). A route that "
            "changes under the same addresses is judged as well (`reroute`), and so is a device that has "
            "both backhauls itself and moves its connection from one to the other (`migrate`).",
            ("fig4", "fig5", "fig6"),
        ),
        Remark(
            "At the handover, the packets in the queue of the terrestrial link are lost, and those on the "
            "wire arrive. The paper does not say what becomes of them.",
            ("fig4", "fig5", "fig6", "reconnect"),
        ),
        Remark(
            "TCP carries TLS 1.3, as QUIC always does, and the packets of both have 1,500 bytes. In the "
            "simulator of the paper TCP has no TLS.",
        ),
        Remark(
            "The only random element is the choice of packet numbers that QUIC skips, so runs hardly "
            "differ. An interval shows the precision for this set-up; it does not cover other packet sizes, "
            "nor other times of the handover within the cycle of the window.",
            ("fig3", "fig4", "fig5", "fig6", "reconnect"),
        ),
        Remark(
            "The paper calls one RTT slightly higher and does not say whose. As written, it is taken to be "
            "QUIC's.",
            ("fig3",),
        ),
    ),
)
