"""A JSON object one of whose members is a long array, whose items know the line that they begin on."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from leobench.recording.readings import Place, number

if TYPE_CHECKING:
    from leobench.recording.source import Source

_SPACE = re.compile(r"[ \t\r\n]*")


class Item:
    """An item of the array, or the whole object."""

    def __init__(self, value: object, place: Place) -> None:
        self.value, self.place = value, place

    def has(self, *keys: str) -> bool:
        """Whether there is something under these keys, one in the other."""
        return self._find(keys) is not None

    def get(self, *keys: str) -> Any:
        """The value under these keys.

        Raises:
            InputError: If there is none.
        """
        found = self._find(keys)
        if found is None:
            raise self.place.wrong(f"`{'.'.join(keys)}` is missing")
        return found[0]

    def number(self, *keys: str) -> float:
        """The finite number under these keys.

        Raises:
            InputError: If none is.
        """
        value = self.get(*keys)
        if value is None:
            raise self.place.wrong(f"`{'.'.join(keys)}` is null; allowed: a finite number")
        return number(value, f"`{'.'.join(keys)}`", self.place)

    def _find(self, keys: tuple[str, ...]) -> tuple[object] | None:
        value = self.value
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                return None
            value = value[key]
        return (value,)


class _Text:
    """A JSON text that is read value by value."""

    def __init__(self, source: Source) -> None:
        self.source, self.text = source, source.text
        self._at = self._counted = 0
        self._line = 1
        self._decoder = json.JSONDecoder()

    def place(self) -> Place:
        """The line of what comes next."""
        self._skip()
        self._line += self.text.count("\n", self._counted, self._at)
        self._counted = self._at
        return Place(self.source.file, self._line)

    def takes(self, mark: str) -> bool:
        """Whether a mark comes next; then it is passed."""
        self._skip()
        found = self.text.startswith(mark, self._at)
        self._at += len(mark) * found
        return found

    def value(self) -> Any:
        """The value that comes next."""
        place = self.place()
        try:
            value, self._at = self._decoder.raw_decode(self.text, self._at)
        except json.JSONDecodeError as error:
            raise Place(self.source.file, error.lineno).wrong(f"is not JSON: {error.msg}") from None
        except ValueError:  # a number of thousands of digits
            raise place.wrong("is not JSON: a number is too long") from None
        except RecursionError:
            raise place.wrong("is nested too deeply") from None
        return value

    def refuse(self, wanted: str) -> NoReturn:
        raise self.place().wrong(f"is not JSON: no {wanted}")

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self._at)
        self._at = found.end() if found else self._at


def read(source: Source, array: str) -> tuple[Item, list[Item]]:
    """The object, without its member `array`, and the items of that.

    Raises:
        InputError: If the text is no JSON object, or the member is no array.
    """
    text = _Text(source)
    start = text.place()
    members: dict[str, object] = {}
    items: list[Item] | None = None
    if not text.takes("{"):
        text.refuse("object")
    while not text.takes("}"):
        if members or items is not None:
            text.takes(",") or text.refuse("`,` between members")
        key = text.value()
        text.takes(":") or text.refuse("`:` after a name")
        if key == array and text.takes("["):
            items = _items(text)
        else:
            members[str(key)] = text.value()
    if items is None and "error" not in members:
        raise start.wrong(f"has no array `{array}`")
    return Item(members, start), items or []


def _items(text: _Text) -> list[Item]:
    items: list[Item] = []
    while not text.takes("]"):
        if items:
            text.takes(",") or text.refuse("`,` between items")
        place = text.place()
        items.append(Item(text.value(), place))
    return items
