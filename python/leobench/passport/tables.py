"""Passports as tables: one, or several side by side, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.errors import InputError
from leobench.passport import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Described = Mapping[str, Any]

NONE = "-"


def markdown(passports: Sequence[Described]) -> str:
    """A row per check and a column per controller, with the verdicts other than `pass`.

    Raises:
        InputError: If the passports are not of the same suite.
    """
    shown = columns(passports)
    head = ["check", "question", *(each["controller"]["name"] for each in shown)]
    rows = [head, ["---", "---", *["---:"] * len(shown)]]
    found = [{check["id"]: check for check in each["checks"]} for each in shown]
    for check in shown[0]["checks"]:
        cells = [cell(each.get(check["id"])) for each in found]
        rows.append([f"`{check['id']}`", check["question"], *cells])
    rows += [[verdict, "", *(str(each["counts"][verdict]) for each in shown)] for verdict in judge.VERDICTS]
    return "".join(f"| {' | '.join(word.replace('|', chr(92) + '|') for word in row)} |\n" for row in rows)


def columns(passports: Sequence[Described]) -> list[Described]:
    """The controllers of passports: each with the one that it is compared with, if no other column has it.

    Raises:
        InputError: If the passports are not of the same suite.
    """
    kinds = {(each["suite"]["version"], each["suite"]["quick"]) for each in passports}
    if len(kinds) > 1:
        told = ", ".join(f"suite {version}{' (quick)' if quick else ''}" for version, quick in sorted(kinds))
        raise InputError(f"--compare: the passports are of {told}; allowed: passports of one suite")
    shown = list(passports)
    for against in (each["against"] for each in passports):
        if against is not None and all(_key(against) != _key(each) for each in shown):
            shown.append(against)
    return shown


def _key(described: Described) -> tuple[str, str, str]:
    controller = described["controller"]
    return controller["name"], controller["transport"], controller["engine"]


def cell(check: Described | None) -> str:
    """The value of a check, and its verdict unless it is `pass`."""
    if check is None or check["verdict"] == judge.NOT_MEASURED:
        return NONE
    shown = value(check)
    verdict = check["verdict"]
    if verdict == judge.PASS:
        return shown
    return f"**{shown} {verdict}**" if verdict == judge.FAIL else f"{shown} {verdict}"


def value(check: Described, *, interval: bool = False) -> str:
    """The value of a check with its unit, and its 95 % interval if asked for."""
    if check["value"] is None:
        return NONE
    unit = f" {check['unit']}" if check["unit"] else ""
    ends = ""
    if interval and check["low"] is not None:
        ends = f" [{number(check['low'])}, {number(check['high'])}]"
    return f"{number(check['value'])}{ends}{unit}"


def threshold(check: Described) -> str:
    """The thresholds of a check, such as `< 0.8, < 0.6`: where it warns and where it fails."""
    sign = "<" if check["better"] == "higher" else ">"
    fail = NONE if check["fail"] is None else f"{sign} {number(check['fail'])}"
    return f"{sign} {number(check['warn'])}, {fail}"


def number(value: float) -> str:
    """A number with three decimals at most."""
    text = f"{value:.3f}" if abs(value) < 1 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") or "0"
