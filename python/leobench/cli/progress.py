"""Progress of runs, campaigns and replays on standard error; bars only if that is a terminal."""

from __future__ import annotations

import math
import shutil
import sys
import time
from typing import TYPE_CHECKING

from leobench.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from leobench.campaign import Status

# Columns of a line at most, of the bar itself, and between the parts.
_WIDEST, _LONGEST, _SHORTEST, _GAP = 79, 20, 8, "  "
# Seconds between lines that stay.
_EVERY_S = 5.0


class _Line:
    """A line on standard error, redrawn in place and erased at the end; only if that is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._started = time.perf_counter()

    @property
    def _elapsed_s(self) -> float:
        return time.perf_counter() - self._started

    def _draw(self, line: str) -> None:
        terminal.draw(f"\r{terminal.shown(line)}\x1b[K", sys.stderr)

    @property
    def _width(self) -> int:
        """Columns for the line: one less than the terminal has, so that it never wraps."""
        return min(_WIDEST, shutil.get_terminal_size().columns - 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._shown:
            terminal.draw("\r\x1b[K", sys.stderr)


class Progress(_Line):
    """The virtual time of a run and its speed, in packets too; a `progress` callback for `leobench.run`."""

    def __call__(self, now_s: float, end_s: float, packets: int) -> None:
        """Redraws the bar."""
        if self._shown:
            self._draw(render(now_s, end_s, packets, self._elapsed_s, self._width))


class StepProgress(_Line):
    """The step that a long computation is at; a `report` callback for `leobench.fitting.fit`."""

    def __call__(self, step: str) -> None:
        """Redraws the line."""
        if self._shown:
            self._draw(f"{step} ({duration(self._elapsed_s)})"[: max(self._width, 0)])


class CampaignProgress(_Line):
    """The finished runs of a campaign and the time left; a `progress` callback for `leobench.sweep`.

    An interruption's message tells how many runs the campaign's folder keeps, if it has one.
    """

    def __init__(self, folder: Path | None, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._folder = folder
        self._status: Status | None = None

    def __call__(self, status: Status) -> None:
        """Redraws the bar."""
        self._status = status
        if self._shown:
            self._draw(render_campaign(status, self._elapsed_s, self._width))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        super().__exit__(kind)
        if kind is KeyboardInterrupt and self._folder is not None:
            kept = "no run was started"
            if self._status is not None:
                kept = f"{self._status.done} of {self._status.total} runs are kept in {self._folder}/"
            raise KeyboardInterrupt(f"{kept}; continue with --resume") from None


class ReplayProgress(_Line):
    """The step of an inference, then the finished runs; without a terminal, lines that stay."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._quiet = quiet
        self._stage, self._last_s = "", -math.inf

    def step(self, text: str) -> None:
        """Shows the step, such as `inferring: prior 5 of 15`."""
        if self._shown:
            self._draw(f"{text} ({duration(self._elapsed_s)})"[: max(self._width, 0)])
        else:
            self._log(text.partition(":")[0], text)

    def __call__(self, status: Status) -> None:
        """Shows the finished runs."""
        if self._shown:
            self._draw(render_campaign(status, self._elapsed_s, self._width))
        else:
            self._log("running", f"{status.done:,} of {status.total:,} runs")

    def _log(self, stage: str, text: str) -> None:
        """Prints a line if the stage is a new one, or some seconds after the last."""
        if not self._quiet and (stage != self._stage or self._elapsed_s - self._last_s >= _EVERY_S):
            self._stage, self._last_s = stage, self._elapsed_s
            print(f"leobench: {text} ({duration(self._elapsed_s)})", file=sys.stderr)


def render(now_s: float, end_s: float, packets: int, elapsed_s: float, width: int = _WIDEST) -> str:
    """The bar of a run as text of at most `width` columns."""
    share = min(now_s / end_s, 1.0) if end_s > 0 else 1.0
    speed, rate = (now_s / elapsed_s, packets / elapsed_s) if elapsed_s > 0 else (0.0, 0.0)
    parts = [
        f"{now_s:.1f} of {end_s:g} s",
        *([f"{duration((end_s - now_s) / speed)} left"] if speed > 0 and share < 1 else []),
        f"{speed:,.3g} virtual s/s" if speed < 100 else f"{speed:,.0f} virtual s/s",
        *([f"{rate:,.0f} packets/s"] if rate > 0 else []),
        f"{packets:,} packets",
    ]
    return _fitted(share, parts, width)


def render_campaign(status: Status, elapsed_s: float, width: int = _WIDEST) -> str:
    """The bar of a campaign as text; the estimate of the time left uses the runs of this session."""
    done_now, left = status.done - status.kept, status.total - status.done
    parts = [
        f"{status.done:,} of {status.total:,} runs",
        *([f"{duration(elapsed_s / done_now * left)} left"] if done_now and left else []),
        *([f"{status.failed:,} failed"] if status.failed else []),
    ]
    return _fitted(status.done / status.total, parts, width)


# Parts that are worth a shorter bar: all of a run but the number of its packets.
_VITAL = 4


def _fitted(share: float, parts: Sequence[str], width: int) -> str:
    """A bar and as many of the parts as have room; for the first ones the bar becomes shorter."""
    percent = f"{share:4.0%}"
    kept: list[str] = []
    for number, part in enumerate(parts):
        bar = _SHORTEST if number < _VITAL else _LONGEST
        if bar + len("[] ") + len(_GAP.join([percent, *kept, part])) <= width:
            kept.append(part)
    told = _GAP.join([percent, *kept])
    room = min(_LONGEST, width - len(told) - 3)
    if room < _SHORTEST:
        return told.strip()[: max(width, 0)]
    return f"[{'#' * int(share * room):<{room}}] {told}"


def duration(seconds: float) -> str:
    """A time that something takes, for readers."""
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
