"""The round-trip times that QUIC connections of programs showed by the spin bit (RFC 9000 section 17.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def summary(flows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By direction of a connection, what the bit was used for, and the samples in milliseconds."""
    return [
        {
            **{key: flow[key] for key in ("from", "to", "packets", "spin_bit")},
            "samples": len(flow["samples"]),
            "rtt_ms": _spread([rtt / 1e6 for _, rtt in flow["samples"]]),
        }
        for flow in flows
    ]


def _spread(rtts: list[float]) -> dict[str, float] | None:
    if not rtts:
        return None
    ordered = sorted(rtts)
    return {"min": ordered[0], "p50": ordered[len(ordered) // 2], "max": ordered[-1]}
