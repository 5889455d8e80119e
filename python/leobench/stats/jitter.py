"""How much delay varies from one message to the next.

Delays are in any one unit, in the order of arrival; the jitter has the same unit. All are None where there
are too few delays to vary.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from leobench.stats.estimate import sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from leobench.stats.estimate import Array

# The gain RFC 3550 prescribes for all (section 6.4.1), so that reports can be compared.
_GAIN = 1 / 16


def jitter_mean_absolute(delays: ArrayLike) -> float | None:
    """The mean absolute difference of consecutive delays; `jitter_ms` of a run's summary.

    The differences are RFC 3393's delay variation (section 2.4) with consecutive messages selected.

    Raises:
        InputError: If a delay is not finite.
    """
    differences = np.abs(np.diff(sample(delays, "delays", least=0)))
    return float(np.mean(differences)) if len(differences) else None


def jitter_standard_deviation(delays: ArrayLike) -> float | None:
    """The standard deviation of the delays, with n - 1 degrees of freedom; blind to their order.

    Raises:
        InputError: If a delay is not finite.
    """
    array = sample(delays, "delays", least=0)
    return float(np.std(array, ddof=1)) if len(array) > 1 else None


def jitter_rfc3550(delays: ArrayLike) -> float | None:
    """RFC 3550's interarrival jitter after the last delay; see `jitter_rfc3550_series`.

    Raises:
        InputError: If a delay is not finite.
    """
    series = jitter_rfc3550_series(delays)
    return float(series[-1]) if len(series) > 1 else None


def jitter_rfc3550_series(delays: ArrayLike) -> Array:
    """RFC 3550's interarrival jitter after each delay, in an array of the same length.

    From J = 0, each difference D of consecutive delays makes J += (|D| - J) / 16 (RFC 3550, section 6.4.1
    and appendix A.8; here without the appendix' rounding to whole timestamp units). It forgets: after 16
    messages about a third of what was before is left.

    Raises:
        InputError: If a delay is not finite.
    """
    array = sample(delays, "delays", least=0)
    if len(array) == 0:
        return array
    differences = np.abs(np.diff(array)).tolist()
    running = accumulate(differences, lambda jitter, d: jitter + (d - jitter) * _GAIN, initial=0.0)
    return np.fromiter(running, np.float64, len(array))
