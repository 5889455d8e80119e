"""Data that a fit may have been made from: a score on them says nothing about others."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import counted
from leobench.fitting import readers
from leobench.fitting.fit import described

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leobench.fitting.series import Series

_MAY = "the fit may have seen these data"
_SPAN = re.compile(r"(\d\d):00 to (\d\d):00")
_HOURS = 24


def by_name(data: Sequence[str], train: Sequence[str]) -> list[str]:
    """A warning for each recording that is data and training, by the arguments that name them."""
    trained = {_file(word) for word in train}
    return [
        f"{Path(readers.named(word)[1])} is in --data and in --train: {_MAY}"
        for word in data
        if _file(word) in trained
    ]


def _file(word: str) -> Path:
    return Path(readers.named(word)[1]).resolve()


def by_time(held: Sequence[Series], train: Sequence[Series]) -> list[str]:
    """A warning for each quantity whose data and training have samples of the same time, under two names."""
    found = []
    for data, trained in itertools.product(held, train):
        if data.quantity == trained.quantity and data.is_absolute and trained.is_absolute:
            count = int(np.isin(data.times, trained.times).sum())
            if count:
                found.append(
                    f"{_MAY}: {count:,} of {counted(len(data.times), 'sample')} of {data.quantity} "
                    "have the time of one in --train"
                )
    return found


def by_date(fit: Mapping[str, Any], held: Sequence[Series], train: Sequence[Series]) -> list[str]:
    """A warning if a fit was made from recordings of a date that the data have, at an hour that they have.

    Dates of the training are left out: those recordings are known, so `by_time` compares their samples.
    """
    about, data = fit.get("about") or {}, described(held)
    known = described(train).get("dates", ()) if train else ()
    shared = [date for date in about.get("dates", ()) if date in data.get("dates", ()) and date not in known]
    both = _hours(about.get("hours")) & _hours(data.get("hours"))
    if not shared or not both:
        return []
    return [f"{_MAY}: its recordings have {shared[0]}, {min(both):02}:00 to {min(both) + 1:02}:00 UTC, too"]


def _hours(told: object) -> set[int]:
    """The hours of the day in a description, all if it names none."""
    spans = [(int(first), int(end)) for first, end in _SPAN.findall(str(told))]
    found = {(first + at) % _HOURS for first, end in spans for at in range((end - first) % _HOURS or _HOURS)}
    return found or set(range(_HOURS))
