"""A film for players: segments of constant bitrates by ffmpeg, and their DASH manifest."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tools.against_chromium import browser

if TYPE_CHECKING:
    from pathlib import Path

LADDER_KBPS = (500, 1000, 2000, 4000)
LENGTH_S, SEGMENT_S, RATE = 120, 4, 25
MANIFEST = "film.mpd"


def make(folder: Path) -> None:
    """Makes the film, unless it is there.

    Raises:
        InputError: If there is no ffmpeg.
    """
    ffmpeg = browser.needed(["ffmpeg"], "films", "ffmpeg")
    if (folder / MANIFEST).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    streams = [arguments for place, rate in enumerate(LADDER_KBPS) for arguments in _stream(place, rate)]
    picture = ["-f", "lavfi", "-i", f"testsrc2=size=320x180:rate={RATE}", "-t", str(LENGTH_S)]
    maps = ["-map", "0:v"] * len(LADDER_KBPS)
    encoder = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
    # A frame in 100 is a key frame, no scene cut adds one, and filler makes every rate constant.
    every = SEGMENT_S * RATE
    encoder += ["-x264-params", f"nal-hrd=cbr:keyint={every}:min-keyint={every}:scenecut=0"]
    dash = [
        "-f",
        "dash",
        "-seg_duration",
        str(SEGMENT_S),
        "-use_timeline",
        "0",
        "-adaptation_sets",
        "id=0,streams=v",
    ]
    words = [ffmpeg, "-v", "error", "-y", *picture, *maps, *encoder, *streams, *dash, MANIFEST]
    subprocess.run(words, cwd=folder, check=True)
    (folder / "index.html").write_text(
        "<!doctype html><title>film</title><video muted></video>", encoding="utf-8"
    )


def _stream(place: int, rate: int) -> list[str]:
    return [
        word for name in ("b", "minrate", "maxrate", "bufsize") for word in (f"-{name}:v:{place}", f"{rate}k")
    ]
