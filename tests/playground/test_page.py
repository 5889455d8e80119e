"""The playground as its users meet it: sliders, texts, refusals, and browsers that lack something."""

from __future__ import annotations

import functools
import http.server
import json
import subprocess
import sys
import threading
import urllib.parse
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.playground.conftest import PATIENCE_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

# Bytes of the page at most, as its guide promises.
LARGEST = 5_000_000

SCENARIOS = ("ka", "starlink", "handover", "bufferbloat")

# Moves a slider as a finger does.
MOVE = """([id, value]) => {
  const input = document.getElementById(id);
  input.value = value;
  input.dispatchEvent(new Event(input.tagName === "SELECT" ? "change" : "input", { bubbles: true }));
}"""

# Notes that a run came to its end, whether or not somebody still waits for it.
HEAR_ENDS = """void playground.client.worker.addEventListener("message", ({ data }) => {
  if (data.kind === "done") globalThis.ended = true;
})"""


def moved(page: Page, control: str, value: str) -> None:
    """Moves a control, and waits for the figure of what it now says."""
    drawn = int(page.get_attribute(".outcome", "data-drawn") or 0)
    page.evaluate(MOVE, [control, value])
    page.wait_for_function(
        "before => Number(document.querySelector('.outcome').dataset.drawn) > before", arg=drawn
    )


