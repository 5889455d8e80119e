"""Links that the flows of a resolved scenario have in common."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    # A link and the node that sends into it.
    Direction = tuple[str, str]


def share_a_direction(resolved: Mapping[str, Any], flows: Iterable[str]) -> bool:
    """Whether all these flows send their data over one direction of a link.

    Each flow takes the way of the fewest links, and from each of its `links` if it has several paths.
    """
    ways = [_directions(resolved, resolved["flows"][name]) for name in flows]
    return bool(ways) and bool(set.intersection(*ways))


def way(
    resolved: Mapping[str, Any], start: str, end: str, without: frozenset[str] = frozenset()
) -> set[Direction]:
    """The directions on a way of the fewest links between two nodes; none if nothing connects them."""
    ways: dict[str, set[Direction]] = {start: set()}
    waiting = deque([start])
    while waiting and end not in ways:
        node = waiting.popleft()
        for name, link in resolved["links"].items():
            if name in without or node not in link["between"]:
                continue
            (other,) = (each for each in link["between"] if each != node)
            if other not in ways:
                ways[other] = ways[node] | {(name, node)}
                waiting.append(other)
    return ways.get(end, set())


def _directions(resolved: Mapping[str, Any], flow: Mapping[str, Any]) -> set[Direction]:
    """The directions of links that carry the data of a flow."""
    multipath = flow["transport"].get("multipath") or {}
    own = set(multipath.get("links", ()))
    at_source = {name for name in own if flow["from"] in resolved["links"][name]["between"]}
    if not own:
        return way(resolved, flow["from"], flow["to"])
    # The paths begin, or end, with different links of one node.
    start, end = (flow["from"], flow["to"]) if at_source else (flow["to"], flow["from"])
    found: set[Direction] = set()
    for name in own:
        hops = way(resolved, start, end, frozenset(own - {name}))
        found |= hops if at_source else {_reversed(resolved, hop) for hop in hops}
    return found


def _reversed(resolved: Mapping[str, Any], direction: Direction) -> Direction:
    name, sender = direction
    (other,) = (each for each in resolved["links"][name]["between"] if each != sender)
    return name, other
