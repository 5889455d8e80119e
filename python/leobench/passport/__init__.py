"""Passports of congestion controllers: a fixed suite of checks, after RFC 9743, and their verdicts.

suite = load_suite(1)
examination, = examine_all([Candidate.parse("cubic")], suite, Path("results/cubic"))
examination.findings  # an answer per check
"""

from leobench.passport.judge import FAIL, NOT_MEASURED, PASS, VERDICTS, WARN, Finding
from leobench.passport.runner import Examination, examine_all
from leobench.passport.suite import Check, Suite
from leobench.passport.suite import load as load_suite

__all__ = [
    "FAIL",
    "NOT_MEASURED",
    "PASS",
    "VERDICTS",
    "WARN",
    "Check",
    "Examination",
    "Finding",
    "Suite",
    "examine_all",
    "load_suite",
]
