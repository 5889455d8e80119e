"""Templates: the scenarios, campaigns and papers that travel with leobench, and scenarios made for a place.

`scenarios` and `campaigns` beside this file are links to the folders at the top of a checkout. A wheel has
copies of their files in the same place, so both look them up alike.
"""

from leobench.templates.catalogue import STARLINK, Template, catalogue, find, located
from leobench.templates.copies import Copies, copies, target
from leobench.templates.places import Place, city, place
from leobench.templates.starlink import FITTED, FITTED_TEXT, scenario_at

__all__ = [
    "FITTED",
    "FITTED_TEXT",
    "STARLINK",
    "Copies",
    "Place",
    "Template",
    "catalogue",
    "city",
    "copies",
    "find",
    "located",
    "place",
    "scenario_at",
    "target",
]
