"""The page: the template with our modules, the parts of others, the content and the tables put in.

No other module writes HTML. A page runs the scripts put in here and those that they make; it loads nothing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.files import open_regular

if TYPE_CHECKING:
    from leobench.report.content import Content

ASSETS = Path(__file__).parent / "assets"

# Parts of others by the names under which our modules import them.
_PARTS = {"uplot": "uplot.js", "hyparquet": "hyparquet.js"}
_GLOBE = ("globe.gl.js", "land.json")

# Tables and parts that shrink by less than this are stored as they are.
_WORTH = 0.9

# The tag by which a page is known as a report, and the bytes from the start of a page within which it stands.
_GENERATOR = b'<meta name="generator" content="leobench">'
_HEAD = 4096


def report(content: Content) -> str:
    """The page of a content, with everything in it.

    Raises:
        InputError: If a summary holds a number that is not finite.
    """
    blocks = [_data(f"table-{name}", table.data) for name, table in content.tables()]
    if content.globe is not None:
        blocks += [_data(f"part-{name}", (ASSETS / "vendor" / name).read_bytes()) for name in _GLOBE]
    return _filled(content.title, content.described(), blocks, "'none'", globe=content.globe is not None)


def served(title: str) -> str:
    """The page of a folder that is being watched: it fetches content, tables and parts from its server."""
    return _filled(title, None, [], "'self'", globe=True)


def is_report(file: Path) -> bool:
    """Whether a file is a page that was made here."""
    try:
        with open_regular(file) as opened:
            return _GENERATOR in opened.read(_HEAD)
    except OSError:
        return False


def _filled(
    title: str, content: dict[str, Any] | None, blocks: list[str], connect: str, *, globe: bool
) -> str:
    described = _json(content)
    names = ["uplot", "hyparquet", *(["globe.gl", "world-atlas"] if globe else [])]
    licences = "\n\n".join((ASSETS / "vendor" / f"{name}.LICENSES.txt").read_text("utf-8") for name in names)
    nonce = hashlib.sha256((described + "".join(blocks) + _modules()).encode()).hexdigest()[:32]
    values = {
        "title": html.escape(title),
        "nonce": nonce,
        "connect": connect,
        "style": _style(),
        "content": described,
        "modules": _modules(),
        "boot": (ASSETS / "boot.js").read_text(encoding="utf-8"),
        "blocks": "\n".join(blocks),
        "licences": html.escape(licences),
    }
    pieces = (ASSETS / "template.html").read_text(encoding="utf-8").split("@@")
    # Each value goes in once, so that nothing in it can name another.
    return "".join(piece if number % 2 == 0 else values[piece] for number, piece in enumerate(pieces))


def _json(value: object) -> str:
    """JSON that is safe in a script element: no character of it can end the element or open a comment."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise InputError(f"the results hold a number that is not finite ({error}); run them again") from error
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _data(name: str, data: bytes) -> str:
    """Bytes as an element that is no script to the browser, compressed where that is worth it."""
    packed = gzip.compress(data, 6, mtime=0)
    small = len(packed) < _WORTH * len(data)
    text = base64.b64encode(packed if small else data).decode()
    form = ' data-gzip="1"' if small else ""
    return f'<script type="application/octet-stream" id="{html.escape(name)}"{form}>{text}</script>'


@cache
def _modules() -> str:
    """All ES modules as JSON: by the name that imports use, their text."""
    ours = {
        f"report/{file.stem}": file.read_text("utf-8") for file in sorted((ASSETS / "modules").glob("*.js"))
    }
    others = {name: (ASSETS / "vendor" / file).read_text("utf-8") for name, file in _PARTS.items()}
    return _json(others | ours)


def _style() -> str:
    files = [ASSETS / "vendor" / "uplot.css", *sorted((ASSETS / "styles").glob("*.css"))]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
