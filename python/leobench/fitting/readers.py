"""Recordings as series: round trips of an idle path, and capacity of a saturated one.

The formats are those of `leobench.recording`, a CSV of rates, and a trace of Mahimahi. The goodput of TCP is
no capacity: congestion control or a window may have kept it below. Such recordings are refused here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leobench import recording
from leobench.errors import InputError, allowed
from leobench.fitting import clocks, quick, series
from leobench.recording import dish, iperf3, irtt, json_source, times
from leobench.recording.readings import RATE, number
from leobench.recording.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from leobench.fitting.series import Floats, Load, Quantity, Series
    from leobench.recording.readings import Rate

_RATES: dict[Quantity, str] = {"downlink": "downlink_mbps", "uplink": "uplink_mbps"}
DIRECTIONS = tuple(_RATES)
_SPEED = "speed_kmh"
# A pause after a lost probe is so many times as long as the usual time between two.
_PAUSE = 3.0
# Columns of a transfer's log: bytes per interval, by a sender that was limited by its window.
_TRANSFER = {"bytes", "start_s", "end_s"}

# Bits of an opportunity of Mahimahi, and the length of the intervals that they are counted in, in seconds.
_OPPORTUNITY = 8 * 1_500
_BIN_S = 0.1
# Rates above are in other units: no terminal of today has 10 Gbit/s.
_MOST_MBPS = 10_000.0
# Medians of rates below are, too: terminals that pay least have 0.5 Mbit/s.
_LEAST_MBPS = 0.4
# Medians of round trips outside: seconds or microseconds that were taken for milliseconds.
_RTT_MS = (2.0, 5_000.0)


def read(
    path: Path, direction: Quantity | None = None, load: Load | None = None, start_s: float = 0.0
) -> list[Series]:
    """Reads a recording.

    Args:
        path: Output of `ping -D`, JSON of irtt or iperf3, CSV of probes, rates or a dish, or a trace of
            Mahimahi.
        direction: The direction of the rates, where the file does not tell it.
        load: The load of the path while round trips were measured; idle unless given.
        start_s: The time of the start of a trace that has no times of its own, in seconds since 1970.

    Raises:
        InputError: If the file cannot be read, is in wrong units, or does not tell a capacity, or if a
            direction is given for round trips.
    """
    source = Source.read(path)
    columns = set(source.columns())
    if columns >= _TRANSFER:
        raise _transfer(source, "is the log of one transfer")
    if columns & set(_RATES.values()):
        return _rates_csv(source, columns, direction)
    if _is_mahimahi(source):
        return [_mahimahi(source, direction, start_s)]
    if iperf3.detect(source):
        return [_iperf3(source, direction)]
    quick_read = quick.probes(source)
    if quick_read is not None:
        _refuse_direction(source, direction)
        return [_round_trips(source, *quick_read, load or "idle")]
    if irtt.detect(source):
        _check_clock(source)
    if recording.format_of(source) is None:
        raise InputError(
            f"{path}: is no recording to fit; allowed: `ping -D`, JSON of irtt or of iperf3 over UDP, "
            f"a Mahimahi trace, the log of a dish, or a CSV with a time ({', '.join(times.COLUMNS)}) "
            f"and `rtt_ms`, {' or '.join(f'`{column}`' for column in _RATES.values())}"
        )
    reading = recording.read(path, None)
    if reading.rates and not reading.probes:
        raise InputError(
            f"{path}: has rates that a dish counted, of the traffic that there was, not of the capacity; "
            f"allowed: a column `{dish.LATENCY}`, or a saturating transfer over UDP"
        )
    _refuse_direction(source, direction)
    sent = np.array([probe.at for probe in reading.probes])
    rtt = np.array([np.nan if probe.rtt_s is None else probe.rtt_s * 1e3 for probe in reading.probes])
    return [_round_trips(source, sent, rtt, load or "idle")]


def _refuse_direction(source: Source, direction: Quantity | None) -> None:
    if direction is not None:
        raise InputError(
            f"{direction}={source.file}: has round trips, which take both directions; "
            f"allowed: {source.file} without `{direction}=`"
        )


def _check_clock(source: Source) -> None:
    """Refuses the JSON of irtt if its clock jumps. It lists all probes, with those that were lost."""
    _, trips = json_source.read(source, "round_trips")
    numbers = np.array([trip.number("seqno") for trip in trips])
    sent = np.array([trip.number("timestamps", "client", "send", "wall") / 1e9 for trip in trips])
    order = np.argsort(numbers, kind="stable")
    clocks.check(str(source.file), sent[order], numbers[order])


def _transfer(source: Source, problem: str) -> InputError:
    return InputError(
        f"{source.file}: {problem}: a lower bound of the capacity; infer the capacity with "
        "`leobench replay`; allowed here: saturating UDP"
    )


def _round_trips(source: Source, sent: Floats, rtt: Floats, load: Load) -> Series:
    answered = ~np.isnan(rtt)
    clocks.check_answers(str(source.file), sent[answered] + rtt[answered] / 1e3)
    found = series.make(str(source.file), _when_sent(sent, rtt), rtt, "rtt", load)
    median = float(np.nanmedian(rtt))
    if median < _RTT_MS[0]:
        raise InputError(
            f"{source.file}: the median of the round trips is {median:.3g} ms; "
            f"allowed: from {_RTT_MS[0]:g} ms, as satellites are 550 km away; are they in seconds?"
        )
    if median > _RTT_MS[1]:
        raise InputError(
            f"{source.file}: the median of the round trips is {median:,.0f} ms; "
            f"allowed: to {_RTT_MS[1]:,.0f} ms; are they in microseconds?"
        )
    return found


def _when_sent(sent: Floats, rtt: Floats) -> Floats:
    """When each probe was sent, also by a program that awaits an answer for seconds before it sends the next.

    The recording then pauses after each lost probe, whose time is that of the middle of the pause. It was
    sent at its beginning.
    """
    answered = np.flatnonzero(~np.isnan(rtt))
    steps, pauses = np.diff(answered), np.diff(sent[answered])
    if not (steps == 1).any():
        return sent
    usual = float(np.median(pauses[steps == 1]))
    found = sent.copy()
    for at in np.flatnonzero((steps > 1) & (pauses > _PAUSE * steps * usual)).tolist():
        before, missing = answered[at], steps[at] - 1
        spread = (pauses[at] - usual) / missing
        found[before + 1 : before + 1 + missing] = sent[before] + usual + spread * np.arange(missing)
    return found


def _rates_csv(source: Source, columns: set[str], direction: Quantity | None) -> list[Series]:
    """The series of a CSV with the rate of one or both directions in each row; of one, if it is named."""
    time = times.column(columns)
    if time is None:
        raise InputError(f"{source.file}: lacks a column; needed: one of {', '.join(times.COLUMNS)}")
    here = {
        quantity: column
        for quantity, column in _RATES.items()
        if column in columns and direction in (None, quantity)
    }
    if not here:
        raise InputError(
            f"{source.file}: has no column `{_RATES[direction or 'downlink']}` for `{direction}=`"
        )
    names = [time, *here.values(), *([_SPEED] if _SPEED in columns else [])]
    table = quick.table_of(source, names)
    if table is not None and all(_plausible(each) for each in table[1 : 1 + len(here)]):
        rate = dict(zip(here, table[1:], strict=False))
        speed = table[-1] if _SPEED in columns else None
        return _capacities(source, table[0], rate, speed)
    at: list[float] = []
    speeds: list[float] = []
    rates: dict[Quantity, list[float]] = {quantity: [] for quantity in here}
    for place, row in source.rows():
        at.append(times.seconds(row[time], place))
        for quantity, column in here.items():
            value = number(row[column], column, place) if row[column] else np.nan
            if not np.isnan(value):
                RATE.check(value * 1e6, place)
            rates[quantity].append(value)
        speeds.append(number(row[_SPEED], _SPEED, place) if row.get(_SPEED) else np.nan)
    known = np.array(speeds) if _SPEED in columns else None
    return _capacities(source, np.array(at), {of: np.array(each) for of, each in rates.items()}, known)


def _plausible(mbps: Floats) -> bool:
    return bool((np.isnan(mbps) | ((mbps >= 0) & (mbps <= RATE.most / 1e6))).all())


def _capacities(
    source: Source, at: Floats, rates: dict[Quantity, Floats], speed: Floats | None
) -> list[Series]:
    measured = {quantity: mbps for quantity, mbps in rates.items() if not np.isnan(mbps).all()}
    if not measured:
        raise InputError(f"{source.file}: has no rate; allowed: at least one row with a rate")
    return [_capacity(source, at, mbps, quantity, speed) for quantity, mbps in measured.items()]


def _capacity(
    source: Source, at: Floats, mbps: Floats, quantity: Quantity, speed: Floats | None = None
) -> Series:
    measured = ~np.isnan(mbps)
    speed = None if speed is None else speed[measured]
    found = series.make(str(source.file), at[measured], mbps[measured], quantity, "saturated", speed)
    median = float(np.median(found.values[found.values > 0])) if found.values.any() else np.nan
    if median > _MOST_MBPS:
        raise InputError(
            f"{source.file}: the median of the {quantity} is {median:,.0f} Mbit/s; "
            f"allowed: to {_MOST_MBPS:,.0f} Mbit/s; is it in bit/s or kbit/s?"
        )
    if median < _LEAST_MBPS:
        raise InputError(
            f"{source.file}: the median of the {quantity} is {median:.3g} Mbit/s; "
            f"allowed: from {_LEAST_MBPS:g} Mbit/s; is it in Gbit/s?"
        )
    return found


def _directed(source: Source, direction: Quantity | None) -> Quantity:
    if direction is None:
        raise InputError(
            f"{source.file}: does not tell its direction; name it as `downlink={source.file}` or `uplink=...`"
        )
    return direction


def _iperf3(source: Source, direction: Quantity | None) -> Series:
    """The rates that the receiver of a saturating transfer over UDP saw."""
    whole, intervals = json_source.read(source, "intervals")
    rates = iperf3.read(source).rates
    protocol = whole.get("start", "test_start", "protocol")
    if protocol != "UDP":
        raise _transfer(source, f"is a transfer over {protocol}")
    if intervals and intervals[0].has("sum", "sender") and intervals[0].get("sum", "sender") is True:
        raise InputError(
            f"{source.file}: has the rates of the sender, which the link may have dropped; "
            "allowed: the JSON of the receiver: the client's with --reverse, or the server's"
        )
    # The client is at the terminal: with --reverse, it receives.
    reverse = whole.number("start", "test_start", "reverse")
    found: Quantity = direction or ("downlink" if reverse else "uplink")
    return _capacity(source, *_arrays(rates), found)


def _arrays(rates: list[Rate]) -> tuple[Floats, Floats]:
    return np.array([rate.at for rate in rates]), np.array([rate.bps / 1e6 for rate in rates])


def _is_mahimahi(source: Source) -> bool:
    """Whether the first lines are whole numbers and nothing else."""
    head = source.text[:200].split()[:-1] or source.text.split()
    return all(word.isascii() and word.isdigit() for word in head)


def _mahimahi(source: Source, direction: Quantity | None, start_s: float) -> Series:
    """The rate of a trace in intervals of 100 ms."""
    quantity = _directed(source, direction)
    try:
        millis = np.array(source.text.split(), dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(
            f"{source.file}: is no trace of Mahimahi; allowed: one whole number per line"
        ) from None
    if (np.diff(millis) < 0).any():
        line = int(np.argmax(np.diff(millis) < 0)) + 2
        raise InputError(f"{source.file}:{line}: the time goes back; allowed: milliseconds that ascend")
    whole = int(millis[-1] / 1e3 / _BIN_S)
    if whole < 1:
        raise InputError(f"{source.file}: is shorter than {_BIN_S:g} s; allowed: minutes")
    counts = np.bincount(((millis - 1) / 1e3 / _BIN_S).astype(np.int64).clip(0), minlength=whole)[:whole]
    at = start_s + np.arange(whole, dtype=np.float64) * _BIN_S
    mbps: Floats = counts.astype(np.float64) * (_OPPORTUNITY / _BIN_S / 1e6)
    return _capacity(source, at, mbps, quantity)


def named(word: str) -> tuple[Quantity | None, str]:
    """The direction and the file of an argument `FILE`, `downlink=FILE` or `uplink=FILE`.

    Raises:
        InputError: If what is before the sign is no direction, but could be meant as one.
    """
    before, sign, after = word.partition("=")
    for known in DIRECTIONS:
        if sign and before == known:
            return known, after
    if sign and before.isalpha():
        raise InputError(f"{word}: `{before}` is no direction; {allowed(before, DIRECTIONS)}")
    return None, word
