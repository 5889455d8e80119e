"""Benchmarks runs of the playground in headless Chromium: 10 s of one flow of 45 Mbit/s.

    python benchmarks/playground.py target/playground/index.html

Takes some seconds, and needs Chromium. A run is timed by the page's worker from the request to the tables.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROUNDS = 9

SCENARIO = """\
name = "benchmark"
duration = "10 s"

[nodes.client]
[nodes.server]

[links.path]
between = ["client", "server"]
rate = "45 Mbps"
delay = "20 ms"
queue = {{ kind = "fifo", limit = "150 packets" }}

[flows.main]
transport = {{ kind = "{transport}", congestion = "cubic" }}
from = "client"
to = "server"
source = "bulk"
"""

START = """([text, seed]) => {
  Object.assign(playground.state, { text, seed });
  playground.outcome.last = null;
  playground.run();
}"""


def main() -> int:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("page", type=Path, help="the page, as make playground builds it")
    page_file = parser.parse_args().page
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("playground.py: there is no Chromium on the PATH")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{page_file.resolve().as_uri()}#scenario=bufferbloat&duration=5")
        page.wait_for_selector(".outcome[data-drawn]")
        print(f"{browser.version}: 10 s of a flow of 45 Mbit/s, {ROUNDS} runs each")
        print("transport  median s  least s  most s   packets  Mbit/s")
        for transport in ("tcp", "quic"):
            walls, packets, goodput = measured(page, transport)
            print(
                f"{transport:9}  {statistics.median(walls):8.3f}  {min(walls):7.3f}  {max(walls):6.3f}  "
                f"{packets:8,}  {goodput / 1e6:6.1f}"
            )
        browser.close()
    return 0


def measured(page: Page, transport: str) -> tuple[list[float], int, float]:
    """Seconds of each run, the packets of the last one, and its goodput in bits per second."""
    walls = []
    text = SCENARIO.format(transport=transport)
    for seed in range(1, ROUNDS + 1):
        page.evaluate(START, [text, seed])
        page.wait_for_function("() => playground.outcome.last !== null")
        walls.append(page.evaluate("playground.outcome.last.wall") / 1_000)
    summary = page.evaluate("playground.outcome.last.summary")
    return walls, summary["packets"], summary["flows"][0]["goodput_bps"]


if __name__ == "__main__":
    sys.exit(main())
