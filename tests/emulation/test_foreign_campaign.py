"""The campaign over implementations that others wrote, with leobench's own transport in real time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.campaigns.test_foreign import by_leobench, ran

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("hosts")
def test_real_time_measures_the_same(tmp_path: Path) -> None:
    """A busy machine adds to it, but nothing is faster than virtual time by a round trip."""
    virtual = by_leobench().summary["flows"][0]["page"]["completion_s"]
    found = ran(tmp_path, "real")
    assert virtual - 0.03 < found["flows.download.completion_s"] < virtual + 1
