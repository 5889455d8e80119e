"""The links on the path of a flow's data, from the scenario of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from leobench.durations import nanoseconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.result import Result

    Cost = tuple[int, int]


class Edge(NamedTuple):
    """One direction of a link.

    Attributes:
        name: Its name in summaries and tables, `link/from->to`.
        start: Its first node.
        end: Its second node.
        delay_ns: Its delay in nanoseconds without that of the channel; the metric of routes.
    """

    name: str
    start: str
    end: str
    delay_ns: int


def of_flow(result: Result, flow: str) -> list[str]:
    """Names of the link directions that carry the data of a flow, in order of travel and of first use.

    They are those that the run recorded; of a result without the table `routes`, or of a flow with several
    paths, those of the scenario.
    """
    if several := of_paths(result.scenario, flow):
        return list(dict.fromkeys(link for way in several.values() for link in way))
    if "routes" in result.tables:
        ways = result.tables["routes"].filter(flow=flow, direction="there")["links"].drop_nulls()
        if len(ways):
            return list(dict.fromkeys(link for way in ways for link in way.split(" ")))
    return _of_scenario(result.scenario, flow)


def may_share_satellites(scenario: Mapping[str, Any], flow: str) -> bool:
    """Whether several paths of a flow may wait in the queue of one satellite.

    Each then has all of the satellite's rate while it is alone there, so that capacities do not add up.
    """
    if not (scenario.get("constellation") or {}).get("satellite"):
        return False
    through = [name for name, link in scenario["links"].items() if link.get("constellation")]
    ways = [{link.partition("/")[0] for link in way} for way in of_paths(scenario, flow).values()]
    return sum(not way.isdisjoint(through) for way in ways) > 1


def of_paths(scenario: Mapping[str, Any], flow: str) -> dict[str, list[str]]:
    """The link directions that carry a flow's data, by the link of each of its several paths.

    Empty if the flow has one path. The links are those of `multipath`, in its order; beyond them, data takes
    the path of least delay.
    """
    spec = scenario["flows"][flow]
    multipath = (spec.get("transport") or {}).get("multipath")
    if not multipath:
        return {}
    every = edges(scenario)
    found = {}
    for link in multipath["links"]:
        ends = scenario["links"][link]["between"]
        # The link is one of the end that opens the connection, from which data may come or to which it goes.
        near, outwards = spec[spec["opened_by"]], spec["opened_by"] == "from"
        far = ends[ends[0] == near]
        beyond = [edge for edge in every if near not in (edge.start, edge.end)]
        if outwards:
            found[link] = [f"{link}/{near}->{far}", *_way(beyond, far, spec["to"])]
        else:
            found[link] = [*_way(beyond, spec["from"], far), f"{link}/{far}->{near}"]
    return found


def _of_scenario(scenario: Mapping[str, Any], flow: str) -> list[str]:
    """The path at the start of a run, from its resolved scenario."""
    spec = scenario["flows"][flow]
    return _way(edges(scenario), spec["from"], spec["to"])


def _way(every: Sequence[Edge], start: str, goal: str) -> list[str]:
    """The path from one node to another at the start of a run.

    As in the core (`crates/sim/src/routes.rs`), it is the one of least delay, among equals that of fewest
    hops, then that by the links given first.
    """
    costs = _costs_to(goal, every)
    node, way = start, []
    while node != goal:
        leaving = [edge for edge in every if edge.start == node and edge.end in costs]
        best = min(leaving, key=lambda edge: _through(edge, costs[edge.end]))
        way.append(best.name)
        node = best.end
    return way


def edges(scenario: Mapping[str, Any]) -> list[Edge]:
    """Both directions of every link, in the order of the file."""
    found = []
    for name, link in scenario["links"].items():
        one, other = link["between"]
        for start, end, direction in ((one, other, "forward"), (other, one, "backward")):
            delay = link.get(direction, {}).get("delay", link["delay"])
            found.append(Edge(f"{name}/{start}->{end}", start, end, nanoseconds(delay)))
    return found


def _costs_to(node: str, every: Sequence[Edge]) -> dict[str, Cost]:
    """The cost of the path from every node to `node`, in nanoseconds and hops (Bellman 1958)."""
    costs: dict[str, Cost] = {node: (0, 0)}
    improved = True
    while improved:
        improved = False
        for edge in every:
            if edge.end in costs:
                cost = _through(edge, costs[edge.end])
                if cost < costs.get(edge.start, (cost[0] + 1, 0)):
                    costs[edge.start] = cost
                    improved = True
    return costs


def _through(edge: Edge, cost: Cost) -> Cost:
    """The cost of `edge` followed by a path of cost `cost`."""
    return cost[0] + edge.delay_ns, cost[1] + 1
