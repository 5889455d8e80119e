"""A film for a camera: a noisy picture, whose encoder can use any rate."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

WIDTH, HEIGHT, RATE, FRAMES = 640, 360, 30, 60
# Brightness varies around grey by so much.
NOISE = 24


def write(file: Path) -> None:
    """Writes two seconds in the format YUV4MPEG2, which Chromium repeats."""
    noise = random.Random(1)
    table = bytes(128 - NOISE + 2 * NOISE * value // 256 for value in range(256))
    colours = bytes([128]) * (WIDTH * HEIGHT // 2)
    with file.open("wb") as out:
        out.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{RATE}:1 Ip A1:1 C420\n".encode("ascii"))
        for _ in range(FRAMES):
            out.write(b"FRAME\n" + noise.randbytes(WIDTH * HEIGHT).translate(table) + colours)
