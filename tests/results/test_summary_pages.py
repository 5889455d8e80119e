from __future__ import annotations

from leobench.campaign import metrics
from leobench.cli import summary_tables
from leobench.manifest import doubts
from tests.support import made_up


def _objects(*delivered: float | None) -> list[dict[str, object]]:
    times = enumerate(delivered, 1)
    return [{"name": f"o{number}", "requested_s": 0.0, "delivered_s": at} for number, at in times]


def test_pages_are_listed_with_their_completion() -> None:
    measured = {"first_byte_s": 0.2, "byte_index_s": 0.75, "completion_s": 1.23456}
    whole = made_up.flow("web", page={**measured, "objects": _objects(0.5, 1.23456)})
    cut = made_up.flow("slow", page={"completion_s": None, "objects": _objects(0.5, None, None)})
    text = summary_tables.render(made_up.result(flows=[whole, cut, made_up.flow("bulk")]).summary)
    expected = """\
                         first     byte  complete
page  objects  arrived  byte s  index s   after s
----  -------  -------  ------  -------  --------
web         2        2   0.200    0.750     1.235
slow        3        1       -        -         -
"""
    assert expected in text
    assert "page" not in summary_tables.render(made_up.result().summary)


def test_late_messages_are_listed_where_there_are_deadlines() -> None:
    delay = {"mean": 1.0, "p50": 1.0, "p95": 1.0, "p99": 1.0}
    plain = {"name": "plain", "goodput_bps": 1e6, "delay_ms": delay}
    urgent = {"name": "urgent", "goodput_bps": 1e6, "late_messages": 1234, "delay_ms": delay}
    text = summary_tables.render(
        made_up.result(flows=[made_up.flow("main", streams=[plain, urgent])]).summary
    )
    lines = {line.split()[1]: line.split() for line in text.splitlines() if line.startswith("main  ")}
    assert lines["plain"][-1] == "-"
    assert lines["urgent"][-1] == "1,234"
    assert "late" in text
    alone = made_up.flow("main", streams=[urgent])
    assert "1,234" in summary_tables.render(made_up.result(flows=[alone]).summary)


def test_campaigns_reach_the_completion_of_pages() -> None:
    page = {"completion_s": 1.5, "objects": _objects(0.5, None)}
    numbers = metrics.flatten({"flows": [made_up.flow("web", page=page)]})
    assert numbers["flows.web.page.completion_s"] == 1.5
    assert numbers["flows.web.page.objects.o1.delivered_s"] == 0.5
    assert numbers["flows.web.page.objects.o2.delivered_s"] is None


def test_a_page_that_is_not_complete_is_warned_of() -> None:
    def warnings(completion_s: float | None, until: str = "time") -> list[str]:
        page = {"completion_s": completion_s, "objects": _objects(0.5, completion_s, None)}
        flow = made_up.flow("web", page=page, undelivered_messages=0)
        return [
            doubt.text
            for doubt in doubts({"until": until, "flows": {"web": {}}}, {"flows": [flow]}, {"web"}, {})
        ]

    assert warnings(1.5) == []
    cut = "flow web: its page was not complete at the end of the run: 1 of 3 objects had arrived; "
    assert warnings(None) == [cut + 'set `until = "drained"` to wait for the rest']
    assert "when `drain_limit` passed" in warnings(None, "drained")[0]
