"""Progress bars of runs and campaigns on standard error, only if that is a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING

from leobench.cli import terminal

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

    from leobench.campaign import Status

_WIDTH = 28


class _Line:
    """A line on standard error, redrawn in place and erased at the end; only if that is a terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._started = time.perf_counter()

    @property
    def _elapsed_s(self) -> float:
        return time.perf_counter() - self._started

    def _draw(self, line: str) -> None:
        columns = shutil.get_terminal_size().columns
        terminal.draw(f"\r{terminal.shown(line)[: columns - 1]}\x1b[K", sys.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._shown:
            terminal.draw("\r\x1b[K", sys.stderr)


class Progress(_Line):
    """The virtual time of a run and its speed; a `progress` callback for `leobench.run`."""

    def __call__(self, now_s: float, end_s: float, packets: int) -> None:
        """Redraws the bar."""
        if self._shown:
            self._draw(render(now_s, end_s, packets, self._elapsed_s))


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
            self._draw(render_campaign(status, self._elapsed_s))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        super().__exit__(kind)
        if kind is KeyboardInterrupt and self._folder is not None:
            kept = "no run was started"
            if self._status is not None:
                kept = f"{self._status.done} of {self._status.total} runs are kept in {self._folder}/"
            raise KeyboardInterrupt(f"{kept}; continue with --resume") from None


def render(now_s: float, end_s: float, packets: int, elapsed_s: float) -> str:
    """The bar of a run as text."""
    share = min(now_s / end_s, 1.0) if end_s > 0 else 1.0
    speed = now_s / elapsed_s if elapsed_s > 0 else 0.0
    return (
        f"{_bar(share)}  {now_s:.1f} of {end_s:g} s  {speed:,.0f} virtual s per second  {packets:,} packets"
    )


def render_campaign(status: Status, elapsed_s: float) -> str:
    """The bar of a campaign as text; the estimate of the time left uses the runs of this session."""
    done_now, left = status.done - status.kept, status.total - status.done
    parts = [
        _bar(status.done / status.total),
        f"{status.done:,} of {status.total:,} runs",
        *([f"{status.failed:,} failed"] if status.failed else []),
        *([f"{duration(elapsed_s / done_now * left)} left"] if done_now and left else []),
    ]
    return "  ".join(parts)


def _bar(share: float) -> str:
    return f"[{'#' * int(share * _WIDTH):<{_WIDTH}}] {share:4.0%}"


def duration(seconds: float) -> str:
    """A time that something takes, for readers."""
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
