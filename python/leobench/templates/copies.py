"""Copies of a template with all files that it needs, beside each other."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from leobench.errors import InputError
from leobench.templates.catalogue import located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leobench.templates.catalogue import Template

# The scenario of a campaign, and the campaign that it extends.
_ABOVE = re.compile(r'^(?P<key>scenario|extends)(?P<equals>\s*=\s*)"(?P<file>[^"]+)"', re.MULTILINE)
# The data that a scenario reads.
_KEY = r"\b(?:delay_)?(?:file|elements|gateway_list|track|manifest|har)"
_DATA = re.compile(rf'{_KEY}\s*=\s*"(?P<file>[^"]+)"')
# The same by place, in a campaign: a file for each variant.
_VARIED = re.compile(rf'{_KEY}"\s*=\s*\[(?P<files>(?:\s*"[^"]+",?)+)\s*\]')


@dataclass(frozen=True)
class Copies:
    """The files to write for a template, by the path of each; the template itself comes first."""

    files: dict[Path, bytes]

    def write(self, *, force: bool) -> list[Path]:
        """Writes the files and returns those that were not there already.

        Args:
            force: Whether to replace files that exist.

        Raises:
            InputError: If a file exists with other contents, and is not to be replaced, or cannot be written.
        """
        from leobench.files import writing

        missing = [file for file, data in self.files.items() if not _holds(file, data)]
        # The file that the user asked for is never taken for an earlier copy of it.
        main = next(iter(self.files))
        taken = [file for file in self.files if file.exists() and (file == main or file in missing)]
        if taken and not force:
            raise InputError(f"{taken[0]}: already exists; choose another file, or add --force to replace it")
        for file in missing:
            with writing(file):
                if file.parent != main.parent:
                    file.parent.mkdir(exist_ok=True)
                file.write_bytes(self.files[file])
        return missing


def _holds(file: Path, data: bytes) -> bool:
    return file.is_file() and file.stat().st_size == len(data) and file.read_bytes() == data


def copies(template: Template, file: Path | None) -> Copies:
    """The files to write for a copy of a template, which then needs nothing but these.

    Args:
        template: The template.
        file: The file of the copy, or a folder for it; a file of the template's name unless given.

    Raises:
        InputError: If the file's name is not that of a TOML file.
    """
    names = _named(template.place)
    main = target(file, template.place.name)
    return Copies(
        {
            main if place == template.place else main.parent / name: _rewritten(place, names)
            for place, name in names.items()
        }
    )


def target(file: Path | None, name: str) -> Path:
    """The file to write.

    Args:
        file: The file, or the folder of it; the current folder unless given.
        name: The file's name unless given.

    Raises:
        InputError: If the file's name is not that of a TOML file.
    """
    chosen = Path(name) if file is None else file / name if file.is_dir() else file
    if chosen.suffix != ".toml":
        raise InputError(f"{chosen}: a template is TOML; allowed: a name that ends in `.toml`, or a folder")
    return chosen


def _named(main: PurePosixPath) -> dict[PurePosixPath, str]:
    """The name of each file that a template needs, itself included, in the folder of the copies."""
    names = {main: main.name}
    waiting = [main]
    while waiting:
        place = waiting.pop()
        for needed, name in _needed(place):
            if needed in names:
                continue
            # Campaigns often have the name of their scenario, and papers have figures of the same number.
            taken = name in names.values()
            other = f"{needed.stem}-{needed.parent.name.removesuffix('s')}{needed.suffix}"
            names[needed] = other if taken else name
            if needed.suffix == ".toml":
                waiting.append(needed)
    return names


def _needed(place: PurePosixPath) -> Iterator[tuple[PurePosixPath, str]]:
    """The files that a file names, and how each is called unless the name is taken."""
    text = located(place).read_text("utf-8")
    for found in _ABOVE.finditer(text):
        above = _joined(place, found["file"])
        yield above, above.name
    data = [found["file"] for found in _DATA.finditer(text)]
    data += [file for found in _VARIED.finditer(text) for file in re.findall('"([^"]+)"', found["files"])]
    for file in data:
        # Stays in its folder, so that the scenario finds it as it is.
        yield _joined(place, file), file


def _joined(place: PurePosixPath, file: str) -> PurePosixPath:
    return PurePosixPath(posixpath.normpath(place.parent / file))


def _rewritten(place: PurePosixPath, names: dict[PurePosixPath, str]) -> bytes:
    """The contents of a file, with the names that other files have beside it."""
    data = located(place).read_bytes()
    if place.suffix != ".toml":
        return data

    def renamed(found: re.Match[str]) -> str:
        return f'{found["key"]}{found["equals"]}"{names[_joined(place, found["file"])]}"'

    return _ABOVE.sub(renamed, data.decode("utf-8")).encode("utf-8")
