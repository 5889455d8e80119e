"""An estimated number with its interval, and what all estimators demand of their input."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from leobench.errors import InputError, counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number estimated from a sample, with its confidence interval.

    Attributes:
        value: The estimate, in the unit of the sample.
        low: Lower bound of the interval; None where the sample bounds nothing from below.
        high: Upper bound of the interval; None where the sample bounds nothing from above.
        n: Size of the sample.
        confidence: How often such intervals are meant to cover the truth, between 0 and 1.
        method: How the interval was made.
        note: What a reader must know before trusting it, if anything.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    confidence: float
    method: str
    note: str | None = None

    def __str__(self) -> str:
        if self.low is None and self.high is None:
            return f"{self.value:.4g} (n = {self.n})"
        low = "-∞" if self.low is None else f"{self.low:.4g}"
        high = "∞" if self.high is None else f"{self.high:.4g}"
        return f"{self.value:.4g} [{low}, {high}] ({percent(self.confidence)}, {self.method}, n = {self.n})"


def sample(values: ArrayLike, what: str, least: int = 1) -> Array:
    """The values as a vector of numbers.

    Raises:
        InputError: If they are not one row of at least `least` finite numbers; `what` names them.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: not numbers: {error}") from error
    if array.ndim != 1:
        raise InputError(f"{what}: an array of {array.ndim} dimensions; allowed: one row of numbers")
    if len(array) < least:
        raise InputError(f"{what}: {counted(len(array), 'value')}; allowed: {least} or more")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise InputError(f"{what}[{wrong[0]}] = {array[wrong[0]]}; allowed: finite numbers")
    return array


def share(value: float, what: str) -> float:
    """The value, if it is strictly between 0 and 1.

    Raises:
        InputError: If it is not; `what` names it.
    """
    if not 0 < value < 1:
        raise InputError(f"{what} = {value:g}; allowed: more than 0, less than 1")
    return value


def percent(part: float) -> str:
    """A share between 0 and 1 in per cent: to three digits, or two of its distance to 100 % if finer."""
    rest = 100 * (1 - part)
    decimals = 1 - math.floor(math.log10(rest)) if 0 < rest < 10 else 0
    return f"{100 * part:.{max(3, 2 + decimals)}g} %"
