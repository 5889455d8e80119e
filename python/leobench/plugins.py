"""Classes of the user's that a scenario names: found, imported and built. The core calls this.

A module in the scenario's folder comes before any other. It is read and executed for every run, and kept
apart: runs share nothing by way of it, and scenarios in different folders may have modules of one name.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import inspect
import linecache
import sys
import threading
import traceback
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from leobench.errors import LeobenchError, allowed, cut, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

IMPORTABLE = "a module that can be imported"

# Characters of a line of a traceback, and the number of lines, that a message shows.
_LONGEST_LINE, _MOST_LINES = 400, 40


class Kind(NamedTuple):
    """The interface of the classes of one kind of plug-in.

    Attributes:
        method: The method that each class has.
        told: The positional arguments of the class, before its random numbers, in words.
    """

    method: str
    told: str


KINDS = {
    "stream scheduler": Kind(method="schedule", told="the number of streams"),
    "path scheduler": Kind(method="choose", told="the names of the links"),
    "congestion controller": Kind(method="on_ack", told="the bytes of a packet"),
    "adaptation": Kind(method="choose", told="the bitrates of the video, the seconds of a segment"),
}


# Seconds of real time that a call of the user's code may take.
LONGEST_CALL_S = 10.0


class Overdue(BaseException):
    """A call of the user's code does not come to an end. It is raised in there by `interrupt`."""

    def __str__(self) -> str:
        return f"the call went on for {LONGEST_CALL_S:g} s of real time; allowed: less"


def interrupt(thread: int) -> None:
    """Raises `Overdue` in another thread, at the next instruction of Python there."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Overdue))


class PluginError(LeobenchError):
    """A class cannot be used.

    Attributes:
        problem: Why.
        allowed: What could be.
    """

    def __init__(self, problem: str, allowed: str) -> None:
        super().__init__(problem)
        self.problem, self.allowed = problem, allowed


class Modules:
    """The modules of one run, each executed once for all its connections.

    Args:
        folder: The scenario's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder).absolute()
        self._loaded: dict[str, ModuleType] = {}

    def build(
        self, kind: str, name: str, given: Sequence[Any], seed: int, parameters: Mapping[str, Any]
    ) -> object:
        """A plug-in for a connection.

        Args:
            kind: The kind of plug-in, a key of `KINDS`.
            name: Module and class, such as `mymodule:MyScheduler`.
            given: What the class is told of the connection.
            seed: Of its random numbers.
            parameters: What it is given by name.

        Raises:
            PluginError: If the class cannot be found, imported or built, or makes no such plug-in.
        """
        method, told = KINDS[kind].method, KINDS[kind].told
        module_name, _, class_name = name.partition(":")
        if module_name not in self._loaded:
            self._loaded[module_name], _ = _load(module_name, self.folder)
        module = self._loaded[module_name]
        if not hasattr(module, class_name):
            classes = [key for key, value in vars(module).items() if _is_own(value, module, method)]
            raise PluginError(
                f"module `{module_name}` has no `{class_name}`",
                _known(class_name, classes) if classes else f"a class with a method `{method}`",
            )
        try:
            made: object = getattr(module, class_name)(*given, Random(seed), **parameters)  # noqa: S311
        except BaseException as error:
            if not is_fault(error):
                raise
            right = f"a class that takes {told}, a `random.Random`, and `parameters` by name"
            raise PluginError(f"cannot be built: {_told(error)}", right) from error
        if not callable(getattr(made, method, None)):
            raise PluginError(f"has no method `{method}`", "a class that has")
        return made


def describe(error: BaseException) -> str:
    """Formats an exception of the user's code, with its traceback cut to a limit."""
    linecache.checkcache()
    summary = traceback.format_exception_only(error)[-1].strip()
    lines = "".join(traceback.format_exception(error)).rstrip().split("\n")
    shown = [cut(line, _LONGEST_LINE) for line in lines]
    if len(shown) > _MOST_LINES:
        half = _MOST_LINES // 2
        shown[half:-half] = [f"... {len(shown) - 2 * half} lines ..."]
    return "\n".join([f"raised {cut(summary, _LONGEST_LINE)}", *shown])


def place(method: object) -> str | None:
    """The file and line of a method of the user's, such as `mine.py, line 7`, if it is written in Python."""
    code = getattr(inspect.unwrap(getattr(method, "__func__", method)), "__code__", None)  # type: ignore[arg-type]
    return None if code is None else f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


def is_fault(error: BaseException) -> bool:
    """Whether what the user's code raised is its fault, and not Ctrl-C or a signal, which end the program."""
    return not isinstance(error, KeyboardInterrupt)


