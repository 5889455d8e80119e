"""Steps of the release checklist in RELEASING.md that a program can carry out.

`python tools/release.py check v0.1.0` checks versions, changelog, citation and tag; `archives FOLDER`
checks the built archives; `notes v0.1.0` prints the changelog's section of that version.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
# Bytes of the largest archive.
LARGEST = 15_000_000
# Parts of the names of the wheels that a release has.
PLATFORMS = (
    "manylinux.*_x86_64",
    "manylinux.*_aarch64",
    "macosx_.*_x86_64",
    "macosx_.*_arm64",
)
TAG = re.compile(r"v(\d+\.\d+\.\d+)")
SECTION = re.compile(r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\S+))?$", re.MULTILINE)


def version(root: Path = ROOT) -> str:
    """The version of the workspace."""
    told: str = tomllib.loads((root / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    return told


def sections(changelog: str) -> dict[str, tuple[str | None, str]]:
    """Date and text of each section of a changelog, by its version, in their order."""
    found = list(SECTION.finditer(changelog))
    ends = [*(each.start() for each in found[1:]), len(changelog)]
    return {
        each["version"]: (each["date"], changelog[each.end() : end].strip())
        for each, end in zip(found, ends, strict=True)
    }


def faults(tag: str, root: Path = ROOT, today: date | None = None) -> Iterator[str]:
    """Everything that keeps a tag from being released."""
    matched = TAG.fullmatch(tag)
    if not matched:
        yield f"{tag}: is not of the form v0.1.0"
        return
    wanted = matched[1]
    if version(root) != wanted:
        yield f"Cargo.toml: has version {version(root)}, the tag {wanted}"
    locked = {
        package["version"]
        for package in tomllib.loads((root / "Cargo.lock").read_text("utf-8"))["package"]
        if package["name"].startswith("leobench-")
    }
    if locked != {wanted}:
        yield f"Cargo.lock: has versions {', '.join(sorted(locked))}; run `cargo metadata` to renew it"
    written = sections((root / "CHANGELOG.md").read_text("utf-8"))
    when, text = written.get(wanted, (None, ""))
    if when is None:
        yield f"CHANGELOG.md: has no section `## [{wanted}] - YYYY-MM-DD`"
    elif not is_past(when, today or datetime.now(UTC).date()):
        yield f"CHANGELOG.md: {when} is no date up to today"
    if not re.search(r"^- ", text, re.MULTILINE):
        yield f"CHANGELOG.md: the section of {wanted} has no line"
    if re.search(r"^- ", written.get("Unreleased", (None, ""))[1], re.MULTILINE):
        yield "CHANGELOG.md: lines are still under Unreleased; move them to the version"
    yield from cited(wanted, when, (root / "CITATION.cff").read_text("utf-8"))


def is_past(text: str, today: date) -> bool:
    """Whether a text is a date up to today."""
    try:
        return date.fromisoformat(text) <= today
    except ValueError:
        return False


def cited(wanted: str, when: str | None, citation: str) -> Iterator[str]:
    """Everything that is wrong with version and date of the citation."""
    for key, value in (("version", wanted), ("date-released", when)):
        found = re.search(rf'^{key}: "?([^"\n]+)"?$', citation, re.MULTILINE)
        told = found[1] if found else None
        if told != value:
            yield f"CITATION.cff: {key} is {told}, and should be {value}"


def tag_faults(tag: str) -> Iterator[str]:
    """Everything that is wrong with the place of a tag."""

    def commit(name: str) -> str:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"],  # noqa: S607
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout.strip()

    tagged = commit(f"refs/tags/{tag}")
    if tagged and tagged != commit("HEAD"):
        yield f"{tag}: exists already, at another commit"


def archive_faults(folder: Path, wanted: str) -> Iterator[str]:
    """Everything that is wrong with a folder of archives."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    patterns = [rf"leobench-{re.escape(wanted)}-cp311-abi3-{each}\.whl" for each in PLATFORMS]
    patterns.append(rf"leobench-{re.escape(wanted)}\.tar\.gz")
    for pattern in patterns:
        found = [file for file in files if re.fullmatch(pattern, file.name)]
        if len(found) != 1:
            yield f"{folder}: has {len(found)} files like {pattern}, and should have one"
    for file in files:
        if not any(re.fullmatch(pattern, file.name) for pattern in patterns):
            yield f"{file}: does not belong to this release"
        if file.stat().st_size > LARGEST:
            yield f"{file}: has {file.stat().st_size:,} bytes; allowed: up to {LARGEST:,}"


def main(*words: str) -> int:
    """Carries out a step; returns 1 if it finds a fault, 2 if there is no such step."""
    match words:
        case ("check", tag):
            found = [*faults(tag), *tag_faults(tag)]
        case ("archives", folder) if Path(folder).is_dir():
            found = list(archive_faults(Path(folder), version()))
        case ("notes", tag):
            _, text = sections((ROOT / "CHANGELOG.md").read_text("utf-8")).get(tag[1:], (None, ""))
            found = [] if text else [f"CHANGELOG.md: has no section for {tag}"]
            print(text)
        case _:
            print("usage: release.py check TAG | archives FOLDER | notes TAG", file=sys.stderr)
            return 2
    for fault in found:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
