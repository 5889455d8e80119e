"""The badge of a passport: the suite and the number of checks by verdict, as an SVG for a README."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Pixels: height, a letter on average, and beside the text of a field.
_HEIGHT, _LETTER, _PADDING = 20, 6.0, 12
_GREY, _COLOURS = "#555555", {"fail": "#b84300", "warn": "#8a6100", "pass": "#00714f"}


def badge(described: Mapping[str, Any]) -> str:
    """The badge of a passport; its colour is that of the worst verdict."""
    counts, suite = described["counts"], described["suite"]
    left = f"LEO passport, suite {suite['version']}{' (quick)' if suite['quick'] else ''}"
    worst = next((verdict for verdict in ("fail", "warn") if counts[verdict]), "pass")
    right = f"{counts['pass']} pass, {counts['warn']} warn, {counts['fail']} fail"
    first, second = (round(len(text) * _LETTER) + _PADDING for text in (left, right))
    width = first + second
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" role="img" '
        f'aria-label="{left}: {right}">\n'
        f"<title>{left}: {right}</title>\n"
        f'<rect width="{width}" height="{_HEIGHT}" rx="3" fill="{_GREY}"/>\n'
        f'<rect x="{first}" width="{second}" height="{_HEIGHT}" rx="3" fill="{_COLOURS[worst]}"/>\n'
        f'<rect x="{first}" width="4" height="{_HEIGHT}" fill="{_COLOURS[worst]}"/>\n'
        '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" '
        'text-anchor="middle">\n'
        f'<text x="{first / 2:g}" y="14" textLength="{first - _PADDING}">{left}</text>\n'
        f'<text x="{first + second / 2:g}" y="14" textLength="{second - _PADDING}">{right}</text>\n'
        "</g>\n</svg>\n"
    )
