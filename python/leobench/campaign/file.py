"""Reads campaign files; a file with a mistake is refused with one line."""

from __future__ import annotations

import itertools
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from leobench.campaign import names, places
from leobench.campaign.definition import MOST_VARIANTS, Definition, Variant
from leobench.errors import InputError, allowed, cut, near
from leobench.files import LARGEST_FILE, is_scenario, open_regular, read_toml, similar
from leobench.folder import CAMPAIGN_TABLES
from leobench.overrides import as_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Table = dict[str, Any]

KEYS = (
    "extends", "name", "description", "scenario", "replicates", "seed", "seeds", "metrics", "tables", "set",
    "grid", "variants",
)  # fmt: skip
_OWN = ("extends", "name", "description")  # keys that are not inherited
_PARTS = ("nodes", "links", "flows", "record")
# Bytes of the name of a file or a folder (NAME_MAX).
_LONGEST_PART = 255
# Characters of a message's place, and of what it says about it.
_LONGEST_PLACE, _LONGEST_SENTENCE = 200, 1_000


def read(file: Path) -> Definition:
    """Reads and checks a campaign file, and those that it extends.

    Raises:
        InputError: If one is wrong.
    """
    reader = _Reader(_layers(file))
    try:
        return reader.definition()
    except _WrongError as wrong:
        key = re.split(r"\W", wrong.place)[0]
        raise InputError(f"{reader.inherited.get(key, file)}: {wrong}") from None


class _WrongError(Exception):
    """A mistake in a file, and its place there."""

    def __init__(self, place: str, text: str) -> None:
        super().__init__(text)
        self.place = place


@dataclass(frozen=True)
class _Layer:
    """A campaign file: the one to be read, or one that it extends."""

    file: Path
    text: str
    table: Table


def _layers(file: Path) -> list[_Layer]:
    """A campaign file, the one it extends, the one that this extends, and so on."""
    layers: list[_Layer] = []
    following: Path | None = file
    while following is not None:
        text = _text(following)
        layers.append(_Layer(following, text, read_toml(following, text)))
        if is_scenario(layers[-1].table):
            raise InputError(
                f"{following}: is a scenario, not a campaign; `leobench run {following}` runs it"
            )
        try:
            following = _extended(layers)
        except _WrongError as wrong:
            raise InputError(f"{layers[-1].file}: {wrong}") from None
    return layers


def _extended(layers: Sequence[_Layer]) -> Path | None:
    """The file that the last layer extends, if any; also checks the keys and `set` of that layer."""
    file, table = layers[-1].file, layers[-1].table
    _refuse_unknown(table, KEYS, "")
    _overrides(table.get("set", {}), "set")
    if "extends" not in table:
        return None
    named = _file_name(table, "extends")
    base = Path(os.path.normpath(file.parent / named))
    if not base.is_file():
        meant = near(base.name, (each.name for each in sorted(base.parent.glob("*.toml"))))
        _wrong("extends", named, "no such file", f"a campaign file{meant}")
    if any(base.samefile(layer.file) for layer in layers):
        _wrong("extends", named, "leads back to a file that extends this one", "another campaign file")
    return base


