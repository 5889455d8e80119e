"""The table of the processor's time for TCP between 100 cities."""

from __future__ import annotations

import pytest

from tools import hypatia_speed


def test_the_speed_is_that_of_fifty_pairs_at_their_rate(capsys: pytest.CaptureFixture[str]) -> None:
    """In 300 ms, all flows together carry something, and no more than 100 links of 1 Mbit/s can."""
    hypatia_speed.main(["1=0.3"])
    row = [cell.strip() for cell in capsys.readouterr().out.splitlines()[-1].strip("|").split("|")]
    assert row[:2] == ["1", "0.3"]
    assert 0.0 < float(row[2]) <= 0.1
    assert float(row[3]) > 0.0


@pytest.mark.parametrize("word", ["10", "0=5", "ten=5", "10=5 s"])
def test_a_wrong_run_is_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        hypatia_speed.main([word])
    assert ended.value.code == 2
    assert "allowed: Mbit/s=SECONDS, such as 10=20" in capsys.readouterr().err
