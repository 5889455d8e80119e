"""The outcome of programs on hosts, for Python programs; and programs as these write them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leobench.emulation.programs import Program
from leobench.errors import InputError, cut

if TYPE_CHECKING:
    from leobench.emulation.programs import Exit
    from leobench.result import Result
    from leobench.summary import Summary


@dataclass(frozen=True)
class Emulation:
    """The outcome of programs on the hosts of a scenario.

    Attributes:
        code: The exit code of the main program; that of a shell if a signal ended it.
        exits: How each program ended, in the order in which they were given.
        verdict: How far the times can be trusted; `docs/reference/real-time.md` describes it.
        summary: The summary of the network. There are links, but no flows.
        result: What was written, with its tables; `None` without `out`.
    """

    code: int
    exits: tuple[Exit, ...]
    verdict: dict[str, Any]
    summary: Summary
    result: Result | None

    @property
    def valid(self) -> bool:
        """Whether the driver kept up with the clock."""
        return bool(self.verdict["verdict"] == "valid")

    @property
    def reasons(self) -> list[str]:
        """Reasons to distrust the times; empty if they are valid."""
        return [str(reason) for reason in self.verdict["reasons"]]


def as_programs(given: object) -> list[Program]:
    """Programs from pairs of a host and a command, which is one text or a list of words.

    Raises:
        InputError: If there is none, or one is not such a pair.
    """
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise InputError(
            f"programs = {cut(repr(given))}: are not a list of pairs; "
            'allowed: pairs of a host and a command, such as [("client", "ping -c 3 server")]'
        )
    programs = [_program(number, each) for number, each in enumerate(given)]
    if not programs:
        raise InputError('programs: is empty; allowed: pairs such as ("client", "ping -c 3 server")')
    return programs


def _program(number: int, given: object) -> Program:
    at = f"programs[{number}]"
    if not isinstance(given, tuple | list) or len(given) != 2 or not isinstance(given[0], str):
        raise InputError(
            f"{at}: {cut(repr(given))} is not a pair; "
            'allowed: a host and a command, such as ("client", "ping server")'
        )
    host, command = given
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(word) for word in command]
    except (ValueError, TypeError) as error:
        raise InputError(f"{at}: the command {cut(repr(command))} cannot be read: {error}") from None
    if not any(words[:1]):
        raise InputError(f"{at}: the command is empty; allowed: a program and its arguments")
    return Program(host, tuple(words))
