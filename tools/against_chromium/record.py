"""The recording of a page: Chromium loads it over the loopback device, and its events become an archive.

Other work of the machine adds to the times of a recording, so the fastest of some counts.
"""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.against_chromium import browser, har
from tools.against_chromium.visit import load, load_time

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession

    from tools.against_chromium.shapes import Site

EVENTS = (
    "Network.requestWillBeSent",
    "Network.resourceChangedPriority",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Page.domContentEventFired",
)


RECORDINGS = 5


def record(site: Site, file: Path) -> None:
    """Records a site into an archive."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        given, ready = Path(folder) / "given.har", Path(folder) / "ready"
        given.write_text(json.dumps(_served(site)), encoding="utf-8")
        words = [
            sys.executable,
            "-m",
            "tools.against_chromium.serve",
            "h2",
            str(port),
            str(given),
            str(ready),
        ]
        server = subprocess.Popen(words)
        try:
            browser.wait_for(ready)
            url = f"https://localhost:{port}/"
            recorded = [_loaded(url, len(site)) for _ in range(RECORDINGS)]
        finally:
            server.terminate()
            server.wait()
    _, archive = min(recorded, key=lambda each: each[0])
    file.write_text(json.dumps(archive, indent=1), encoding="utf-8")


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _served(site: Site) -> dict[str, Any]:
    """An archive of the contents alone."""
    entries = [
        {
            "request": {"url": f"https://localhost{path}"},
            "response": {
                "content": {
                    "mimeType": each.kind,
                    "encoding": "base64",
                    "text": base64.b64encode(each.content).decode("ascii"),
                }
            },
        }
        for path, each in site.items()
    ]
    return {"log": {"entries": entries}}


def _loaded(url: str, count: int) -> tuple[float, dict[str, Any]]:
    """The seconds of a load, and its archive."""
    events: list[har.Event] = []
    with browser.started() as started:
        page = started.new_page(ignore_https_errors=True)
        session = page.context.new_cdp_session(page)
        for name in EVENTS:
            _listen(session, name, events)
        session.send("Network.enable")
        session.send("Page.enable")
        seconds = load_time(load(page, url, count))
        finished = [told["requestId"] for name, told in events if name == "Network.loadingFinished"]
        bodies = {key: _body(session, key) for key in finished}
    return seconds, har.archive(events, bodies)


def _listen(session: CDPSession, name: str, events: list[har.Event]) -> None:
    session.on(name, lambda told: events.append((name, told)))


def _body(session: CDPSession, request: str) -> bytes:
    told = session.send("Network.getResponseBody", {"requestId": request})
    text: str = told["body"]
    return base64.b64decode(text) if told["base64Encoded"] else text.encode()
