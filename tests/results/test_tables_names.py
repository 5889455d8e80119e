"""Names of tables."""

from __future__ import annotations

import pytest

from leobench.errors import UnknownNameError
from leobench.result import Tables


def test_a_table_that_nothing_has_is_named_with_the_nearest_one() -> None:
    tables = Tables({"queues": lambda: pytest.fail("nobody reads it")})
    with pytest.raises(
        UnknownNameError, match="queue: no such table; allowed: `queues`; did you mean `queues`"
    ):
        tables["queue"]
    assert "queue" not in tables
