"""A progress bar with the virtual time reached and how fast it passes; only where someone watches."""

from __future__ import annotations

import shutil
import sys
import time

_WIDTH = 28


class Progress:
    """Draws a bar on standard error if that is a terminal; call it with what `leobench.run` reports."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._started = time.perf_counter()

    def __call__(self, now_s: float, end_s: float, packets: int) -> None:
        """Redraws the bar."""
        if not self._shown:
            return
        elapsed = time.perf_counter() - self._started
        line = render(now_s, end_s, packets, elapsed)
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(f"\r{line[: columns - 1]}\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Wipes the bar."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def render(now_s: float, end_s: float, packets: int, elapsed_s: float) -> str:
    """The bar as text."""
    share = min(now_s / end_s, 1.0) if end_s > 0 else 1.0
    bar = "#" * int(share * _WIDTH)
    speed = now_s / elapsed_s if elapsed_s > 0 else 0.0
    return (
        f"[{bar:<{_WIDTH}}] {share:4.0%}  {now_s:.1f} of {end_s:g} s  "
        f"{speed:,.0f} virtual s per second  {packets:,} packets"
    )
