"""Generated pages of `docs/reference`, written from the code by `python -m tools.reference`.

The compiled core has the schema of scenarios and of their models, argparse the command line, `__all__` the
Python API, docstrings the interfaces of schedulers, and the sources of the recorder the columns of the
tables. Each page is a function in `PAGES` that returns its text. A test runs all of them, so a page and the
code cannot drift apart.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tools.reference.api import python_page
from tools.reference.columns import ROOT, tables_page
from tools.reference.commands import command_line_page
from tools.reference.keys import MODELS
from tools.reference.libraries import libraries_page
from tools.reference.metrics import summary_page
from tools.reference.models import models_page
from tools.reference.passport import passport_page
from tools.reference.scenario import scenario_page
from tools.reference.schedulers import schedulers_page

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = ROOT / "docs" / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "scenario.md": scenario_page,
    **{page: partial(models_page, page) for page in MODELS},
    "command-line.md": command_line_page,
    "python.md": python_page,
    "python-schedulers.md": schedulers_page,
    "passport.md": passport_page,
    "libraries.md": libraries_page,
    "summary.md": summary_page,
    "tables.md": tables_page,
}
