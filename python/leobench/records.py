"""Dictionaries whose documented keys are attributes, and lists whose entries have names.

The classes of `leobench.summary` are generated from the schema of the core and built on these two. A record
stays a dictionary, so whatever worked on parsed JSON works on it: keys, `json.dumps`, comparison, Polars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, SupportsIndex, TypeVar, overload

from leobench.errors import UnknownNameError, allowed, near

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T", bound=Mapping[str, Any])


class Named(list[T], Generic[T]):
    """A list whose entries have names: `flows[0]`, or `flows["download"]`.

    Iteration yields the entries; `names` lists their names, and `in` takes either.
    """

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        """The names of the entries, in their order."""
        return [each["name"] for each in self]

    @overload
    def __getitem__(self, key: str) -> T: ...
    @overload
    def __getitem__(self, key: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> list[T]: ...
    def __getitem__(self, key: str | SupportsIndex | slice) -> T | list[T]:
        """An entry by its number or name, or several by numbers.

        Raises:
            UnknownNameError: If no entry has the name; it is a `KeyError`, too.
        """
        if not isinstance(key, str):
            return super().__getitem__(key)
        for each in self:
            if each["name"] == key:
                return each
        if not self:
            raise UnknownNameError(f"`{key}`: there is no entry of any name")
        raise UnknownNameError(f"`{key}`: no entry has this name; {allowed(key, self.names)}")

    def __contains__(self, key: object) -> bool:
        return key in self.names if isinstance(key, str) else super().__contains__(key)


class Record(dict[str, Any]):
    """A dictionary whose documented keys can also be read as attributes.

    A key that is left out where it does not apply reads as `None`, or as empty, as its class documents.
    """

    __slots__ = ()

    _parts: ClassVar[Mapping[str, type[Record]]] = {}
    """The classes of the records that keys hold, singly or in lists."""
    _absent: ClassVar[Mapping[str, Callable[[], object]]] = {}
    """The values of keys that are left out of the file."""

    def __init__(self, values: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), /, **more: Any) -> None:
        super().__init__(values, **more)
        for key, kind in self._parts.items():
            if key in self:
                self[key] = _typed(self[key], kind)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._fields()})

    @classmethod
    def _fields(cls) -> Iterable[str]:
        """The documented keys."""
        fields: Mapping[str, object] = getattr(cls, "__dataclass_fields__", {})
        return [name for name in fields if not name.startswith("_")]

    if not TYPE_CHECKING:  # It would hide misspelt attributes from type checkers.

        def __getattr__(self, name: str) -> Any:
            fields = self._fields()
            if name not in fields:
                raise AttributeError(
                    f"{type(self).__name__} has no attribute `{name}`{near(name, fields) or '; see help()'}"
                )
            if name in self:
                return self[name]
            if name in self._absent:
                return self._absent[name]()
            raise AttributeError(
                f"`{name}` is missing: another version of leobench wrote this {type(self).__name__}; "
                "run the scenario again"
            )


def _typed(value: Any, kind: type[Record]) -> object:
    """The value of a key, with its class."""
    if isinstance(value, list):
        records = [each if isinstance(each, kind) else kind(each) for each in value]
        return Named(records) if "name" in kind._fields() else records
    if isinstance(value, Mapping) and not isinstance(value, kind):
        return kind(value)
    return value
