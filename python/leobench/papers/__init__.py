"""The papers that leobench reproduces: a folder each, with campaigns, figures and claims."""

from leobench.papers.catalogue import Figure, Paper, Quick, Remark, find, paper, papers
from leobench.papers.claims import Claim
from leobench.papers.conclusions import Conclusion, Outcome, conclude
from leobench.papers.readings import Reading
from leobench.papers.reproduction import Reproduction, reproduce
from leobench.papers.verdicts import Finding, Verdict, judge

__all__ = [
    "Claim",
    "Conclusion",
    "Figure",
    "Finding",
    "Outcome",
    "Paper",
    "Quick",
    "Reading",
    "Remark",
    "Reproduction",
    "Verdict",
    "conclude",
    "find",
    "judge",
    "paper",
    "papers",
    "reproduce",
]
