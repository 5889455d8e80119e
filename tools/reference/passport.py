"""The page of the checks of `leobench passport`, from its suites."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from leobench import passport
from leobench.passport import document, measures, tables
from leobench.passport.suite import versions
from tools.reference.markdown import joined, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leobench.passport import Check, Suite

_RULES = """\
The mean over the seeds decides: beyond the second threshold a check fails, beyond the first it warns. A
check fails only if its whole 95 % interval (Student's t over the seeds) is beyond the threshold;
otherwise it warns. A check whose runs end with an error fails. It is *not measured* if no run has a
value. The kernel's TCP (`kernel:NAME`) runs in real time, three times in each case: most checks make no
sense there, and runs without a valid clock do not count. RFC 9743 gives criteria and no thresholds
(section 5), so each names its source."""

_JSON = f"""\
`{document.JSON}` has the same bytes whenever the same leobench examines the same controller in virtual
time. Its schema has the number {document.SCHEMA}, which grows when a key goes or changes its meaning."""

_KEYS = (
    ("`schema`, `leobench`", "the number of the schema; the version that wrote it"),
    ("`suite`", "`version`; `quick`; `thresholds`, those that `--threshold` replaced, by check"),
    (
        "`controller`",
        "`text` as given; `name`; `transport`; `engine`, `virtual` or `real`; `files` with the SHA-256 of "
        "its modules and libraries",
    ),
    ("`runs`", "runs of each case, one per seed"),
    ("`counts`", "the number of checks by verdict"),
    (
        "`checks`",
        "for each check: `id`, `group`, `question`, `case`, `measure`, `unit`, `better`, `warn`, `fail` and "
        "`source` as below; `value`, `low` and `high`, its mean and interval; `values` by seed; `verdict`; "
        "`note`; with `--against`, `rank`: 1 is the best, and `=` marks intervals that overlap",
    ),
    ("`against`", "`controller`, `runs`, `counts` and `checks` of the controller of `--against`, or null"),
)

# As measured on an Intel Xeon of 2.3 GHz, on which other programs ran, too.
_COST = {
    1: "CUBIC takes 65 s of processor time (`time leobench passport cubic`), and 21 s with `--quick`; "
    "divide by the number of processors."
}


def passport_page() -> str:
    """The page of all suites."""
    blocks = [
        "# Checks of passports",
        "What `leobench passport` asks of a congestion controller, and how it judges. "
        "[Choose a congestion controller](../howto/congestion-control.md#a-passport) shows its use.",
        f"## Verdicts\n\n{_RULES}",
        f"## passport.json\n\n{_JSON}",
        table(["key", "meaning"], _KEYS),
    ]
    for version in versions():
        blocks += _suite(passport.load_suite(version))
    return joined(blocks)


def _suite(suite: Suite) -> Iterator[str]:
    quick = suite.restricted(quick=True)
    yield f"## Suite {suite.version}"
    yield (
        f"{len(suite.checks)} checks of {len(suite.cases)} cases, {suite.replicates} runs each; with "
        f"`--quick` the {len(quick.checks)} that are marked, with the first {quick.replicates} seeds. The "
        "bottleneck has 20 Mbit/s and a round trip of 50 ms unless the case says otherwise, and 2 % of it "
        "are noise, so that seeds differ. A token bucket drops what a queue of its size and rate would: the "
        "case `policer` is such a queue, which delays by up to 20 ms what a policer would not. "
        f"{_COST[suite.version]}"
    )
    for group, checks in groupby(suite.checks, key=lambda check: check.group):
        yield f"### {group} (suite {suite.version})"
        yield table(
            ["check", "question", "case", "measure", "warns, fails", "thresholds from"],
            [_row(suite, check) for check in checks],
        )


def _row(suite: Suite, check: Check) -> list[str]:
    case = suite.cases[check.case]
    quick = " (quick)" if case.quick else ""
    unit = f" {check.unit}" if check.unit else ""
    limits = tables.threshold({"better": check.better, "warn": check.warn, "fail": check.fail})
    return [
        f"`{check.id}`{quick}",
        check.question,
        case.about,
        measures.meaning(check.measure).lower().replace("jain", "Jain"),
        f"{limits}{unit}",
        check.source,
    ]
