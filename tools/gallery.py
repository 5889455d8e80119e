"""Draws the figures of the guide again, and writes its gallery: `make gallery`.

`tools/gallery.toml` has each figure with the commands that make it. They run in a temporary folder with the
scenarios and campaigns of the checkout.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = DOCS / "gallery.md"
TUTORIAL = DOCS / "tutorial" / "ten-minutes.md"
OPENING = """\
<!-- Written by `make gallery` from tools/gallery.toml. Do not edit. -->

# Gallery

Every figure of the guide beside the commands that made it. The same commands give the same figures:
`make gallery` draws those that take up to a minute, `make gallery MINUTES=10` those of up to ten.
"""


@dataclass(frozen=True)
class Figure:
    """A figure of the guide, and how it is made. `tools/gallery.toml` explains the keys."""

    image: str
    title: str
    commands: list[str]
    drawn: str
    scenario: str | None = None
    campaign: str | None = None
    tutorial: str | None = None
    needs: str | None = None
    minutes: int = 1
    pages: list[str] = field(default_factory=list)

    def section(self) -> str:
        """Its part of the gallery."""
        made = self.scenario or self.campaign
        lines = [f"## {self.title}", ""]
        if made:
            lines += [f"`{made}`", ""]
        if self.tutorial:
            lines += [f"`{self.tutorial}.toml` of [the tutorial](tutorial/ten-minutes.md)", ""]
        lines += ["```console", *(f"$ {command}" for command in self.commands), "```", ""]
        if self.needs:
            lines += [f"It needs {self.needs}.", ""]
        lines += [f"![{self.title}](images/{self.image})"]
        if self.pages:
            lines += [
                "",
                "Explained in " + ", ".join(f"[{title(page)}]({page})" for page in self.pages) + ".",
            ]
        return "\n".join(lines) + "\n"


def title(page: str) -> str:
    """The heading of a page."""
    return (DOCS / page).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def figures() -> list[Figure]:
    """All figures, each with the pages that show it."""
    table = tomllib.loads((ROOT / "tools" / "gallery.toml").read_text(encoding="utf-8"))
    shown: dict[str, list[str]] = {}
    for page in sorted(DOCS.rglob("*.md")):
        if page in {PAGE, DOCS / "index.md"}:
            continue
        for image in re.findall(r"images/([\w.-]+)\)", page.read_text(encoding="utf-8")):
            shown.setdefault(image, []).append(str(page.relative_to(DOCS)))
    return [Figure(**each, pages=shown.get(each["image"], [])) for each in table["figure"]]


def page() -> str:
    """The text of the gallery."""
    return "\n".join([OPENING, *(figure.section() for figure in figures())])


def draw(figure: Figure, folder: Path) -> Path:
    """Runs the commands of a figure in a folder, and returns the file that they draw."""
    for name in ("scenarios", "campaigns", "tools", "examples"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    for name, text in tutorial_files().items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    for command in figure.commands:
        words = re.sub(r"^leobench ", f"{sys.executable} -m leobench ", command)
        words = re.sub(r"^python ", f"{sys.executable} ", words)
        subprocess.run(["/bin/bash", "-c", words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / figure.drawn


def tutorial_files() -> dict[str, str]:
    """The scenario and the campaign of the tutorial, by name."""
    blocks = re.findall(
        r"^```toml\n(.*?)^```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return {tomllib.loads(block)["name"]: block for block in blocks}


def main() -> None:
    """Draws figures and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("images", nargs="*", metavar="IMAGE", help="file in docs/images (default: all)")
    parser.add_argument("--minutes", type=int, default=1, help="longest time of a figure (default: 1)")
    parser.add_argument("--page", action="store_true", help="write the page, draw nothing")
    arguments = parser.parse_args()
    for figure in figures():
        chosen = figure.image in arguments.images or (
            not arguments.images and figure.minutes <= arguments.minutes and not figure.needs
        )
        if arguments.page or not chosen:
            continue
        print(figure.image, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(draw(figure, Path(folder)), DOCS / "images" / figure.image)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
