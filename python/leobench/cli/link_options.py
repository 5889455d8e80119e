"""Options that describe a link between two hosts, instead of a scenario in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leobench.errors import InputError, ScenarioError, cut

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from leobench._core import Scenario

# Names of the scenario of a link and of its parts.
NAME, NEAR, FAR, LINK = "link", "client", "server", "path"
_PAIR = re.compile(r"(?P<down>[^/]+)(?:/(?P<up>\d[^/]*))?")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_QUANTITY = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[A-Za-z%]*)")


@dataclass(frozen=True)
class _Option:
    """An option about a link.

    Attributes:
        name: The option's, and the key of a link's direction that it stands for.
        metavar: Its argument.
        what: Its help.
        default: Its value unless given.
        form: The right form of a value.
        value: Makes of a value what a scenario has there.
    """

    name: str
    metavar: str
    what: str
    default: str
    form: str
    value: Callable[[str], str]

    def directions(self, given: str) -> dict[str, str]:
        """The value of each direction of the link.

        Raises:
            InputError: If it lacks a unit, or is not a value or two.
        """
        found = _PAIR.fullmatch(given.strip())
        if found is None:
            raise InputError(f"--{self.name} {cut(given)}: cannot be read; allowed: {self.form}")
        down, up = found["down"].strip(), (found["up"] or found["down"]).strip()
        if _NUMBER.fullmatch(down) and (unit := _QUANTITY.fullmatch(up)) is not None:
            down += unit["unit"]
        for value in (down, up):
            if _NUMBER.fullmatch(value):
                raise InputError(f"--{self.name} {cut(given)}: has no unit; allowed: {self.form}")
        return {"forward": self.value(up), "backward": self.value(down)}


def _text(value: str) -> str:
    """A text in TOML."""
    from leobench.overrides import as_text

    return as_text(value)


def _loss(value: str) -> str:
    """A loss process from a percentage."""
    found = _QUANTITY.fullmatch(value)
    if found is None or found["unit"] != "%":
        raise InputError(f"--loss {cut(value)}: is not a percentage; allowed: {_LOSS_FORM}")
    if float(found["number"]) > 100:
        raise InputError(f"--loss {cut(value)}: is out of range; allowed: from 0% to 100%")
    return f'{{ kind = "bernoulli", probability = {float(found["number"]) / 100:.12g} }}'


def _queue(value: str) -> str:
    """A queue discipline from its kind, with or without a limit."""
    kind, colon, limit = value.partition(":")
    return f"{{ kind = {_text(kind)}, limit = {_text(limit)} }}" if colon else _text(kind)


# The form of a complaint about these options: the key of a direction, the key within, and the problem.
_WRONG = re.compile(
    rf"{NAME}: links\.{LINK}\.(?:forward|backward)\."
    r"(?P<option>\w+)(?P<key>[^:=]*?)(?: = .*?)?: (?P<problem>.*)"
)
# The keys of a model that an option gives.
_OWN_KEYS = ("", ".kind", ".limit", ".probability")
_LOSS_FORM = "a percentage of packets such as 0.1%, or DOWN/UP such as 0.1%/1%"
_OPTIONS = (
    _Option(
        "rate",
        "DOWN/UP",
        "rate to the near host and from it, or one rate for both",
        "100Mbps",
        "DOWN/UP with a unit, such as 50/10Mbps, or one rate for both, such as 20Mbps",
        _text,
    ),
    _Option(
        "delay",
        "TIME",
        "propagation delay one way, so that a ping takes twice as long; or DOWN/UP",
        "0ms",
        "a time with a unit, such as 25ms, or DOWN/UP such as 20/30ms",
        _text,
    ),
    _Option(
        "loss", "PERCENT", "packets lost at random in each direction; or DOWN/UP", "0%", _LOSS_FORM, _loss
    ),
    _Option(
        "queue",
        "KIND[:LIMIT]",
        "queue in each direction, such as codel, fifo:60packets or fifo:1BDP; a KIND alone has the limit "
        "that `leobench list queues KIND` shows, and fifo none",
        "fifo:100ms",
        "a kind such as codel, or a kind and its limit such as fifo:100ms",
        _queue,
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    from leobench.cli import options

    group = parser.add_argument_group("a link between two hosts, instead of SCENARIO")
    for option in _OPTIONS:
        what = f"{option.what} (default: {option.default})".replace("%", "%%")
        group.add_argument(f"--{option.name}", metavar=option.metavar, type=options.text, help=what)


def given(args: argparse.Namespace) -> list[str]:
    """The options of these that are given, as they are written."""
    return [f"--{option.name}" for option in _OPTIONS if getattr(args, option.name) is not None]


def scenario(args: argparse.Namespace, overrides: Sequence[tuple[str, str]]) -> Scenario:
    """The scenario that the options describe, with values replaced.

    Raises:
        InputError: If a value is wrong; the message names the option.
    """
    from leobench.scenario import load_text

    written = {option.name: getattr(args, option.name) for option in _OPTIONS}
    values = {
        option.name: option.default if written[option.name] is None else written[option.name]
        for option in _OPTIONS
    }
    try:
        return load_text(text(values), NAME, overrides, flows="unused")
    except ScenarioError as error:
        raise _named(error, values) from None


def text(values: dict[str, str]) -> str:
    """The scenario of a link, by the values of the options."""
    directions: dict[str, list[str]] = {"forward": [], "backward": []}
    for option in _OPTIONS:
        for direction, value in option.directions(values[option.name]).items():
            directions[direction].append(f"{option.name} = {value}")
    lines = [
        f'name = "{NAME}"',
        f"nodes = {{ {NEAR} = {{}}, {FAR} = {{}} }}",
        f"[links.{LINK}]",
        f'between = ["{NEAR}", "{FAR}"]',
    ]
    for direction, keys in directions.items():
        lines += [f"[links.{LINK}.{direction}]", *keys]
    return "\n".join(lines) + "\n"


def _named(error: ScenarioError, values: dict[str, str]) -> InputError:
    """The error with the option in place of what it stands for in the scenario."""
    wrong = _WRONG.fullmatch(str(error))
    if wrong is None or wrong["option"] not in values:
        return error
    key = "" if wrong["key"] in _OWN_KEYS else f"{wrong['key'].lstrip('.')}: "
    return InputError(f"--{wrong['option']} {cut(values[wrong['option']])}: {key}{wrong['problem']}")
