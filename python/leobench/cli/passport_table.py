"""A passport as a table for a terminal: what fails comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leobench.cli import columns
from leobench.passport import document, judge, tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Described = Mapping[str, Any]

_HEAD = (("verdict", ""), ("check", ""), ("value", "[95 % interval]"), ("warns,", "fails"))
# Columns of words; the others are numbers.
_WORDS = 2


def render(described: Described) -> str:
    """The counts, all checks, and the questions that were not answered well."""
    checks, against = described["checks"], described["against"]
    head = [*_HEAD]
    if against is not None:
        head += [("rank", ""), (against["controller"]["name"], "[95 % interval]"), ("verdict", "")]
    other = {} if against is None else {check["id"]: check for check in against["checks"]}
    rows = [_row(check, other.get(check["id"])) for check in document.worst_first(checks)]
    parts = [_counts(described), columns.table(head, rows, _WORDS)]
    doubtful = [
        check for check in document.worst_first(checks) if check["verdict"] in (judge.FAIL, judge.WARN)
    ]
    if doubtful:
        parts.append("\n".join(_answer(check) for check in doubtful))
    return "\n\n".join(parts)


def _counts(described: Described) -> str:
    suite, controller = described["suite"], described["controller"]
    counted = ", ".join(f"{described['counts'][verdict]} {verdict}" for verdict in judge.VERDICTS)
    quick = " (quick)" if suite["quick"] else ""
    return (
        f"{controller['name']} over {controller['transport'].upper()}, suite {suite['version']}{quick}, "
        f"{described['runs']} runs of each case: {counted}"
    )


def _row(check: Described, other: Described | None) -> Sequence[str]:
    own = [check["verdict"], check["id"], tables.value(check, interval=True), tables.threshold(check)]
    if other is None:
        return own
    return [*own, check["rank"], tables.value(other, interval=True), other["verdict"]]


def _answer(check: Described) -> str:
    note = f" ({check['note']})" if check["note"] else ""
    return f"{check['verdict']}: {check['id']}: {check['question']} {check['measure']}{note}"
