"""Jumps of the clock of a recording, found by the numbers of its probes.

A program sends its probes at a steady pace. Where no number is missing between two answers, but the clock
went on by much more than one interval, the clock was set, or the program stood still. The slots after it, or
those before it, are not where the times say.
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


def _between(sent: Floats, numbers: Floats, index: int) -> str:
    at = datetime.fromtimestamp(float(sent[index]), UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"after {at} UTC, between probes {numbers[index]:.0f} and {numbers[index + 1]:.0f}"
