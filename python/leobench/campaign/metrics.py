"""Metrics: the numbers of a run's summary, each under a path such as `flows.main.delay_ms.mean`."""

from __future__ import annotations

import difflib
import io
import json
import re
from typing import TYPE_CHECKING, Any

from leobench.campaign import spreads
from leobench.errors import InputError, LeobenchError
from leobench.scenario import load as load_scenario

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import polars as pl

    from leobench.campaign.definition import Variant
    from leobench.campaign.plan import Campaign

    Number = float | None


def flatten(summary: Mapping[str, Any]) -> dict[str, Number]:
    """Every number of a summary by its path; `None` if it was not measured.

    Flows, streams and links are named, the paths of a flow numbered. Counts that a stack does not report are
    zero in the summary, and not measured.
    """
    return {
        path: value for path, value in _leaves(summary, "") if value is None or isinstance(value, int | float)
    }


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        unknown = value.get("unreported", ())
        for key, held in value.items():
            if key != "unreported":
                known = None if key in unknown else held
                yield from _leaves(known, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for held in value:
            yield from _leaves(held, f"{path}.{held['name'] if 'name' in held else held['path']}")
    else:
        yield path, value


def frame(table: bytes) -> pl.DataFrame:
    """A table of a run from the bytes of its Parquet file."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(table), glob=False)


def produced(campaign: Campaign) -> set[str] | None:
    """The metrics in the summaries of the variants, each of which is run for a millisecond of virtual time.

    `None` if a variant cannot be cut that short.
    """
    found: set[str] = set()
    for variant in campaign.variants:
        metrics = _probe(campaign, variant)
        if metrics is None:
            return None
        found |= metrics
    return found


def _probe(campaign: Campaign, variant: Variant) -> set[str] | None:
    from leobench import _core

    short: dict[str, object] = {
        "engine": "virtual",
        "duration": "1 ms",
        "warm_up": "0 s",
        "until": "time",
        "record.series": False,
    }
    for name, flow in campaign.scenarios[variant.name]["flows"].items():
        short[f"flows.{name}.start"] = "0 s"
        if flow.get("stop") is not None:
            short[f"flows.{name}.stop"] = "1 ms"
    # A handover within the run, if any: those of the scenario come later.
    for name, handover in campaign.scenarios[variant.name].get("handovers", {}).items():
        moved = {key: handover[key] for key in ("node", "links", "kind", "old_packets") if key in handover}
        short[f"handovers.{name}"] = moved | {"at": ["0.5 ms"]}
    try:
        scenario = load_scenario(campaign.scenario, None, {**campaign.overrides(variant), **short})
        summary, recorded, *_ = _core.run(scenario)
    except LeobenchError:
        return None
    numbers = json.loads(summary)
    for flow in numbers["flows"]:
        _foresee_paths(flow, campaign.scenarios[variant.name]["flows"][flow["name"]]["transport"])
    if campaign.spreads:
        spreads.add(numbers, frame(recorded["messages"]))
    return set(flatten(numbers))


# The numbers of a flow and of its paths once there are several; a test holds them to those of a run.
_DELAY = dict.fromkeys(("mean", "p50", "p95", "p99", "max"), 0)
_OF_SEVERAL = {"reinjected_bytes": 0, "duplicate_bytes": 0, "reordering_delay_ms": _DELAY}
_OF_ANY = (
    "srtt_ms",
    "sent_packets",
    "lost_packets",
    "retransmitted_packets",
    "retransmitted_bytes",
    "congestion_events",
    "timeouts",
    "spurious_losses",
    "undos",
    "ecn_marks",
)
_OF_EACH = {
    **dict.fromkeys(_OF_ANY, 0),
    "cwnd_bytes": 0,
    "sent_bytes": 0,
    "reinjected_bytes": 0,
    "packet_delay_ms": _DELAY,
}


def _foresee_paths(flow: dict[str, Any], transport: dict[str, Any]) -> None:
    """Adds the numbers of paths that open later than the short run ends."""
    multipath = transport.get("multipath")
    if not multipath:
        return
    count = len(multipath["links"]) * max(1, len(multipath["peer_links"]))
    flow.update(_OF_SEVERAL)
    flow["paths"] = [{**_OF_EACH, "path": path} for path in range(count)]


def _first_handover(metric: str) -> str:
    """The metric of the first handover for that of any: how many there are is not known before a run."""
    return re.sub(r"(\.handovers\.each\..*-)\d+(?=\.[^.]*$)", r"\g<1>0", metric)


def _elsewhere(metric: str, known: Collection[str]) -> list[str]:
    """The metrics of this name at other places of the same flow or link, such as those of its streams."""
    below, _, name = metric.partition(".")[2].partition(".")
    above = f"{metric.partition('.')[0]}.{below}."
    return sorted(path for path in known if name and path.startswith(above) and path.endswith(f".{name}"))[:3]


def refuse_unknown(campaign: Campaign, known: Collection[str]) -> None:
    """Checks that the campaign's metrics are among those that its runs produce.

    Raises:
        InputError: If one is not; the message names the nearest.
    """
    for index, metric in enumerate(campaign.metrics):
        if _first_handover(metric) not in known:
            near = _elsewhere(metric, known) or difflib.get_close_matches(metric, sorted(known), 3, 0.5)
            tail = metric.rpartition(".")[2]
            allowed = near or sorted(path for path in known if path.endswith(f".{tail}")) or sorted(known)
            listed = ", ".join(f"`{path}`" for path in allowed[:12])
            raise InputError(
                f'{campaign.source("metrics")}: metrics[{index}] = "{metric}": no run produces it; '
                + (f"did you mean {listed}?" if near else f"allowed: {listed}{', ...' * (len(allowed) > 12)}")
            )
