"""Paths as scenarios of a few lines."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from leobench.attack import space
from leobench.overrides import as_text
from leobench.scenario import as_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.attack.goals import Goal
    from leobench.attack.space import Event, Path
    from leobench.candidate import Candidate

VICTIM, RIVAL = "victim", "rival"
# Columns of a line with steps of the channel, and how many lines they take before lines become longer.
_WIDTH, _MOST_LINES = 110, 5
# Bytes of a datagram of UDP with its headers, over its payload.
_UDP_SHARE = 1_280 / 1_252


def name(candidate: Candidate, goal: Goal) -> str:
    """The name of the scenarios of an attack."""
    return as_name(f"attack-{candidate.name}-{goal.name}")


def scenario(path: Path, candidate: Candidate, goal: Goal, seed: int) -> str:
    """The scenario of a flow over a path."""
    links = ['path.between = ["sender", "receiver"]', *_link(path)]
    if path.of_kind("train"):
        links.append(_rival_link(path))
    return _text(
        name(candidate, goal),
        seed,
        links,
        _flows(path, candidate, goal),
        has_rival=bool(path.of_kind("train")),
    )


def measured(channel: Mapping[str, object], candidate: Candidate, goal: Goal, seed: int) -> str:
    """The scenario of a flow over a channel that was measured."""
    links = [
        'path.between = ["sender", "receiver"]',
        'path.queue = { kind = "fifo", limit = "1 BDP" }',
        f"path.channel = {_table(channel)}",
    ]
    return _text(
        name(candidate, goal),
        seed,
        links,
        [_victim(candidate), *_competitor(candidate, goal)],
        has_rival=False,
    )


def _text(name: str, seed: int, links: Sequence[str], flows: Sequence[str], *, has_rival: bool) -> str:
    nodes = ["sender", "receiver", *(["neighbour"] if has_rival else [])]
    return "\n".join(
        [
            f"name = {json.dumps(name)}",
            f"seed = {seed}",
            f'duration = "{space.DURATION_S:g} s"',
            "record = { messages = false }",
            "nodes = { " + ", ".join(f"{node} = {{}}" for node in nodes) + " }",
            "[links]",
            *links,
            "[flows]",
            *flows,
            "",
        ]
    )


def _table(value: Mapping[str, object]) -> str:
    """A table on one line, with plain keys."""
    return re.sub(r'([{,]) "([A-Za-z0-9_-]+)" = ', r"\1 \2 = ", as_text(value))


def _link(path: Path) -> list[str]:
    """The keys of the link that is attacked."""
    lines = [f'path.queue = {{ kind = "fifo", limit = "{path.queue_packets:g} packets" }}']
    lines += [
        f'path.access = {{ kind = "frames", period = "{each["period"]:g} ms", wait = "{each["wait"]:g} ms" }}'
        for each in path.of_kind("frames")
    ]
    steps = _steps(path)
    if len(steps) == 1:
        state = space.timeline(path)[0]
        return [*lines, f'path.rate = "{state.rate_mbps:g} Mbps"', f'path.delay = "{state.delay_ms:g} ms"']
    width = max(_WIDTH, sum(map(len, steps)) // _MOST_LINES + _WIDTH // 2)
    packed = [""]
    for step in steps:
        if packed[-1] and len(packed[-1]) + len(step) > width:
            packed.append("")
        packed[-1] += f" {step},"
    return [*lines, 'path.channel = { kind = "schedule", steps = [', *packed, "] }"]


def _steps(path: Path) -> list[str]:
    """The rows of the channel's schedule; each gives what changes."""
    rows: list[str] = []
    held: dict[str, str] = {}
    for state in space.timeline(path):
        cells = {
            "rate": f'"{state.rate_mbps:g} Mbps"',
            "delay": f'"{state.delay_ms:g} ms"',
            "loss": f"{state.loss:.1f}",
            "up": str(state.is_up).lower(),
        }
        shown = {key: cell for key, cell in cells.items() if held.get(key, _DEFAULTS.get(key)) != cell}
        rows.append(
            f'{{ at = "{state.at_s:.9g} s", '
            + ", ".join(f"{key} = {cell}" for key, cell in shown.items())
            + " }"
        )
        held |= cells
    return rows


_DEFAULTS = {"loss": "0.0", "up": "true"}


def _rival_link(path: Path) -> str:
    rate = max(train["rate"] for train in path.of_kind("train")) * path.rate_mbps
    return f'{RIVAL} = {{ between = ["neighbour", "sender"], rate = "{rate:.4g} Mbps" }}'


def _flows(path: Path, candidate: Candidate, goal: Goal) -> list[str]:
    lines = [_victim(candidate), *_competitor(candidate, goal)]
    for number, event in enumerate(path.of_kind("transfer"), 1):
        lines.append(
            f'transfer-{number} = {{ from = "sender", to = "receiver", background = true, '
            f'start = "{event.at_s:.9g} s", transport = "tcp", '
            f'source = {{ kind = "bulk", size = "{event["size"]:g} kB" }} }}'
        )
    lines += [_train(train, path) for train in path.of_kind("train")]
    return lines


def _train(train: Event, path: Path) -> str:
    """Bursts of a neighbour: one message of UDP per period, sent at the rate of its own link."""
    size_kb = train["length"] * train["rate"] * path.rate_mbps / 8 / _UDP_SHARE
    rate_mbps = size_kb * 8 / train["period"] / 1e3
    return (
        'train = { from = "neighbour", to = "receiver", background = true, transport = "udp", '
        f'source = {{ kind = "cbr", rate = "{rate_mbps:.4g} Mbps", size = "{size_kb:.4g} kB" }} }}'
    )


def _victim(candidate: Candidate) -> str:
    return (
        f'{VICTIM} = {{ from = "sender", to = "receiver", source = "bulk", '
        f"transport = {_table(candidate.transport)} }}"
    )


def _competitor(candidate: Candidate, goal: Goal) -> list[str]:
    """CUBIC beside the flow, where shares are the goal."""
    if not goal.has_competitor:
        return []
    transport = {"kind": candidate.transport["kind"], "congestion": "cubic"}
    return [
        f'cubic = {{ from = "sender", to = "receiver", source = "bulk", transport = {_table(transport)} }}'
    ]