class _Reader:
    """The keys of a campaign file, and of those that it extends where it does not give them itself."""

    def __init__(self, layers: Sequence[_Layer]) -> None:
        self.own, *self.bases = layers
        self.table: Table = {}
        self.inherited: dict[str, Path] = {}
        for layer in reversed(layers):
            self._put(layer)

    def _put(self, layer: _Layer) -> None:
        """Replaces the keys of the layers below by those of this one; `set` is merged place by place."""
        for key, value in layer.table.items():
            if key in _OWN and layer is not self.own:
                continue
            if key == "set":
                self._came_from(layer, (f'set."{place}"' for place in value))
                self.table[key] = places.merge(self.table.get(key, {}), value)
            else:
                self._came_from(layer, [key])
                self.table[key] = value

    def _came_from(self, layer: _Layer, keys: Iterable[str]) -> None:
        for key in keys:
            self.inherited.pop(key, None)
            if layer is not self.own:
                self.inherited[key] = layer.file

    def definition(self) -> Definition:
        table = self.table
        grid = self._grid()
        explicit = self._explicit()
        variants = (*grid, *explicit) or (Variant("base", {}, {}),)
        _refuse_twice((variant.name for variant in variants), "variants")
        if len(variants) > MOST_VARIANTS:
            _wrong("variants", None, f"makes {len(variants):,} variants", f"at most {MOST_VARIANTS:,}")
        seeds = table.get("seeds", "common")
        if seeds not in ("common", "independent"):
            _wrong("seeds", seeds, f"unknown word; {allowed(seeds, ['common', 'independent'])}")
        own = self.own.file
        return Definition(
            name=_name(table, "name", ""),
            description=_string(table, "description", default=""),
            file=own,
            text=self.own.text,
            scenario=Path(
                os.path.normpath(self.inherited.get("scenario", own).parent / _file_name(table, "scenario"))
            ),
            replicates=_whole(table, "replicates", 1),
            seed=_whole(table, "seed", 0, default=1),
            seeds=seeds,
            metrics=_words(table, "metrics"),
            tables=_tables(table),
            set=dict(table.get("set", {})),
            variants=variants,
            bases={layer.file: layer.text for layer in self.bases},
            inherited=self.inherited,
        )

    def _grid(self) -> list[Variant]:
        if "grid" not in self.table:
            return []
        blocks = _array_of_tables(self.table["grid"], "grid")
        origins: dict[str, str] = {}
        for index, block in enumerate(blocks):
            _check_block(block, f"grid[{index}]")
            for place in block:
                for other, origin in origins.items():
                    if places.overlap(place, other):
                        _wrong(
                            f'grid[{index}]."{place}"',
                            None,
                            f"`{other}` is already in {origin}",
                            "places that do not contain one another",
                        )
                origins[place] = f"grid[{index}]"
        self._refuse_too_many(blocks)
        rows = [
            [dict(zip(block, values, strict=True)) for values in zip(*block.values(), strict=True)]
            for block in blocks
        ]
        combinations = [
            {place: value for row in chosen for place, value in row.items()}
            for chosen in itertools.product(*rows)
        ]
        named = names.derive(combinations)
        _refuse_twice(named, "grid")
        return [Variant(name, values, origins) for name, values in zip(named, combinations, strict=True)]

    def _refuse_too_many(self, blocks: Sequence[Table]) -> None:
        """Checks how many combinations a grid has before they are made."""
        counts = [len(next(iter(block.values()))) for block in blocks]
        if math.prod(counts) > MOST_VARIANTS:
            said = " times ".join(map(str, counts))
            _wrong("grid", None, f"makes {said} variants", f"at most {MOST_VARIANTS:,}")

    def _explicit(self) -> list[Variant]:
        if "variants" not in self.table:
            return []
        found = []
        for index, table in enumerate(_array_of_tables(self.table["variants"], "variants")):
            at = f"variants[{index}]"
            _refuse_unknown(table, ("name", "set"), at)
            values = _overrides(table.get("set", {}), f"{at}.set")
            found.append(Variant(_name(table, "name", at), values, dict.fromkeys(values, f"{at}.set")))
        return found


def _text(file: Path) -> str:
    try:
        with open_regular(file) as opened:
            content = opened.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise InputError(f"{file}: is too large; allowed: at most {LARGEST_FILE // 1_000_000} MB")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError(f"{file}: no such file; allowed: a campaign file{similar(file)}") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: is not UTF-8 text, at byte {error.start}; allowed: TOML in UTF-8"
        ) from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}; allowed: a campaign file") from None


