"""The catalogue of the files that travel with leobench."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from leobench.errors import InputError, cut, near

_HERE = Path(__file__).parent
# Folders of a checkout, and where the package has their files.
_FOLDERS = {
    PurePosixPath("scenarios"): _HERE / "scenarios",
    PurePosixPath("campaigns"): _HERE / "campaigns",
    PurePosixPath("python/leobench/papers"): _HERE.parent / "papers",
}
_SCENARIOS, _CAMPAIGNS, _PAPERS = _FOLDERS
# The scenario that is made for a place.
STARLINK = "starlink"
# Files of papers that are neither scenarios nor campaigns.
_CLAIMS = "claims.toml"


@dataclass(frozen=True)
class Template:
    """A scenario or a campaign that a user may copy.

    Attributes:
        name: Its name on the command line, such as `ka`, `campaigns/buffers` or `khan2023/fig5`.
        place: Its file, by the path in a checkout.
        is_campaign: Whether it is a campaign.
    """

    name: str
    place: PurePosixPath
    is_campaign: bool

    @property
    def group(self) -> str:
        """The part of the catalogue that lists it: `scenarios`, `campaigns`, or a paper."""
        folder, _, rest = self.name.partition("/")
        return folder if rest else "scenarios"

    def table(self) -> dict[str, object]:
        """The tables and keys of the file."""
        return tomllib.loads(self.text())

    def text(self) -> str:
        """The file as it is."""
        return located(self.place).read_text("utf-8")

    def description(self) -> str:
        """One line about it."""
        return str(self.table().get("description", ""))


def located(place: PurePosixPath) -> Path:
    """The file of the package that a path in a checkout stands for.

    Raises:
        ValueError: If the file does not travel with leobench.
    """
    for folder, here in _FOLDERS.items():
        if place.is_relative_to(folder):
            return here / place.relative_to(folder)
    raise ValueError(f"{place} does not travel with leobench")


def catalogue() -> list[Template]:
    """All templates: scenarios, then campaigns, then the files of papers, each by name."""
    found = [_template(_SCENARIOS / file.name, "") for file in _files(_SCENARIOS)]
    found += [_template(_CAMPAIGNS / file.name, "campaigns/") for file in _files(_CAMPAIGNS)]
    for paper in sorted(folder.name for folder in _FOLDERS[_PAPERS].iterdir() if folder.is_dir()):
        folder = _PAPERS / paper
        found += [_template(folder / file.name, f"{paper}/") for file in _files(folder)]
    return found


def _files(folder: PurePosixPath) -> list[Path]:
    found = [file for file in located(folder).glob("*.toml") if file.name != _CLAIMS]
    return sorted(found, key=lambda file: file.stem)


def _template(place: PurePosixPath, prefix: str) -> Template:
    table = tomllib.loads(located(place).read_text("utf-8"))
    return Template(prefix + place.stem, place, bool({"scenario", "extends"} & table.keys()))


def find(name: str) -> Template:
    """The template of this name.

    `ka` and `scenarios/ka.toml` are the same, and so are `buffers` and `campaigns/buffers`.

    Raises:
        InputError: If there is none.
    """
    wanted = name.removesuffix(".toml").removeprefix("scenarios/")
    named = {template.name: template for template in catalogue()}
    for each in (wanted, f"campaigns/{wanted}"):
        if each in named:
            return named[each]
    known = [STARLINK, *(each.removeprefix("campaigns/") for each in named)]
    raise InputError(f"{cut(name)}: no such template; `leobench new` lists them{near(wanted, known)}")
