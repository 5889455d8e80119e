"""A load of a page on a host: `python -m tools.against_chromium.visit URL COUNT PROTOCOL READY OUT`.

It waits for the server's file READY, loads the page with its COUNT files, and writes their times to OUT.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tools.against_chromium import browser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Page

# Milliseconds from the start of the navigation; the document comes first.
READ = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map(each => each.toJSON())"""
ARRIVED = """count => performance.getEntriesByType("navigation")[0].responseEnd > 0
  && performance.getEntriesByType("resource").filter(each => each.responseEnd > 0).length >= count - 1"""


def load(page: Page, url: str, count: int) -> list[dict[str, Any]]:
    """Loads a page until all its files have arrived, the document among them; the entries of their timing."""
    page.set_default_timeout(browser.PATIENCE_S * 1e3)
    page.add_init_script("performance.setResourceTimingBufferSize(10000)")
    page.goto(url)
    page.wait_for_function(ARRIVED, arg=count)
    entries: list[dict[str, Any]] = page.evaluate(READ)
    return entries


def load_time(entries: Sequence[dict[str, Any]]) -> float:
    """Seconds from the first connection's start to the last byte of the last file."""
    started: float = entries[0]["connectStart"]
    return (max(float(each["responseEnd"]) for each in entries) - started) / 1e3


def quic(url: str, fingerprint: str) -> tuple[str, ...]:
    """Options by which Chromium speaks HTTP/3 at once to a server with that certificate."""
    return (
        "--enable-quic",
        f"--origin-to-force-quic-on={urlsplit(url).netloc}",
        f"--ignore-certificate-errors-spki-list={fingerprint}",
    )


def main() -> None:
    """Loads a page once."""
    url, count, protocol, ready, out = sys.argv[1:]
    browser.wait_for(Path(ready))
    options = quic(url, Path(ready).read_text(encoding="ascii")) if protocol == "h3" else ()
    with browser.started(*options) as started:
        entries = load(started.new_page(ignore_https_errors=True), url, int(count))
    Path(out).write_text(json.dumps(entries), encoding="utf-8")


if __name__ == "__main__":
    main()
