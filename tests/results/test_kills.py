from __future__ import annotations

import random
import signal
import time
from typing import TYPE_CHECKING

import pytest

import leobench
from tests.support.programs import start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_result_folder_is_whole_or_absent_whenever_a_run_is_killed(scenarios: Path, tmp_path: Path) -> None:
    """Twenty runs, killed at moments spread over their whole length, three ways."""
    args = ("run", scenarios / "khan2023-ka-15-packets.toml", "--quiet", "--out")
    started = time.monotonic()
    process = start(*args, "whole", cwd=tmp_path)
    process.communicate()
    assert process.returncode == 0
    length = time.monotonic() - started
    whole = leobench.open(tmp_path / "whole")
    rng = random.Random(1)  # noqa: S311
    for attempt in range(20):
        target = tmp_path / f"run-{attempt}"
        process = start(*args, target, cwd=tmp_path)
        time.sleep(rng.uniform(0, 1.1) * length)
        process.send_signal(rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGKILL]))
        process.communicate()
        if target.exists():
            result = leobench.open(target)
            assert result.summary == whole.summary
            assert all(result.tables[name].equals(whole.tables[name]) for name in whole.tables)
