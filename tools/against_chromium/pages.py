"""Load times of recorded pages, in Chromium and by the model of pages."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import RunError
from tools.against_chromium import browser, har, record, report, sessions, shapes, visit

if TYPE_CHECKING:
    import argparse

PORT = "8443"
# CUBIC of Linux leaves slow start by HyStart.
CUBIC = {"kind": "cubic", "slow_start": "hystart"}
TCP = {"kind": "tcp", "congestion": CUBIC, "tls": True, "nagle": False}
# The names of ALPN, and the keys of their flows. aioquic has CUBIC, and its streams take turns by packets.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "h2": {"transport": TCP},
    "http/1.1": {"transport": TCP, "http": "1.1"},
    "h3": {"transport": {"kind": "quic", "congestion": "cubic", "scheduler": "rr"}},
}
HEADER = ("page", "protocol", "ours (s)", "Chromium (s)", "ours / Chromium", "emulation")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("--pages", nargs="+", choices=shapes.SHAPES, default=list(shapes.SHAPES))
    parser.add_argument("--protocols", nargs="+", choices=PROTOCOLS, default=["h2"])
    parser.add_argument("--loads", type=int, default=20, help="valid loads of each page (default: 20)")
    parser.add_argument("--rate", default="20 Mbps")
    parser.add_argument("--delay", default="25 ms", help="one way (default: 25 ms)")
    parser.add_argument("--queue", default="150 kB", help="limit of the FIFO queue (default: 150 kB)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/against-chromium"), help="folder of archives"
    )


def run(args: argparse.Namespace) -> None:
    """Compares, and prints a table."""
    browser.program()
    args.out.mkdir(parents=True, exist_ok=True)
    queue = {"kind": "fifo", "limit": args.queue}
    links = {"path": {"rate": args.rate, "delay": args.delay, "queue": queue}}
    rows = []
    for name in args.pages:
        file = args.out / f"{name}.har"
        record.record(shapes.SHAPES[name](), file)
        rows += [compare(links, file, protocol, args.loads) for protocol in args.protocols]
    print(report.table(HEADER, rows), end="")


def compare(links: dict[str, Any], file: Path, protocol: str, loads: int) -> list[str]:
    """A row of the table."""
    ours = modelled(links, file, protocol)
    times, told = sessions.until_valid(
        f"{file.stem} {protocol}", loads, lambda seed: loaded(links, file, protocol, seed)
    )
    if not times:
        return [file.stem, protocol, f"{ours:.3f}", "", "", told]
    theirs = statistics.median(times)
    spread = f"{theirs:.3f} ({min(times):.3f} to {max(times):.3f})"
    return [file.stem, protocol, f"{ours:.3f}", spread, f"{ours / theirs:.2f}", told]


def loaded(links: dict[str, Any], file: Path, protocol: str, seed: int) -> tuple[sessions.Real, float]:
    """A load by Chromium, and its seconds.

    Raises:
        RunError: If it spoke another protocol.
    """
    count, url = len(har.site(file)), f"https://{sessions.FAR}:{PORT}/"
    session = sessions.real(
        sessions.scenario(links),
        seed,
        lambda folder: [
            (sessions.FAR, ("serve", protocol, PORT, str(file.absolute()), str(folder / "ready"))),
            (sessions.NEAR, ("visit", url, str(count), protocol, str(folder / "ready"), str(folder / "out"))),
        ],
    )
    spoken = {entry["nextHopProtocol"] for entry in session.wrote}
    if spoken != {protocol}:
        raise RunError(f"{file}: loaded by {', '.join(sorted(spoken))} instead of {protocol}")
    return session, round(visit.load_time(session.wrote), 3)


def modelled(links: dict[str, Any], file: Path, protocol: str) -> float:
    """The seconds of a load by the model.

    Raises:
        RunError: If it never ends.
    """
    flow = {
        "from": sessions.FAR,
        "to": sessions.NEAR,
        "opened_by": "to",
        "har": file.name,
    }
    spec = sessions.scenario(links, flow | PROTOCOLS[protocol]) | {"until": "drained"}
    page = sessions.virtual(spec, 1, file.parent).summary.flows["main"].page
    if page is None or page.completion_s is None:
        raise RunError(f"{file}: the model did not load it")
    completion_s: float = page.completion_s
    return completion_s
