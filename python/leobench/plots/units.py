"""Units with prefixes that fit the numbers, and numbers as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leobench.plots.style import Array

_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))

_SCALES = {
    "B": (1.0, _BYTES),
    "bit/s": (1.0, _RATES),
    "s": (1.0, _SECONDS),
    "ms": (1e-3, _SECONDS),
    "us": (1e-6, _SECONDS),
    "ns": (1e-9, _SECONDS),
}


def scale(unit: str, largest: float) -> tuple[float, str]:
    """The divisor and the unit for values up to `largest`.

    Bytes (`B`), rates (`bit/s`) and times (`s`, `ms`, `us`, `ns`) get a suitable prefix. Others are kept.
    """
    if unit not in _SCALES:
        return 1.0, unit
    base, prefixed = _SCALES[unit]
    size, name = _pick(largest * base, prefixed)
    return size / base, name


def scale_of(unit: str, series: Iterable[Array]) -> tuple[float, str]:
    """The divisor and the unit that several series share, by their largest number."""
    import numpy as np

    return scale(unit, max((float(np.nanmax(each, initial=0.0)) for each in series), default=0.0))


def _pick(largest: float, prefixed: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    return next((unit for unit in prefixed if largest >= unit[0]), prefixed[-1])


def number_text(value: float) -> str:
    """A number to three digits."""
    sign, size = "-" if value < 0 else "", abs(value)
    return sign + (_three_digits(size) if size >= 1 or size == int(size) else f"{size:.2g}")


def rate_text(bps: float) -> str:
    """A rate in bits per second with its unit, to three digits."""
    return _with_unit(bps, _RATES)


def millis_text(millis: float) -> str:
    """A time in milliseconds with its unit, to three digits."""
    return _with_unit(millis / 1e3, _SECONDS)


def _with_unit(value: float, prefixed: tuple[tuple[float, str], ...]) -> str:
    size, name = _pick(value, prefixed)
    return f"{_three_digits(value / size)} {name}"


def _three_digits(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


# Significant digits of half an interval, of a mean without one, and of any number in a table.
_DIGITS_OF_SPREAD, _DIGITS_ALONE, _MOST_DIGITS = 2, 4, 6


def decimals(values: Sequence[float], spreads: Sequence[float] = ()) -> int:
    """The decimals for numbers that stand below each other: so many that the smallest spread has two digits.

    Two digits of a spread are what JCGM 100:2008 (GUM), 7.2.6, states uncertainties to. Without a spread, the
    largest number gets four digits. No number gets more than six.
    """
    largest = max(map(abs, values), default=0.0)
    before = math.floor(math.log10(largest)) + 1 if largest > 0 else 1
    real = [spread for spread in spreads if spread > 1e-9 * largest]
    wanted = _DIGITS_ALONE - before
    if real:
        wanted = _DIGITS_OF_SPREAD - 1 - math.floor(math.log10(min(real)))
    return max(0, min(wanted, _MOST_DIGITS - before))


def fixed(value: float, places: int, *, grouped: bool = True) -> str:
    """A number to so many decimals, thousands in groups if asked; zero has no sign."""
    text = f"{value:,.{places}f}" if grouped else f"{value:.{places}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def step_below(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten that is not above a value above zero."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(max(step * power for step in (1, 2, 5) if step * power <= value * (1 + 1e-9)))


def step_above(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten that is not below a value above zero."""
    power = 10.0 ** math.floor(math.log10(value))
    return float(min(step * power for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9)))
