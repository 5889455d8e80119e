"""Archives from the events of Chromium's network domain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import leobench
from leobench.errors import InputError
from tools.against_chromium import har, shapes

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT, SCRIPT = "https://localhost/", "https://localhost/app.js?v=2"


def load(url: str, begun: float, *, initiator: dict[str, Any], priority: str) -> list[har.Event]:
    """A request that waits 5 ms for 10 of headers and takes 30 ms, begun so many seconds after the first."""
    asked = {"url": url, "method": "GET", "initialPriority": priority}
    timing = {"requestTime": 100 + begun + 0.002, "sendEnd": 1.0, "receiveHeadersEnd": 11.0}
    response = {"status": 200, "mimeType": "text/plain", "timing": timing}
    return [
        (
            "Network.requestWillBeSent",
            {
                "requestId": url,
                "timestamp": 100 + begun,
                "wallTime": 1_774_008_000 + begun,
                "request": asked,
                "initiator": initiator,
            },
        ),
        ("Network.responseReceived", {"requestId": url, "response": response}),
        (
            "Network.loadingFinished",
            {"requestId": url, "timestamp": 100.03 + begun, "encodedDataLength": 5_000},
        ),
    ]


def two() -> list[har.Event]:
    return [
        *load(DOCUMENT, 0, initiator={"type": "other"}, priority="VeryHigh"),
        *load(SCRIPT, 0.050, initiator={"type": "parser", "url": DOCUMENT}, priority="Low"),
    ]


def test_an_entry_has_the_times_and_sizes_of_its_events() -> None:
    archive = har.archive(two(), {SCRIPT: b"123"})
    first, second = archive["log"]["entries"]
    assert first["startedDateTime"] == "2026-03-20T12:00:00.000000Z"
    assert second["startedDateTime"] == "2026-03-20T12:00:00.050000Z"
    assert second["time"] == pytest.approx(30)
    assert second["timings"]["wait"] == pytest.approx(10)
    # 30 ms less 2 ms until it was sent and 11 ms until the headers had come.
    assert second["timings"]["receive"] == pytest.approx(17)
    assert second["response"]["_transferSize"] == 5_000
    assert second["response"]["bodySize"] == 3
    assert (second["_priority"], second["_initiator"]["url"]) == ("Low", DOCUMENT)


def test_a_page_has_the_time_at_which_its_document_was_parsed() -> None:
    for told, parsed_ms in (([], -1), ([("Page.domContentEventFired", {"timestamp": 100.25})], 250)):
        (page,) = har.archive([*two(), *told], {})["log"]["pages"]
        assert page["startedDateTime"] == "2026-03-20T12:00:00.000000Z"
        assert page["pageTimings"]["onContentLoad"] == pytest.approx(parsed_ms)


def test_the_last_priority_counts_and_what_did_not_finish_does_not() -> None:
    events = two()
    raised = ("Network.resourceChangedPriority", {"requestId": SCRIPT, "newPriority": "High"})
    changed = har.archive([*events, raised], {})
    assert [each["_priority"] for each in changed["log"]["entries"]] == ["VeryHigh", "High"]
    assert len(har.archive(events[:-1], {})["log"]["entries"]) == 1


def test_an_archive_is_served_by_its_paths(tmp_path: Path) -> None:
    file = tmp_path / "page.har"
    archive = har.archive(two(), {DOCUMENT: b"<p>", SCRIPT: b"run()"})
    file.write_text(json.dumps(archive), encoding="utf-8")
    site = har.site(file)
    assert {path: each.content for path, each in site.items()} == {"/": b"<p>", "/app.js?v=2": b"run()"}
    for entry in archive["log"]["entries"]:
        del entry["response"]["content"]
    file.write_text(json.dumps(archive), encoding="utf-8")
    assert [len(each.content) for each in har.site(file).values()] == [5_000, 5_000]


def test_the_model_reads_the_archive(tmp_path: Path) -> None:
    """The script is asked for 20 ms after the document has come, 30 ms after its own start."""
    (tmp_path / "page.har").write_text(json.dumps(har.archive(two(), {})), encoding="utf-8")
    scenario = {
        "name": "page",
        "duration": "5 s",
        "until": "drained",
        "nodes": {"client": {}, "server": {}},
        "links": {"path": {"between": ["client", "server"], "rate": "20 Mbps", "delay": "25 ms"}},
        "flows": {
            "main": {
                "transport": "tcp",
                "from": "server",
                "to": "client",
                "opened_by": "to",
                "har": "page.har",
            }
        },
    }
    file = tmp_path / "page.json"
    file.write_text(json.dumps(scenario), encoding="utf-8")
    page = leobench.run(file).summary.flows["main"].page
    assert page is not None
    document, script = page.objects
    assert document.delivered_s is not None
    assert script.requested_s == pytest.approx(document.delivered_s + 0.020)


def test_no_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "page.har"
    with pytest.raises(InputError, match=r"page\.har: cannot be read"):
        har.site(file)
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"page\.har: is no HTTP Archive"):
        har.site(file)


@pytest.mark.parametrize(
    ("name", "files", "least", "most"),
    [("text", 9, 7e5, 9e5), ("images", 82, 1.0e6, 1.2e6), ("scripts", 22, 1.8e6, 2.3e6)],
)
def test_shapes_are_the_same_every_time(name: str, files: int, least: float, most: float) -> None:
    site = shapes.SHAPES[name]()
    assert site == shapes.SHAPES[name]()
    assert len(site) == files
    assert least <= sum(len(each.content) for each in site.values()) <= most
