"""How tables of the guide are held to what campaigns measure."""

from __future__ import annotations

from tests.support.tables import agree


def test_cells_are_compared() -> None:
    assert agree("31.8 ± 0.5", "31.9 ± 0.6")
    assert agree("9.6 : 9.4", "9.5 : 9.5")
    assert not agree("650 ± 4", "750 ± 4")
    assert not agree("9.6 : 9.4", "14.6 : 4.4")
