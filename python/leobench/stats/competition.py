"""How flows share a network: friendliness, and how long it takes until shares are fair.

The summary of a run has the same numbers (`competition`, `docs/reference/results.md`), by the window and
tolerance of its scenario. These functions take any series, so that a run can be judged again by others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError, allowed
from leobench.stats.estimate import sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from leobench.result import Result
    from leobench.stats.estimate import Array


def friendliness_ratio(goodputs: ArrayLike, reference: ArrayLike) -> float | None:
    """The mean goodput of flows over that of reference flows that shared the network with them at the time.

    1 is what another reference flow would get; RFC 5348, section 1, calls a flow reasonably fair that is
    generally within a factor of two.

    Returns:
        The ratio; None if the reference flows got nothing.

    Raises:
        InputError: If there is no flow, or a goodput is negative or not finite.
    """
    means = [
        np.mean(_amounts(values, what)) for values, what in ((goodputs, "goodputs"), (reference, "reference"))
    ]
    return float(means[0] / means[1]) if means[1] > 0 else None


def convergence_time(
    delivered: ArrayLike,
    step_s: float,
    *,
    window_s: float = 5.0,
    tolerance: float = 0.2,
    hold_s: float = 10.0,
) -> float | None:
    """How long it takes until flows get fair shares, and keep them: the δ-fair convergence time.

    RFC 5166, section 2.3, after Bansal et al., "Dynamic behavior of slowly-responsive congestion control
    algorithms" (SIGCOMM 2001): two flows are δ-fair when they have between (1 - δ)/2 and (1 + δ)/2 of what
    both get, which for n flows is 1/n, give or take the part δ of it. Shares are those of a window that moves
    on by a step.

    Args:
        delivered: A row per flow, a column per step: what it delivered in the step, in any one unit.
        step_s: Length of a step in seconds; the first begins when the last flow arrives.
        window_s: Length of the window, in whole steps.
        tolerance: The part δ.
        hold_s: How long shares must stay fair.

    Returns:
        Seconds from the first step to the end of the first window from which on shares were fair for
        `hold_s`, so never less than `window_s`; None if there is no such window.

    Raises:
        InputError: If there are fewer than two flows, an amount is negative or not finite, or a time or the
            tolerance out of range.
    """
    rows = np.asarray(delivered, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2:
        raise InputError(
            f"delivered: an array of shape {rows.shape}; allowed: a row for each of several flows"
        )
    for index, row in enumerate(rows):
        _amounts(row, f"delivered[{index}]", least=0)
    if not 0 < tolerance < 1:
        raise InputError(f"tolerance = {tolerance:g}; allowed: more than 0, less than 1")
    window, hold = _steps("window_s", window_s, step_s), _steps("hold_s", hold_s, step_s)
    if window < 1:
        raise InputError(f"window_s = {window_s:g}; allowed: a step of {step_s:g} s or more")
    if rows.shape[1] < window:
        return None
    sums = np.lib.stride_tricks.sliding_window_view(rows, window, axis=1).sum(axis=2)
    share = sums.mean(axis=0)
    fair = (share > 0) & (np.abs(sums - share) <= tolerance * share).all(axis=0)
    run = 0
    for first, each in enumerate(fair):
        run = run + 1 if each else 0
        if run > hold:
            return float((first - hold + window) * step_s)
    return None


def delivered_in_steps(result: Result, flow: str, step_s: float, start_s: float, end_s: float) -> Array:
    """The bytes of a flow acknowledged in each whole step from one time to another.

    Raises:
        InputError: If there is no such flow, or the run recorded no series.
    """
    import polars as pl

    rows = result.tables.transport.filter(pl.col("flow") == flow)
    if rows.is_empty():
        raise _without_series(result, flow)
    totals = rows.group_by("t_ns").agg(pl.col("bytes_delivered").sum()).sort("t_ns")
    edges = np.arange(np.floor((end_s - start_s) / step_s + 1e-9) + 1) * step_s + start_s
    before = np.searchsorted(totals["t_ns"].to_numpy() / 1e9, edges, side="right")
    amounts = np.concatenate(([0.0], totals["bytes_delivered"].to_numpy()))
    return np.diff(amounts[before])


def _without_series(result: Result, flow: str) -> InputError:
    """Why there is no series of a flow."""
    kinds = {each["name"]: each["transport"] for each in result.summary["flows"]}
    if flow not in kinds:
        return InputError(f"{flow}: no such flow; {allowed(flow, kinds)}")
    if kinds[flow] == "udp":
        return InputError(
            f"{flow}: is a UDP flow; without acknowledgements its deliveries over time are "
            "not recorded; allowed: QUIC and TCP flows"
        )
    return InputError(f"{flow}: the run recorded no series; run it with record.series = true")


def _amounts(values: ArrayLike, what: str, least: int = 1) -> Array:
    array = sample(values, what, least)
    if np.any(array < 0):
        raise InputError(f"{what}: {array[array < 0][0]:g}; allowed: zero or more")
    return array


def _steps(what: str, time_s: float, step_s: float) -> int:
    if not (np.isfinite(step_s) and step_s > 0):
        raise InputError(f"step_s = {step_s:g}; allowed: a time above zero")
    if not (np.isfinite(time_s) and time_s >= 0):
        raise InputError(f"{what} = {time_s:g}; allowed: a time")
    return int(np.ceil(time_s / step_s - 1e-9))
