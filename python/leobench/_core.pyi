"""The compiled core (`crates/py`). Use it through `leobench`, which adds tables, folders and figures."""

from collections.abc import Callable, Sequence
from os import PathLike

__version__: str

KINDS: tuple[str, ...]

class Scenario:
    """A scenario that was read and checked, and may be run any number of times."""

    @staticmethod
    def load(path: str | PathLike[str], overrides: Sequence[tuple[str, str]] = ...) -> Scenario: ...
    @property
    def name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    def to_json(self) -> str: ...

def schema() -> str: ...
def kinds(kind: str) -> list[tuple[str, str]]: ...
def run(
    scenario: Scenario,
    tables_dir: str | PathLike[str] | None = ...,
    qlog_dir: str | PathLike[str] | None = ...,
    progress: Callable[[float, float, int], object] | None = ...,
) -> tuple[str, dict[str, bytes]]: ...
