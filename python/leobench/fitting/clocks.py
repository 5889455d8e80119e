"""Clocks of recordings that cannot be right: jumps, and times that several samples share.

A program sends its probes at a steady pace. Where no number is missing between two answers, but the clock
went on by much more than one interval, the clock was set, or the program stood still. The slots after it, or
those before it, are not where the times say. A month without a sample is such a jump, too. Where samples
share a time, times were rounded or rows are there twice: what changes within a slot has no time then.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError

if TYPE_CHECKING:
    from leobench.fitting.series import Floats

# Seconds beyond the usual interval that no number accounts for. Schedulers delay probes by less.
_JUMP_S = 2.0
# Seconds by which times that are rounded may go back.
ROUNDING_S = 0.5
# Days between two samples of one file, and the share of samples that may have the time of another.
_MOST_DAYS, _MOST_SHARED = 30.0, 0.1
# Samples that are closer tell the fast part of a process, which cannot have two values at one time.
_CLOSE_S = 0.3
_DAY_S = 86_400.0
# Seconds below which two times are the same: sums of UNIX seconds have no more digits.
_SAME_S = 1e-5
# A clock that counts from the start of a recording has not reached the year 1973.
ABSOLUTE_S = 1e8
_ALLOWED = "allowed: a clock that nobody sets while it records; give the parts before and after as two files"


def check(name: str, sent: Floats, numbers: Floats) -> None:
    """Refuses a recording whose clock jumps.

    Args:
        name: The recording, in messages.
        sent: When each answered probe of one program was sent, in seconds.
        numbers: Its number; ascending.

    Raises:
        InputError: At the largest jump, if there is one.
    """
    if len(sent) < 2:
        return
    steps, missing = np.diff(sent), np.diff(numbers) - 1
    usual = float(np.median(steps / (missing + 1)))
    back, ahead = int(np.argmin(steps)), int(np.argmax(np.where(missing == 0, steps, -np.inf)))
    if steps[back] < -ROUNDING_S:
        raise InputError(
            f"{name}: the clock goes back by {-steps[back]:.3g} s {_between(sent, numbers, back)}; {_ALLOWED}"
        )
    if missing[ahead] == 0 and steps[ahead] - usual > _JUMP_S:
        raise InputError(
            f"{name}: the clock jumps ahead by {steps[ahead] - usual:.3g} s, or the program stood still, "
            f"{_between(sent, numbers, ahead)}, though none is missing and they are {usual:.3g} s apart "
            f"elsewhere; {_ALLOWED}"
        )


def check_times(name: str, times: Floats) -> None:
    """Refuses a recording with many samples at the same time, or a month without any.

    A clock that is set right while it records may give two rows one time. Close samples may share none.

    Args:
        name: The recording, in messages.
        times: When each sample was taken, in seconds; ascending.

    Raises:
        InputError: At the first time that comes again, if many do, or at the largest gap.
    """
    if len(times) < 2:
        return
    steps = np.diff(times)
    _check_shared(name, times, 0.0 if np.median(steps) < _CLOSE_S else _MOST_SHARED)
    longest = int(np.argmax(steps))
    if steps[longest] > _MOST_DAYS * _DAY_S:
        raise InputError(
            f"{name}: the clock jumps ahead by {steps[longest] / _DAY_S:,.0f} days after "
            f"{date(times[longest])}; allowed: up to {_MOST_DAYS:g} days between two samples of a file; "
            "give the parts before and after as two files, or set their times right"
        )


def check_answers(name: str, came: Floats) -> None:
    """Refuses a recording of probes whose times are rounded: many answers came at the same time.

    After an outage, a few answers come together.

    Args:
        name: The recording, in messages.
        came: When each answer came, in seconds.

    Raises:
        InputError: At the first time that comes again, if many do.
    """
    _check_shared(name, np.sort(came), _MOST_SHARED)


def _check_shared(name: str, times: Floats, most: float) -> None:
    """Refuses ascending times of which more than a share are the same."""
    steps = np.diff(times)
    same = steps < _SAME_S
    if same.sum() <= most * len(times):
        return
    first, count = float(times[int(np.argmax(same))]), int(same.sum())
    unit = f" to {float(steps[~same].min()):.2g} s" if not same.all() else ""
    raise InputError(
        f"{name}: {count:,} of {len(times):,} samples have the time of the one before, the first at "
        f"{date(first)}; allowed: times that ascend; were they rounded{unit}, or are rows there twice?"
    )


def date(seconds: float) -> str:
    """A time, for readers: a date, or seconds of a clock that counts from some start."""
    if seconds < ABSOLUTE_S:
        return f"{seconds:.3f} s"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _between(sent: Floats, numbers: Floats, index: int) -> str:
    at = date(float(sent[index]))
    return f"after {at}, between probes {numbers[index]:.0f} and {numbers[index + 1]:.0f}"