def _check_block(block: Table, at: str) -> None:
    """A block of the grid: lists of values, all of one length."""
    if not block:
        _wrong(
            at,
            None,
            "is empty",
            'places with lists of values, such as `"links.uplink.delay" = ["1 ms", "9 ms"]`',
        )
    for place, values in block.items():
        here = f'{at}."{place}"'
        _check_place(place, here)
        if isinstance(values, dict):
            _wrong(here, None, "is a table", 'a place in quotes, such as `"links.uplink.delay" = [...]`')
        if not isinstance(values, list) or not values:
            _wrong(here, values, "is not a list of values", "a list of one value or more")
        for value in values:
            _check_value(value, here)
    lengths = {place: len(values) for place, values in block.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{length} of `{place}`" for place, length in lengths.items())
        _wrong(
            at,
            None,
            f"the lists of a block are paired element by element, but it has {counts}",
            "lists of one length",
        )


def _overrides(table: Any, at: str) -> dict[str, object]:
    if not isinstance(table, dict):
        _wrong(at, table, "is not a table", 'a table of places and values, such as `"duration" = "20 s"`')
    for place, value in table.items():
        here = f'{at}."{place}"'
        _check_place(place, here)
        if place in _PARTS and isinstance(value, dict):
            _wrong(
                here,
                None,
                "would replace the whole table",
                'a place in quotes, such as `"links.uplink.delay" = "5 ms"`',
            )
        _check_value(value, here)
    return dict(table)


def _check_place(place: str, here: str) -> None:
    why = places.refusal(place)
    if why is not None:
        _wrong(here, None, why)


def _check_value(value: object, here: str) -> None:
    try:
        as_text(value)
    except InputError as error:
        _wrong(here, None, str(error))


def _array_of_tables(value: Any, key: str) -> list[Table]:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        _wrong(key, value, "is not an array of tables", f"`[[{key}]]`")
    if not value:
        _wrong(key, value, "is empty", f"`[[{key}]]`, or no `{key}` at all")
    return value


def _name(table: Table, key: str, at: str) -> str:
    name = _string(table, key, at)
    if not names.is_sound(name):
        _wrong(_join(at, key), name, "is not a valid name", names.ALLOWED)
    return name


def _string(table: Table, key: str, at: str = "", default: str | None = None) -> str:
    value = table.get(key, default)
    if value is None:
        _wrong(_join(at, key), None, "is required but missing")
    if not isinstance(value, str):
        _wrong(_join(at, key), value, "is not a string", "a string")
    return value


def _file_name(table: Table, key: str) -> str:
    name = _string(table, key)
    if not name.isprintable():
        _wrong(key, name, "has characters that cannot be shown", "the name of a file, on one line")
    if any(len(part.encode()) > _LONGEST_PART for part in Path(name).parts):
        _wrong(key, name, "is too long", f"folders and a file of up to {_LONGEST_PART} bytes each")
    return name


def _whole(table: Table, key: str, least: int, default: int | None = None) -> int:
    value = table.get(key, default)
    if value is None:
        _wrong(key, None, "is required but missing")
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        _wrong(key, value, "is not a valid number", f"a whole number from {least}")
    return value


def _words(table: Table, key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        _wrong(key, None, "is required but missing", 'a list such as `["flows.main.goodput_bps"]`')
    if not isinstance(value, list) or not value or not all(isinstance(each, str) for each in value):
        _wrong(key, value, "is not a list of strings", "one string or more")
    _refuse_twice(value, key)
    return tuple(value)


def _tables(table: Table) -> tuple[str, ...]:
    if table.get("tables", []) == []:
        return ()
    asked = _words(table, "tables")
    for index, name in enumerate(asked):
        if name not in CAMPAIGN_TABLES:
            _wrong(f"tables[{index}]", name, f"unknown table; {allowed(name, CAMPAIGN_TABLES)}")
    return asked


def _refuse_unknown(table: Mapping[str, object], known: Sequence[str], at: str) -> None:
    for key in table:
        if key not in known:
            _wrong(_join(at, key), None, f"unknown key; {allowed(key, known)}")


def _refuse_twice(words: Iterable[str], at: str) -> None:
    seen = set()
    for word in words:
        if word.casefold() in seen:
            _wrong(at, None, f"`{word}` appears twice", "each once")
        seen.add(word.casefold())


def _join(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _wrong(place: str, value: object, problem: str, right: str | None = None) -> NoReturn:
    at = cut(place, _LONGEST_PLACE) + ("" if value is None else f" = {cut(_shown(value))}")
    said = f"{at}: {cut(problem, _LONGEST_SENTENCE)}"
    raise _WrongError(place, said + (f"; allowed: {right}" if right else ""))


def _shown(value: object) -> str:
    try:
        return as_text(value)
    except InputError:
        return str(value)
