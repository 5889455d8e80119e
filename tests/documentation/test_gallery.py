"""The gallery has every figure of the guide, with commands that are understood."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from leobench import cli
from tests.support.paths import ROOT
from tools import gallery

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = {figure.image: figure for figure in gallery.figures()}


def test_the_page_is_what_the_tool_writes() -> None:
    assert gallery.PAGE.read_text(encoding="utf-8") == gallery.page(), "run `make gallery`"


def test_every_image_of_the_guide_is_in_it() -> None:
    assert {file.name for file in (gallery.DOCS / "images").iterdir()} == set(FIGURES)


@pytest.mark.parametrize("image", FIGURES)
def test_the_commands_of_a_figure_are_understood(image: str) -> None:
    figure = FIGURES[image]
    for command in figure.commands:
        program, *words = shlex.split(command)
        if program == "leobench":
            cli.build_parser().parse_args(words)
        else:
            file = words[1].replace(".", "/") + ".py" if words[0] == "-m" else words[0]
            assert (ROOT / file).is_file()
    for source in (figure.scenario, figure.campaign):
        assert source is None or (ROOT / source).is_file()
        assert source is None or any(source in command for command in figure.commands) or figure.needs


def test_a_figure_is_drawn_as_the_gallery_says(tmp_path: Path) -> None:
    drawn = gallery.draw(FIGURES["multipath.png"], tmp_path).read_bytes()
    assert drawn.startswith(b"\x89PNG")
    # The size in pixels, from the header: the same panels as in the guide.
    assert drawn[16:24] == (gallery.DOCS / "images" / "multipath.png").read_bytes()[16:24]