def sources(resolved: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """SHA-256 of the Python files that a resolved scenario is run with, by their names relative to `folder`.

    Of a module that is installed elsewhere it is that of its own file, by the module's name.

    Raises:
        PluginError: If a module cannot be imported.
    """
    modules = sorted({name.partition(":")[0] for name in _named(resolved)})
    return {file: digest for name in modules for file, digest in _load(name, folder.absolute())[1].items()}


def beside(resolved: Mapping[str, Any], folder: Path) -> list[str]:
    """The Python files in a scenario's folder that it is run with, by their names relative to `folder`.

    Raises:
        PluginError: If a module cannot be imported.
    """
    folder = folder.absolute()
    modules = sorted({name.partition(":")[0] for name in _named(resolved)})
    own = [name for name in modules if _is_beside(name, folder)]
    return sorted({file for name in own for file in _load(name, folder)[1]})


def _is_beside(name: str, folder: Path) -> bool:
    """Whether a module lies in a scenario's folder."""
    return _Beside(folder).find_spec(name.partition(".")[0]) is not None


def libraries(resolved: Mapping[str, Any]) -> list[str]:
    """The shared libraries that a resolved scenario is run with, as they are named there."""
    return sorted(set(_named(resolved, "library")))


def _named(resolved: Mapping[str, Any], kind: str = "python") -> Iterator[str]:
    """The names of the plug-ins of a kind."""
    for place in _places(resolved):
        if isinstance(place, dict) and place.get("kind") == kind:
            yield place[kind]


def _places(resolved: Mapping[str, Any]) -> Iterator[Any]:
    """The parts of a resolved scenario that may be plug-ins."""
    traffic = resolved.get("traffic", {})
    senders = [*resolved["flows"].values(), *traffic.get("mix", {}).values(), traffic]
    for transport in [each["transport"] for each in senders if "transport" in each]:
        multipath = transport.get("multipath") or {}
        yield from (transport.get(key) for key in ("scheduler", "congestion", "stack"))
        yield multipath.get("scheduler")
    yield from (flow["video"]["adaptation"] for flow in resolved["flows"].values() if flow.get("video"))


# Imports from a scenario's folder change what the whole program imports from.
_lock = threading.RLock()


def _load(name: str, folder: Path) -> tuple[ModuleType, dict[str, str]]:
    """A module, and the SHA-256 of what it was read from by name."""
    try:
        if _is_beside(name, folder):
            found = _Beside(folder)
            with _lock:
                module = found.load(name)
            named = {file.relative_to(folder).as_posix(): each for file, each in found.digests.items()}
            return module, named
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise PluginError(f"cannot be imported: {_told(error)}", IMPORTABLE) from error
        raise PluginError(f"there is no module `{error.name}`", _modules(name, folder)) from None
    except BaseException as error:
        if not is_fault(error):
            raise
        raise PluginError(f"cannot be imported: {_told(error)}", IMPORTABLE) from error
    file = module.__file__
    return module, {} if file is None else {name: hashlib.sha256(Path(file).read_bytes()).hexdigest()}


def _modules(given: str, folder: Path) -> str:
    """Which modules there are."""
    files = [file.stem for file in sorted(folder.glob("*.py"))]
    if not files:
        return f"a module in {folder}, or one that is installed"
    return f"{', '.join(f'`{file}`' for file in files)}, or one that is installed{near(given, files)}"


class _Beside(MetaPathFinder):
    """Imports from a scenario's folder, and leaves no trace: neither there, nor for other imports.

    Attributes:
        digests: SHA-256 of every file that was read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digests: dict[Path, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del target
        places = [self.folder] if path is None else [Path(place) for place in path]
        for place in places:
            if place.is_relative_to(self.folder):
                spec = FileFinder(str(place), (_Reader, [".py"])).find_spec(fullname)
                # Any folder of that name is found too, without a loader.
                if spec is not None and isinstance(spec.loader, _Reader):
                    spec.loader.digests = self.digests
                    return spec
        return None

    def load(self, name: str) -> ModuleType:
        top = name.partition(".")[0]
        hidden = {key: sys.modules.pop(key) for key in list(sys.modules) if key.partition(".")[0] == top}
        before = set(sys.modules)
        sys.meta_path.insert(0, self)
        try:
            return importlib.import_module(name)
        finally:
            sys.meta_path.remove(self)
            for key in set(sys.modules) - before:
                if isinstance(getattr(sys.modules[key].__spec__, "loader", None), _Reader):
                    del sys.modules[key]
            sys.modules.update(hidden)


class _Reader(SourceFileLoader):
    """Reads what a file says now: compiled caches are told apart by size and second only."""

    digests: dict[Path, str]

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        self.digests[Path(path)] = hashlib.sha256(source).hexdigest()
        return _compile(source, path)


@lru_cache(maxsize=256)
def _compile(source: bytes, path: str) -> CodeType:
    """Once for all runs: what a file says seldom changes from one to the next."""
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code


def _is_own(value: object, module: ModuleType, method: str) -> bool:
    return isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, method)


def _known(given: str, known: Sequence[str]) -> str:
    return allowed(given, known).removeprefix("allowed: ")


def _told(error: BaseException) -> str:
    """An exception with its file and line, on one line."""
    said = cut(" ".join(traceback.format_exception_only(error)[-1].split()), _LONGEST_LINE)
    if isinstance(error, SyntaxError):
        return f"{said} ({Path(error.filename or '').name}, line {error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if not frame.filename.startswith("<frozen ")]
    return f"{said} ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else said
