"""The inputs that determine a campaign's results, and whether a stored campaign may be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench import data_files, plugins
from leobench.errors import InputError
from leobench.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from leobench.campaign.plan import Campaign

# Keys whose value is the name of a file.
_FILES = data_files.KEYS - {"hypatia"}


def identity(campaign: Campaign) -> dict[str, Any]:
    """Everything that determines the bytes of a campaign's results.

    Raises:
        InputError: If a file that a scenario names cannot be read.
    """
    from leobench import _core

    described = {
        "leobench": _core.__version__,
        "campaign": campaign.name,
        "command": campaign.command,
        "text": campaign.text,
        "extends": {_relative(file, campaign): text for file, text in campaign.bases.items()},
        "sha256": hashlib.sha256(campaign.text.encode()).hexdigest(),
        "replicates": campaign.replicates,
        "seed": campaign.seed,
        "seeds": campaign.seeds,
        "metrics": list(campaign.metrics),
        "tables": list(campaign.tables),
        "set": dict(campaign.set),
        "variants": [
            {
                "name": variant.name,
                "set": dict(variant.overrides),
                "scenario": campaign.scenarios[variant.name],
            }
            for variant in campaign.variants
        ],
        "files": files(campaign),
    }
    # As JSON will read it back, without tuples.
    read: dict[str, Any] = json.loads(json.dumps(described))
    return read


def files(campaign: Campaign) -> dict[str, str]:
    """SHA-256 of every file that the campaign's scenarios read, by its name there.

    Raises:
        InputError: If one cannot be read.
    """
    folder = campaign.scenario.parent
    return {
        name: digest
        for each in campaign.scenarios.values()
        for name, digest in _digests(each, folder).items()
    }


def fingerprint(resolved: Mapping[str, Any], folder: Path) -> str:
    """Digest of a resolved scenario without its seed, and of the files it names, relative to `folder`.

    Raises:
        InputError: If a file cannot be read.
    """
    described = [without_seed(resolved), _digests(resolved, folder)]
    return hashlib.sha256(json.dumps(described).encode()).hexdigest()


def travelling(resolved: Mapping[str, Any], folder: Path) -> list[str]:
    """The files of a resolved scenario that can be given to another machine, relative to `folder`.

    Files with an absolute path are left out, and modules that are installed.

    Raises:
        PluginError: If a module cannot be imported.
    """
    names = [*_named(resolved, folder), *plugins.beside(resolved, folder)]
    return [name for name in names if not Path(name).is_absolute()]


def without_seed(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """A resolved scenario as all replicates share it."""
    return {key: value for key, value in resolved.items() if key != "seed"}


def _relative(file: Path, campaign: Campaign) -> str:
    """The path of a file relative to the folder of the campaign file."""
    return Path(os.path.relpath(file, campaign.file.parent)).as_posix()


def _digests(resolved: Mapping[str, Any], folder: Path) -> dict[str, str]:
    named = {name: _sha256(folder / name) for name in _named(resolved, folder)}
    return {**named, **plugins.sources(resolved, folder)}


def _named(resolved: Mapping[str, Any], folder: Path) -> list[str]:
    """The names of the files that a resolved scenario reads, relative to `folder`, Python classes aside."""
    sky = resolved.get("constellation") or {}
    parts = (resolved["links"], sky, resolved.get("traffic") or {})
    read = {name for part in parts for name in _file_names(part)}.union(_generated(sky, folder))
    videos = [flow["video"] for flow in resolved["flows"].values() if flow.get("video")]
    read |= {video["manifest"] for video in videos if "manifest" in video}
    return sorted(read | set(plugins.libraries(resolved)))


def difference(stored: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """The reason why results of one identity cannot be resumed under another; `None` if they can."""
    if stored.get("campaign") != now["campaign"]:
        return f"it holds campaign `{stored.get('campaign')}`, not `{now['campaign']}`"
    if stored.get("leobench") != now["leobench"]:
        return f"it was written by leobench {stored.get('leobench')}; this is {now['leobench']}"
    texts = {"the campaign file": ("text", ""), "a file that the campaign file extends": ("extends", {})}
    for what, (key, without) in texts.items():
        if stored.get(key, without) != now[key]:
            return f"{what} has changed since"
    for key in ("replicates", "set", "seed", "seeds", "metrics", "tables"):
        if stored.get(key) != now[key]:
            return f"`{key}` was {stored.get(key)} and is {now[key]} now"
    for before, after in zip(stored["variants"], now["variants"], strict=True):
        if before != after:
            return f"the scenario of variant `{after['name']}` has changed since: {_place(before, after)}"
    changed = [name for name in now["files"] if stored["files"].get(name) != now["files"][name]]
    return f"{', '.join(changed)}: has changed since" if changed else None


def _place(before: Any, after: Any, at: str = "") -> str:
    """The first place where two trees differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key) != after.get(key):
                below = "" if not at and key == "scenario" else f"{at}.{key}" if at else key
                return _place(before.get(key), after.get(key), below)
    return f"{at} was {before!r} and is {after!r} now"


def _file_names(tree: Any) -> Iterator[str]:
    """The values of keys that name files, anywhere in a tree."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict | list):
            yield from _file_names(value)
        elif isinstance(value, str) and (key in _FILES or str(key).endswith("_file")):
            yield value


def _generated(sky: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """The files of a folder that Hypatia generated."""
    name = sky.get("satellites", {}).get("hypatia")
    for file in sorted((folder / name).rglob("*.txt")) if name else ():
        yield Path(os.path.relpath(file, folder)).as_posix()


def _sha256(file: Path) -> str:
    try:
        with open_regular(file) as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
