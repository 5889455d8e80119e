"""A congestion controller under examination, as a command line names it."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from leobench.errors import InputError, ScenarioError, allowed, cut, near
from leobench.files import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

Transport = Literal["quic", "tcp"]

TRANSPORTS: tuple[Transport, ...] = ("quic", "tcp")

_KERNEL = "kernel:"
_LIBRARY = ".so"
_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
# A scenario in which a transport is checked, and its place there.
_SMALL = """
name = "small"
duration = "1 s"
nodes.client = {}
nodes.server = {}
links.only = { between = ["client", "server"], rate = "10 Mbps", delay = "10 ms" }
flows.main = { from = "client", to = "server", source = "bulk", transport = "quic" }
"""
_PLACE = "flows.main.transport"
# Bytes of a packet that a class is built with once, to see whether it can be.
_PACKET = 1_200


@dataclass(frozen=True)
class Candidate:
    """A congestion controller, or a whole QUIC stack, that runs as a flow of any scenario.

    Attributes:
        text: What the user wrote.
        name: What tables and figures call it, on one line.
        transport: The table `transport` of a flow that it controls.
        engine: The engine that runs need: `real` for the kernel's own TCP, otherwise `virtual`.
        modules: The Python files that it consists of, relative to `folder`.
        folder: The folder in which its files were looked for.
    """

    text: str
    name: str
    transport: Mapping[str, Any]
    engine: Literal["virtual", "real"] = "virtual"
    modules: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path.cwd)

    @classmethod
    def parse(cls, text: str, transport: Transport = "quic", folder: Path | None = None) -> Candidate:
        """Reads a controller and checks that it exists.

        Args:
            text: A built-in kind (`cubic`), a table as in scenarios (`{ kind = "hybla", ... }`), a class
                in Python (`mine:Mine`), a native library (`./libmine.so`), or a controller of the kernel's
                TCP (`kernel:bbr`).
            transport: The transport of its flows. The kernel has TCP only.
            folder: The folder of its module or library; the working folder unless given.

        Raises:
            InputError: If there is no such controller.
        """
        text, place = text.strip(), (folder or Path.cwd()).absolute()
        if not text:
            raise InputError(f"CONTROLLER: is empty; {_right('')}")
        if text.startswith(_KERNEL):
            return cls._of_kernel(text, place)
        if text.startswith("{"):
            table = _table(text)
            controlled = _checked_table(text, table, place)
            name = _short(table)
        elif text.endswith(_LIBRARY):
            controlled = {"library": str(_library("CONTROLLER", text, place))}
            name = Path(text).name
        elif ":" in text:
            controlled, name = {"python": text}, text
        else:
            controlled, name = {"kind": _known_kind(text)}, text
        modules = _modules(text, controlled, place) if "python" in controlled else ()
        made = cls(text, name, {"kind": transport, "congestion": controlled}, "virtual", modules, place)
        return made._checked("CONTROLLER")

    @classmethod
    def of_stack(cls, text: str, folder: Path | None = None) -> Candidate:
        """Reads a QUIC stack of somebody else's, a native library that controls congestion itself.

        Raises:
            InputError: If there is no such file.
        """
        place = (folder or Path.cwd()).absolute()
        library = _library("--stack", text, place)
        transport = {"kind": "quic", "stack": {"library": str(library)}}
        return cls(text, f"stack {library.name}", transport, "virtual", (), place)._checked("--stack")

    @classmethod
    def _of_kernel(cls, text: str, place: Path) -> Candidate:
        name = text.removeprefix(_KERNEL)
        known = _kernel_controllers()
        if name not in known:
            raise InputError(
                f"CONTROLLER {cut(text)}: this kernel has no such controller; {allowed(name, known)}"
            )
        transport = {"kind": "tcp", "congestion": "newreno" if name == "reno" else name}
        return cls(text, text, transport, "real", (), place)

    def _checked(self, option: str) -> Candidate:
        """Reads a small scenario with its transport, which refuses wrong parameters."""
        from leobench.scenario import load

        with tempfile.TemporaryDirectory(prefix="leobench-") as folder:
            self.copy_modules(Path(folder))
            file = Path(folder) / "scenario.toml"
            file.write_text(_SMALL, encoding="utf-8")
            try:
                load(file, None, {_PLACE: self.transport})
            except ScenarioError as error:
                problem = str(error).removeprefix(f"{file}: {_PLACE}").lstrip(".: ")
                raise InputError(f"{option} {cut(self.text)}: {problem}") from None
        return self

    def copy_modules(self, target: Path) -> None:
        """Copies its Python files into the folder of the scenarios that name its class.

        Raises:
            InputError: If they cannot be written.
        """
        for name in self.modules:
            file = target / name
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.folder / name, file)
            except OSError as error:
                raise InputError(f"{file}: cannot be written: {error.strerror or error}") from error


def _right(given: str) -> str:
    """The forms that are allowed, with the nearest built-in kind."""
    from leobench import api

    forms = "a table, a class such as mine:Mine, a library such as ./libmine.so, or kernel:NAME"
    kinds = [kind for kind in api.kinds("congestion") if kind != "python"]
    listed, *guess = allowed(given, kinds).split("; did you mean ")
    return f"{listed}, {forms}" + "".join(f"; did you mean {word}" for word in guess)


def _known_kind(text: str) -> str:
    from leobench import _core, api

    if text in api.kinds("congestion") and text != "python":
        return text
    refused = dict(_core.refused("congestion"))
    problem = refused.get(text, "no such congestion controller")
    raise InputError(f"CONTROLLER {cut(text)}: {problem}; {_right(text)}")


def _table(text: str) -> dict[str, Any]:
    """The table of a controller, as a scenario would have it."""
    try:
        table = read_toml(Path("CONTROLLER"), f"congestion = {text}")
    except InputError as error:
        raise InputError(f"CONTROLLER {cut(text)}: is no table of TOML: {error}") from None
    given = table.get("congestion")
    if list(table) != ["congestion"] or not isinstance(given, dict):
        raise InputError(f'CONTROLLER {cut(text)}: is not one table; allowed: such as {{ kind = "cubic" }}')
    return given


def _checked_table(text: str, table: dict[str, Any], place: Path) -> dict[str, Any]:
    if "python" in table:
        return table
    if "library" in table:
        return {**table, "library": str(_library("CONTROLLER", str(table["library"]), place))}
    if not isinstance(table.get("kind"), str):
        raise InputError(
            f"CONTROLLER {cut(text)}: has no `kind`, `python` or `library`; allowed: one of them"
        )
    _known_kind(table["kind"])
    return table


def _short(table: Mapping[str, Any]) -> str:
    """A table on one line: its kind, class or library, and its other keys in parentheses."""
    from leobench.overrides import as_text

    head = next(key for key in ("kind", "python", "library") if key in table)
    first = Path(table[head]).name if head == "library" else str(table[head])
    rest = ", ".join(f"{key} = {as_text(value)}" for key, value in table.items() if key != head)
    return f"{first} ({rest})" if rest else first


def _library(option: str, text: str, place: Path) -> Path:
    file = place / text
    if not file.is_file():
        there = sorted(each.name for each in place.glob(f"*{_LIBRARY}"))
        raise InputError(
            f"{option} {cut(text)}: there is no such file; allowed: the path of a native library"
            f"{near(Path(text).name, there)}"
        )
    return file.resolve()


def _modules(text: str, controlled: Mapping[str, Any], place: Path) -> tuple[str, ...]:
    """Builds the class once, and returns the files that it is read from in its folder."""
    from leobench import plugins

    name = controlled["python"]
    if not isinstance(name, str) or _CLASS.fullmatch(name) is None:
        raise InputError(f"CONTROLLER {cut(text)}: is no class; allowed: MODULE:CLASS, such as mine:Mine")
    resolved = {"flows": {"main": {"transport": {"congestion": {"kind": "python", "python": name}}}}}
    try:
        modules = plugins.Modules(place)
        made = modules.build("congestion controller", name, (_PACKET,), 0, controlled.get("parameters", {}))
        files = plugins.beside(resolved, place)
    except plugins.PluginError as error:
        raise InputError(f"CONTROLLER {cut(text)}: {error.problem}; allowed: {error.allowed}") from None
    lacking = [method for method in ("on_ack", "on_loss") if not callable(getattr(made, method, None))]
    if lacking:
        raise InputError(f"CONTROLLER {cut(text)}: has no method `{lacking[0]}`; allowed: a class that has")
    return tuple(files)


def _kernel_controllers() -> list[str]:
    """The controllers that the kernel of this machine has."""
    try:
        listed = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text(encoding="utf-8")
    except OSError:
        return []
    return listed.split()
