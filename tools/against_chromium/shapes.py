"""Three pages of different shapes, the same bytes every time."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Pixels of a row of an image, with its filter's byte.
_WIDTH = 100
_ROW = 1 + 3 * _WIDTH


@dataclass(frozen=True)
class Resource:
    """A file of a page.

    Attributes:
        kind: Its media type.
        content: Its bytes.
    """

    kind: str
    content: bytes


Site = dict[str, Resource]


def text_page() -> Site:
    """An article: a long document, a style sheet, a script, six large images; 0.8 MB."""
    images = {f"/photo-{n}.png": image(n, 60_000 + 20_000 * n) for n in range(6)}
    return _site(40_000, {"/style.css": _style(30_000), "/app.js": _script(60_000)}, images)


def images_page() -> Site:
    """A gallery: a style sheet and 80 small images; 1.1 MB."""
    images = {f"/thumb-{n}.png": image(n, 3_000 + 280 * n) for n in range(80)}
    return _site(12_000, {"/style.css": _style(20_000)}, images)


def scripts_page() -> Site:
    """An application: scripts that ask for scripts, which ask for data and images; 2.2 MB."""
    chunks = [f"/chunk-{n}.js" for n in range(6)]
    data = [f"/data-{n}.json" for n in range(6)]
    images = {f"/icon-{n}.png": image(n, 40_000) for n in range(6)}
    files = {
        "/style.css": _style(80_000),
        "/app.js": _script(250_000, [_load(["/vendor.js"])]),
        "/vendor.js": _script(400_000, [_load(chunks)]),
    }
    for number, (chunk, file) in enumerate(zip(chunks, data, strict=True)):
        shown = (
            f'.then(() => {{ const i = new Image(); i.src = "/icon-{number}.png"; document.body.append(i) }})'
        )
        files[chunk] = _script(150_000, [f'fetch("{file}").then(answer => answer.text()){shown}'])
        files[file] = Resource("application/json", b'"' + _filler(file, 30_000) + b'"')
    page = _site(10_000, {name: files[name] for name in ("/style.css", "/app.js")}, {})
    return page | files | images


SHAPES: dict[str, Callable[[], Site]] = {"text": text_page, "images": images_page, "scripts": scripts_page}


def image(seed: int, size: int) -> Resource:
    """A PNG image of about so many bytes, which no compression shortens."""
    rows = max(1, size // _ROW)
    noise = random.Random(seed)
    pixels = b"".join(b"\0" + noise.randbytes(_ROW - 1) for _ in range(rows))
    header = struct.pack(">IIBBBBB", _WIDTH, rows, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(pixels, 0)), (b"IEND", b"")
    packed = [struct.pack(">I", len(body)) + kind + body for kind, body in chunks]
    sums = [struct.pack(">I", zlib.crc32(chunk[4:])) for chunk in packed]
    whole = b"".join(chunk + check for chunk, check in zip(packed, sums, strict=True))
    return Resource("image/png", b"\x89PNG\r\n\x1a\n" + whole)


def _site(size: int, head: Site, images: Site) -> Site:
    """A document of so many bytes with files in its head and images in its body."""
    tags = [
        f'<link rel="stylesheet" href="{path}">'
        if path.endswith(".css")
        else f'<script src="{path}" defer></script>'
        for path in head
    ]
    pictures = [f'<img src="{path}" width="50" height="50">' for path in images]
    start = f'<!doctype html><title>page</title><link rel="icon" href="data:,">{"".join(tags)}<body>'
    rest = max(0, size - len(start) - sum(map(len, pictures)))
    text = _filler("document", rest).decode()
    share = rest // (len(pictures) + 1)
    parts = [f"<p>{text[n * share : (n + 1) * share]}</p>{picture}" for n, picture in enumerate(pictures)]
    parts.append(f"<p>{text[len(pictures) * share :]}</p>")
    return {"/": Resource("text/html", (start + "".join(parts)).encode()), **head, **images}


def _load(paths: Sequence[str]) -> str:
    """A line of a script that asks for others."""
    listed = ", ".join(f'"{path}"' for path in paths)
    return (
        f"for (const path of [{listed}]) "
        '{ const s = document.createElement("script"); s.src = path; document.head.append(s) }'
    )


def _script(size: int, lines: Sequence[str] = ()) -> Resource:
    code = "\n".join(lines).encode()
    return Resource("text/javascript", b"/*" + _filler(f"script {lines}", size) + b"*/\n" + code)


def _style(size: int) -> Resource:
    return Resource("text/css", b"/*" + _filler("style", size) + b"*/\nbody { margin: 1em }")


def _filler(seed: str, size: int) -> bytes:
    return random.Random(seed).randbytes(size // 2).hex().encode()
