"""Numbers from what pages tell of calls and films."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leobench.errors import InputError, RunError
from tools.against_chromium import browser, calls, camera, film, report, sessions, visit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def sample(at_ms: float, picture: int, voice: int) -> list[dict[str, Any]]:
    """Statistics of a connection that has sent so many bytes, 100 of each stream in headers."""
    streams = [("video", picture), ("audio", voice)]
    sending = [
        {"type": "outbound-rtp", "kind": kind, "timestamp": at_ms, "bytesSent": sent, "headerBytesSent": 100}
        for kind, sent in streams
    ]
    pair = {"type": "candidate-pair", "nominated": True, "availableOutgoingBitrate": 2e6}
    return [*sending, pair, {"type": "transport", "bytesSent": 9_999}]


def test_a_call_sends_the_bytes_of_all_its_streams() -> None:
    """250 kB and then 125 kB in two seconds each: 1 and 0.5 Mbit/s."""
    samples = [sample(100_000, 0, 0), sample(102_000, 240_000, 10_000), sample(104_000, 360_000, 15_000)]
    sent = calls.sent(samples, started_s=90)
    assert sent.times_s == [10, 12, 14]
    assert sent.rate(10, 12) == pytest.approx(1e6)
    assert sent.rate(12, 14) == pytest.approx(0.5e6)
    assert sent.rate(11, 13) == pytest.approx(0.75e6)
    assert sent.rate(5, 12) is None
    assert sent.rate(12, 20) is None
    with pytest.raises(RunError, match="sent nothing"):
        calls.sent([[{"type": "transport"}]], 0)


def test_the_state_of_a_sender_names_its_limit() -> None:
    taken = sample(100_500, 1, 1)
    taken[0]["qualityLimitationReason"] = "cpu"
    (row,) = calls.states([taken], started_s=100)
    assert (row["time_s"], row["estimate_bps"], row["limited_by"]) == (0.5, 2e6, "cpu")


def test_a_film_counts_by_the_length_of_its_segments() -> None:
    def segment(index: int, bitrate: float, duration: float = 4.0) -> dict[str, float]:
        return {"index": index, "bitrate": bitrate, "duration": duration}

    told = {
        "stalls": [[1_000, 1_500], [5_000, 5_002], [9_000, 10_000]],
        # The second was loaded again, in a better quality.
        "segments": [segment(0, 1e6), segment(1, 1e6), segment(1, 4e6), segment(2, 4e6, 2.0)],
    }
    watched = film.seen(told)
    assert watched == film.Watched(bitrate_bps=2.8e6, stalls=2, stalled_s=1.5, switches=1)
    with pytest.raises(RunError, match="no segments"):
        film.seen({"stalls": [], "segments": []})


def test_rows_of_films_have_medians_and_the_difference() -> None:
    ours = film.Watched(2.2e6, 1, 0.5, 3)
    theirs = [film.Watched(rate, stalls, 0.0, 5) for rate, stalls in ((1.9e6, 0), (2.0e6, 0), (2.1e6, 2))]
    bitrate, stalls, *_ = film.rows([(ours, each) for each in theirs], "3 of 3 valid")
    assert bitrate == ["bitrate (Mbit/s)", "2.2", "2 (1.9 to 2.1)", "+10 %", "3 of 3 valid"]
    assert stalls[1:4] == ["1", "0 (0 to 2)", "+1"]


def test_a_load_takes_from_the_connection_to_the_last_byte() -> None:
    entries = [{"connectStart": 4.0, "responseEnd": 90.0}, {"connectStart": 95, "responseEnd": 504.0}]
    assert visit.load_time([*entries, {"connectStart": 95, "responseEnd": 300.0}]) == pytest.approx(0.5)


def test_tables_are_markdown() -> None:
    assert report.table(("a", "b"), [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_the_camera_has_whole_frames(tmp_path: Path) -> None:
    file = tmp_path / "camera.y4m"
    camera.write(file)
    header, rest = file.read_bytes().split(b"\n", 1)
    assert header.split()[1:3] == [b"W640", b"H360"]
    # A frame has its mark, a byte of brightness per pixel, and half as many of colour.
    assert len(rest) == camera.FRAMES * (6 + 640 * 360 * 3 // 2)


def test_missing_programs_are_named_with_their_packages() -> None:
    with pytest.raises(
        InputError, match=r"^no-such-program: is not installed; films need it \(apt install x\)$"
    ):
        browser.needed(["no-such-program"], "films", "x")


def test_a_missing_player_is_named(tmp_path: Path) -> None:
    """By its name and its source, before anything starts."""
    with pytest.raises(
        InputError, match=r"--dashjs = .*: has no .*dash\.all\.min\.js; unpack `npm pack dashjs@5`"
    ):
        film.player(tmp_path)
    script = tmp_path / film.DASHJS
    script.parent.mkdir(parents=True)
    script.touch()
    assert film.player(tmp_path) == script


def test_invalid_sessions_are_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    """The second of five seeds is invalid; later, all are."""

    def run(seed: int, invalid: Sequence[int]) -> tuple[sessions.Real, int]:
        reasons = ("late",) if seed in invalid else ()
        return sessions.Real(not reasons, reasons, None, 0.0), 10 * seed

    assert sessions.until_valid("page", 3, lambda seed: run(seed, [2])) == (
        [10, 30, 40],
        "3 of 4 valid: late",
    )
    assert capsys.readouterr().err.splitlines()[:2] == ["page 1: valid: 10", "page 2: late: 20"]
    assert sessions.until_valid("page", 2, lambda seed: run(seed, [])) == ([10, 20], "2 of 2 valid")
    assert sessions.until_valid("page", 2, lambda seed: run(seed, range(9))) == ([], "0 of 4 valid: late")