def test_the_page_is_small(page_file: Path) -> None:
    assert 500_000 < page_file.stat().st_size < LARGEST


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_shows_its_figure(scenario: str, show: Callable[..., Page]) -> None:
    page = show(f"scenario={scenario}")
    panels = page.eval_on_selector_all("figure.panel", "all => all.map((each) => each.dataset.panel)")
    assert {"throughput", "rtt", "window"} <= set(panels)
    assert page.locator("figure.panel canvas").first.bounding_box()
    # Something is drawn: the canvas of the throughput has more than one colour.
    colours = page.evaluate(
        """() => {
          const canvas = document.querySelector("figure.panel canvas");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
    )
    assert colours > 10
    assert "packets in" in page.inner_text(".status")


def test_a_slider_changes_text_figure_and_address(show: Callable[..., Page]) -> None:
    page = show("scenario=bufferbloat&duration=5")
    assert page.evaluate("playground.outcome.last.summary.flows[1].delay_ms.p95") > 500
    before = page.input_value("#text")
    moved(page, "queue", "40")
    after = page.input_value("#text")
    assert 'queue = { kind = "fifo", limit = "2000 kB" }' in before
    assert after == before.replace('"2000 kB"', '"40 kB"')
    # 40 kB take 16 ms at 20 Mbit/s; the way takes 25.
    assert page.evaluate("playground.outcome.last.summary.flows[1].delay_ms.p95") < 45
    assert "queue=40" in page.evaluate("location.hash")
    moved(page, "discipline", "codel")
    assert 'queue = { kind = "codel", limit = "40 kB" }' in page.input_value("#text")
    moved(page, "loss", "1")
    assert 'loss = { kind = "bernoulli", probability = 0.01 }' in page.input_value("#text")
    moved(page, "loss", "0")
    assert "loss =" not in page.input_value("#text")


def test_every_control_writes_scenarios_that_can_be_run(show: Callable[..., Page], tmp_path: Path) -> None:
    page = show()
    texts = page.evaluate(
        """async () => {
          const { SCENARIOS, defaults } = await import("playground/scenarios");
          const { textOf } = await import("playground/text");
          const shipped = JSON.parse(document.getElementById("scenarios").textContent);
          return SCENARIOS.flatMap((scenario) => scenario.controls.flatMap((control) =>
            (control.words ?? [control.least, control.most]).map((value) => {
              const values = { ...defaults(scenario), [control.id]: value };
              return [scenario.id, control.id, value, textOf({ scenario, values }, shipped)];
            })));
        }"""
    )
    assert {text[0] for text in texts} == set(SCENARIOS)
    assert len({text[3] for text in texts}) > 50
    for scenario, control, value, text in texts:
        file = tmp_path / f"{scenario}.toml"
        file.write_text(text, encoding="utf-8")
        assert leobench.check(file), f"{scenario}: {control} = {value}"


def test_values_in_texts_change_one_line(show: Callable[..., Page]) -> None:
    page = show("scenario=bufferbloat&duration=5")
    text = 'a = 1 # one\n\n[t . u]\nb = "x # y"  # two\n# c = 3\n\n[[t.v]]\nb = 4\n'

    def changed(table: str, key: str, value: str | None) -> str:
        call = """async ([text, table, key, value]) => {
          const { withValue } = await import("playground/toml");
          try { return withValue(text, table, key, value); }
          catch (error) { return `refused: ${error.message}`; }
        }"""
        return str(page.evaluate(call, [text, table, key, value]))

    assert changed("", "a", "2") == text.replace("a = 1", "a = 2")
    assert changed("t.u", "b", '"z"') == text.replace('"x # y"', '"z"')
    assert changed("t.u", "c", "5") == text.replace("# two\n", "# two\nc = 5\n")
    assert changed("", "d", "6") == text.replace("# one\n", "# one\nd = 6\n")
    assert changed("t.u", "b", None) == text.replace('b = "x # y"  # two\n', "")
    assert changed("t.u", "d", None) == text
    assert changed("t.w", "b", "1") == "refused: the scenario has no table [t.w]"


def test_the_figure_keeps_the_part_that_is_looked_at(show: Callable[..., Page]) -> None:
    page = show("scenario=ka&duration=10")
    page.evaluate("playground.outcome.range.set(2, 4)")
    moved(page, "delay", "30")
    assert page.evaluate("playground.outcome.range.shown") == [2, 4]
    moved(page, "duration", "5")
    assert page.evaluate("playground.outcome.range.shown") == [2, 4]
    page.evaluate("playground.outcome.range.reset()")
    moved(page, "duration", "10")
    assert page.evaluate("playground.outcome.range.shown[1]") > 9.9


def test_a_later_run_takes_over_from_a_long_one(show: Callable[..., Page]) -> None:
    page = show("scenario=starlink&duration=300&rate=150", figure=False)
    page.wait_for_function("() => document.querySelector('.status').textContent.startsWith('Running')")
    # The page answers while the engine works, and the long run is given up.
    page.select_option("#scenario", "bufferbloat")
    page.wait_for_selector(".outcome[data-drawn]")
    assert page.evaluate("playground.outcome.last.summary.scenario") == "bufferbloat"
    assert page.get_attribute(".outcome", "data-drawn") == "1"


def test_refusals_are_those_of_the_command_line(show: Callable[..., Page], tmp_path: Path) -> None:
    page = show("scenario=ka&duration=5")
    file = tmp_path / "ka.toml"
    shipped = page.input_value("#text")
    for old, new in (
        ('"10 ms"', '"10 m"'),
        ("[nodes.client]", "[nodes.client"),
        ("lms", "lsm"),
        ("main", "1 2"),
    ):
        text = shipped.replace(old, new, 1)
        page.fill("#text", text)
        page.wait_for_selector(".note[role=alert]:not([hidden])")
        page.wait_for_selector(".outcome.stale")
        file.write_text(text, encoding="utf-8")
        checked = subprocess.run(
            [sys.executable, "-m", "leobench", "check", "ka.toml"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert checked.returncode == 2
        assert page.inner_text(".outcome .note") in checked.stderr
        page.fill("#text", shipped)
        page.wait_for_selector(".outcome:not(.stale)")
    assert page.is_hidden(".outcome .note")


def test_what_a_page_does_not_have_is_refused(show: Callable[..., Page]) -> None:
    page = show("scenario=ka&duration=5")
    shipped = page.input_value("#text")

    def refusal(text: str) -> str:
        page.fill("#text", text)
        page.wait_for_selector(".outcome.stale")
        said = page.inner_text(".outcome .note")
        page.fill("#text", shipped)
        page.wait_for_selector(".outcome:not(.stale)")
        return said

    trace = shipped.replace('{ kind = "lms", preset = "ka" }', '{ kind = "trace", file = "up.trace" }')
    assert "up.trace cannot be read: this build reads no files" in refusal(trace)
    tls = shipped.replace('scheduler = "rr"', 'protection = "tls"')
    assert "is not part of this build; allowed: `null`" in refusal(tls)
    noq = shipped.replace('scheduler = "rr"', 'stack = "noq"')
    assert "is not part of this build; allowed: `own`" in refusal(noq)
    real = 'engine = "real"\n' + shipped
    assert "a page has no sockets; allowed: `virtual`" in refusal(real)


def test_a_slider_keeps_what_was_typed(show: Callable[..., Page]) -> None:
    page = show("scenario=ka&duration=5")
    page.fill("#text", page.input_value("#text").replace("[nodes.client]", "[nodes.client] # mine"))
    assert "edited" in page.inner_text("details.file summary")
    moved(page, "delay", "25")
    text = page.input_value("#text")
    assert "# mine" in text
    assert 'delay = "25 ms"' in text
    page.evaluate(HEAR_ENDS)
    page.fill("#text", text.replace("[links.uplink]", "[links.other]"))
    page.evaluate(MOVE, ["delay", "30"])
    page.wait_for_function("() => globalThis.ended")
    assert "stale" in (page.get_attribute(".outcome", "class") or "")
    assert page.inner_text(".outcome .note") == "One-way delay: the scenario has no table [links.uplink]"


@pytest.mark.parametrize(
    "attack",
    ["<img src=x onerror=fail()>", '"><script>fail()</script>', "</textarea><script>fail()</script>"],
)
def test_names_and_texts_run_no_script(attack: str, show: Callable[..., Page]) -> None:
    address = urllib.parse.quote(attack)
    page = show(f"scenario=ka&duration=5&controller={address}&seed={address}&{address}={address}")
    page.evaluate("void (globalThis.fail = () => { globalThis.failed = true; })")
    assert page.evaluate("[playground.state.seed, playground.state.values.controller]") == [1, "cubic"]
    quoted = json.dumps(attack)
    named = (
        page.input_value("#text")
        .replace("flows.main", f"flows.{quoted}")
        .replace("links.uplink", f"links.{quoted}")
    )
    for text in (named.replace('"QUIC over', f"{quoted}\n#"), f"{attack} = 1"):
        page.fill("#text", text)
        page.wait_for_function("() => !document.querySelector('.outcome').hasAttribute('aria-busy')")
        page.wait_for_timeout(100)
    assert attack.rpartition("<")[-1][:8] in page.inner_text(".outcome .note")
    assert page.evaluate("globalThis.failed") is None


def test_a_browser_without_webassembly_gets_one_message(browser: Browser, page_file: Path) -> None:
    context = browser.new_context()
    context.add_init_script("delete globalThis.WebAssembly")
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(page_file.as_uri())
    page.wait_for_selector("#lacking")
    said = page.inner_text("#page")
    assert said.startswith("The playground cannot run here: this browser has no WebAssembly. Allowed: ")
    assert "leobench run" in said
    assert page.locator("canvas, input").count() == 0
    context.close()
    assert problems == []


@pytest.fixture
def server(page_file: Path) -> Iterator[str]:
    """A static server of the page's folder, by its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(page_file.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def test_a_static_server_serves_it(server: str, browser: Browser) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE_MS)
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"{server}/index.html#scenario=bufferbloat&duration=5")
    page.wait_for_selector(".outcome[data-drawn]")
    page.close()
    assert problems == []


@pytest.mark.parametrize("width", [360, 768, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_width_and_the_theme(width: int, dark: bool, show: Callable[..., Page]) -> None:
    page = show("scenario=handover&duration=20", width=width, dark=dark)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is not dark


def test_an_address_leads_back_to_the_same_state(show: Callable[..., Page]) -> None:
    page = show("scenario=handover&duration=20&seed=5")
    moved(page, "delay", "100")
    kept = page.evaluate("location.hash")
    again = show(kept.removeprefix("#"))
    assert again.input_value("#text") == page.input_value("#text")
    assert (
        again.inner_text("#command")
        == page.inner_text("#command")
        == "leobench run handover-cost.toml --seed 5"
    )
    clamped = show("scenario=handover&duration=999999&delay=-5&seed=1.5&rate=nothing")
    assert clamped.evaluate("[playground.state.values.duration, playground.state.values.delay]") == [120, 5]
    assert clamped.evaluate("[playground.state.seed, playground.state.values.rate]") == [1, 10]
