"""The suite is whole: its scenarios load, its thresholds are in order, and its yardsticks are right."""

from __future__ import annotations

import json
import math

import pytest

from leobench import engine, passport
from leobench.candidate import Candidate, Transport
from leobench.errors import InputError
from leobench.passport import measures
from leobench.scenario import load

SUITE = passport.load_suite(1)


def test_every_check_has_a_case_and_a_measure_and_every_case_a_check() -> None:
    assert {check.case for check in SUITE.checks} == SUITE.cases.keys()
    assert {check.measure for check in SUITE.checks} == measures.MEASURES.keys()
    assert len({check.id for check in SUITE.checks}) == len(SUITE.checks)


def test_a_check_warns_before_it_fails() -> None:
    assert all(check.fail is None or check.is_beyond(check.fail, check.warn) for check in SUITE.checks)


@pytest.mark.parametrize("transport", ["quic", "tcp"])
def test_every_case_loads_over_both_transports(transport: Transport) -> None:
    candidate = Candidate.parse("cubic", transport)
    for case in SUITE.cases.values():
        resolved = json.loads(load(SUITE.network, 1, case.overrides(candidate)).to_json())
        main = resolved["flows"]["main"]["transport"]
        assert main["kind"] == transport
        assert main["ecn"] is (case.ecn or transport == "quic")


def test_a_quick_look_is_a_part_of_the_suite() -> None:
    quick = SUITE.restricted(quick=True)
    assert set(quick.checks) < set(SUITE.checks)
    assert {check.group for check in quick.checks} == {check.group for check in SUITE.checks}
    assert quick.replicates < SUITE.replicates


def test_thresholds_can_be_given() -> None:
    by_id = {check.id: check for check in SUITE.with_thresholds([("deep-queue", 0.5)]).checks}
    assert (by_id["deep-queue"].warn, by_id["deep-queue"].fail) == (0.5, 0.5)
    by_id = {check.id: check for check in SUITE.with_thresholds([("deep-queue", 2.0)]).checks}
    assert (by_id["deep-queue"].warn, by_id["deep-queue"].fail) == (1.0, 2.0)
    with pytest.raises(InputError, match=r"--threshold deep-quue: .*; did you mean `deep-queue`\?"):
        SUITE.with_thresholds([("deep-quue", 2.0)])


def test_a_suite_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match=r"--suite 7: there is no such suite; allowed: `1`"):
        passport.load_suite(7)


def test_short_transfers_alone_take_the_time_that_they_are_compared_with() -> None:
    case = SUITE.cases["short"]
    overrides = case.overrides(Candidate.parse("cubic"))
    flows = overrides["flows"]
    assert isinstance(flows, dict)
    alone = {name: flow for name, flow in flows.items() if name != "main"}
    ended = engine.run(load(SUITE.network, 1, {**overrides, "flows": alone}), engine.Recording())
    assert measures.inflation(json.loads(ended.summary), case) == pytest.approx(1, abs=0.02)


def test_thresholds_from_equations_are_those_of_the_equations() -> None:
    """NewReno by Mathis et al. 1997, equation 3 (b = 1); CUBIC by RFC 9438, section 5.1 (C 0.4, beta 0.7)."""
    by_id = {check.id: check for check in SUITE.checks}
    payload, rate = 8 * 1_252, 20e6
    for name, probability in (("loss-1in1000-goodput", 1e-3), ("loss-1in100-goodput", 1e-2)):
        share = payload / 0.050 * math.sqrt(1.5 / probability) / rate
        assert f"({share:.2f})" in by_id[name].source
        assert by_id[name].fail == pytest.approx(share / 2, rel=0.05)
    window = (0.4 * 3.7 / 1.2) ** 0.25 * 0.600**0.75 / 1e-4**0.75
    share = window * 8 * 1_280 / 0.600 / rate
    assert f"{share:.2f} of the path" in by_id["long-goodput"].source
    assert by_id["long-goodput"].fail == pytest.approx(share / 2, rel=0.05)


def test_two_flows_with_a_ratio_of_three_have_the_index_that_fails() -> None:
    """Jain's index of goodputs 3 and 1 is (3 + 1)^2 / (2 * (9 + 1)) = 0.8."""
    fairness = next(check for check in SUITE.checks if check.id == "two-fairness")
    assert fairness.fail == (3 + 1) ** 2 / (2 * (9 + 1))
