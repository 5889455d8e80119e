"""A suite: cases, which change one network, and checks, which judge a measure of a case.

A suite with a number never changes once it is released, so passports of the same suite can be compared. A
better one gets another number.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from leobench.errors import InputError, allowed, cut, near
from leobench.files import read_text, read_toml

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from leobench.candidate import Candidate

Better = Literal["higher", "lower"]

NETWORK = "network.toml"
# Places in a case of the controller under examination, and of those that it meets.
_CANDIDATE, _RIVALS = "candidate", ("cubic", "bbr3")
_FOLDERS = "suite_"
# Round trip of cases that do not say otherwise.
_BASE_RTT_MS = 50.0


@dataclass(frozen=True)
class Case:
    """A network and flows in which the controller is run.

    Attributes:
        name: Its name, that of its runs.
        about: The case in words.
        duration: How long a run lasts, as in a scenario.
        set: Values that it replaces in the network, by place; `candidate` stands for a transport.
        flows: Its flows by name, as in a scenario or short for it.
        ecn: Whether flows are capable of ECN.
        quick: Whether it belongs to a quick look.
        kernel: Whether the kernel's own TCP can run it in real time.
        base_rtt_ms: Round trip without queues.
        outage: Length of the outages that recovery is measured from.
        alone_s: Time of its transfers on an empty path.
    """

    name: str
    about: str
    duration: str
    set: Mapping[str, object]
    flows: Mapping[str, Mapping[str, Any]]
    ecn: bool = False
    quick: bool = False
    kernel: bool = False
    base_rtt_ms: float = _BASE_RTT_MS
    outage: str = "0 s"
    alone_s: float = 1.0

    def overrides(self, candidate: Candidate) -> dict[str, object]:
        """The values of a scenario that the runs of a candidate replace in the network, by place."""
        engine = {"engine": "real"} if candidate.engine == "real" else {}
        flows = {name: self._flow(flow, candidate) for name, flow in self.flows.items()}
        return {"duration": self.duration, **engine, **self.set, "flows": flows}

    def is_examined(self, flow: str) -> bool:
        """Whether a flow runs the controller under examination."""
        return bool(self.flows[flow]["transport"] == _CANDIDATE)

    def _flow(self, short: Mapping[str, Any], candidate: Candidate) -> dict[str, Any]:
        flow = {"from": "client", "to": "server", **short}
        flow["transport"] = self._transport(flow["transport"], candidate)
        size = flow.pop("size", None)
        if not {"source", "streams", "objects"} & flow.keys():
            flow["source"] = {"kind": "bulk"} if size is None else {"kind": "bulk", "size": size}
        return flow

    def _transport(self, name: str, candidate: Candidate) -> object:
        if name == _CANDIDATE:
            transport = dict(candidate.transport)
        elif name in _RIVALS:
            transport = {"kind": candidate.transport["kind"], "congestion": name}
        else:
            return name
        return {**transport, "ecn": True} if self.ecn else transport


@dataclass(frozen=True)
class Check:
    """A question about a controller, and how its answer is judged.

    Attributes:
        id: Its name, which never changes within a suite.
        group: The group of checks that it belongs to.
        question: The question.
        case: The name of its case.
        measure: The name of its measure.
        unit: The unit of the measure, empty for a ratio.
        better: Whether a higher or a lower value is better.
        warn: The value beyond which it warns.
        fail: The value beyond which it fails; none if it only warns.
        source: Where its thresholds come from.
    """

    id: str
    group: str
    question: str
    case: str
    measure: str
    better: Better
    warn: float
    fail: float | None
    source: str
    unit: str = ""

    def is_beyond(self, value: float, threshold: float) -> bool:
        """Whether a value is worse than a threshold."""
        return value < threshold if self.better == "higher" else value > threshold


@dataclass(frozen=True)
class Suite:
    """The checks of a version, with their cases.

    Attributes:
        version: Its number.
        folder: The folder of its files.
        cases: The cases by name.
        checks: The checks, in order.
        replicates: Runs of each case.
        quick_replicates: Runs of each case in a quick look.
        quick: Whether this is a quick look.
        changed: The thresholds that are not the suite's own, by check.
    """

    version: int
    folder: Path
    cases: Mapping[str, Case]
    checks: tuple[Check, ...]
    replicates: int
    quick_replicates: int
    quick: bool = False
    changed: Mapping[str, float] = field(default_factory=dict)

    @property
    def network(self) -> Path:
        """The scenario that cases change."""
        return self.folder / NETWORK

    def restricted(self, *, quick: bool = False, only: Collection[str] | None = None) -> Suite:
        """The same suite with some of its checks and their cases only.

        Args:
            quick: Whether to keep those of a quick look, with fewer runs of each.
            only: The checks to keep; all unless given.

        Raises:
            InputError: If there is no such check.
        """
        for name in only or ():
            self._known("check", name)
        kept = [check for check in self.checks if only is None or check.id in only]
        if quick:
            kept = [check for check in kept if self.cases[check.case].quick]
        names = {check.case for check in kept}
        return replace(
            self,
            checks=tuple(kept),
            cases={name: case for name, case in self.cases.items() if name in names},
            replicates=self.quick_replicates if quick else self.replicates,
            quick=quick,
        )

    def with_thresholds(self, thresholds: Sequence[tuple[str, float]]) -> Suite:
        """The same suite, with other values beyond which checks fail; they warn there at the latest.

        Raises:
            InputError: If there is no such check.
        """
        values = dict(thresholds)
        for name in values:
            self._known("--threshold", name)
        checks = []
        for check in self.checks:
            value = values.get(check.id)
            if value is not None:
                warn = value if check.is_beyond(value, check.warn) is False else check.warn
                check = replace(check, fail=value, warn=warn, source="--threshold")  # noqa: PLW2901
            checks.append(check)
        return replace(self, checks=tuple(checks), changed=values)

    def _known(self, option: str, name: str) -> None:
        known = [check.id for check in self.checks]
        if name not in known:
            quick = " with --quick" if self.quick else ""
            raise InputError(
                f"{option} {cut(name)}: suite {self.version}{quick} has no such check; "
                f"allowed: one of its {len(known)} checks, such as `{known[0]}`{near(name, known)}"
            )


def versions() -> list[int]:
    """The suites that there are."""
    found = Path(__file__).parent.glob(f"{_FOLDERS}*")
    return sorted(int(each.name.removeprefix(_FOLDERS)) for each in found if each.is_dir())


@lru_cache
def load(version: int) -> Suite:
    """Reads a suite.

    Raises:
        InputError: If there is no such suite.
    """
    known = versions()
    if version not in known:
        raise InputError(f"--suite {version}: there is no such suite; {allowed(version, known)}")
    folder = Path(__file__).parent / f"{_FOLDERS}{version}"
    cases = {name: _case(name, table) for name, table in _read(folder / "cases.toml").items()}
    described = _read(folder / "checks.toml")
    checks = tuple(_check(name, table) for name, table in described["checks"].items())
    return Suite(version, folder, cases, checks, described["replicates"], described["quick_replicates"])


def _read(file: Path) -> dict[str, Any]:
    return read_toml(file, read_text(file))


def _case(name: str, table: dict[str, Any]) -> Case:
    given = dict(table)
    links = given.pop("links")
    places: dict[str, object] = {
        f"links.{link}": {"between": ["router", "server"], **values} for link, values in links.items()
    }
    if "handovers" in given:
        places["handovers"] = given.pop("handovers")
    if "warm_up" in given:
        places["warm_up"] = given.pop("warm_up")
    noise = {
        "transport": "udp",
        "background": True,
        "source": {"kind": "poisson", "rate": given.pop("noise", "400 kbps"), "size": "400 B"},
    }
    flows = {**given.pop("flows"), "noise": noise}
    return Case(name=name, set=places, flows=flows, duration=given.pop("duration", "40 s"), **given)


def _check(name: str, table: dict[str, Any]) -> Check:
    better = cast("Better", table["better"])
    return Check(**{"id": name, "fail": None, **table, "better": better})
