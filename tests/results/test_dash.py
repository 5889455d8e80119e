"""Videos of DASH manifests: what is read from them, and what is said about others."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

import leobench
from leobench import InputError, cli
from leobench.campaign import provenance

if TYPE_CHECKING:
    from pathlib import Path

# As ffmpeg and packagers of the live profile write it.
MANIFEST = """\
<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT21.5S"
    profiles="urn:mpeg:dash:profile:isoff-live:2011">
  <Period id="0" start="PT0.0S">
    <AdaptationSet id="0" contentType="video" segmentAlignment="true">
      <SegmentTemplate timescale="12800" initialization="i.m4s" media="$RepresentationID$-$Number$.m4s">
        <SegmentTimeline>
          <S t="0" d="51200" r="4" />
          <S d="19200" />
        </SegmentTimeline>
      </SegmentTemplate>
      <Representation id="0" mimeType="video/mp4" codecs="avc1.64001f" bandwidth="2000000" />
      <Representation id="1" mimeType="video/mp4" codecs="avc1.640015" bandwidth="500000" />
    </AdaptationSet>
    <AdaptationSet id="1" contentType="audio">
      <Representation id="2" mimeType="audio/mp4" bandwidth="128000" />
    </AdaptationSet>
  </Period>
</MPD>
"""

SCENARIO = """\
name = "film"
duration = "60 s"

[nodes.server]
[nodes.viewer]

[links.path]
between = ["server", "viewer"]
rate = "10 Mbps"
delay = "20 ms"

[flows.film]
transport = "quic"
from = "server"
to = "viewer"
opened_by = "to"
video = { manifest = "film.mpd" }
"""

VIDEO = "flows.film.video"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "film.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    file.with_name("film.mpd").write_text(MANIFEST, encoding="utf-8")
    return file


@pytest.mark.parametrize("transport", ["quic", "tcp"])
def test_a_manifest_is_the_keys_that_it_stands_for(transport: str, file: Path) -> None:
    changes = {"flows.film.transport": transport}
    keys = {"ladder": ["500 kbps", "2 Mbps"], "length": "21.5 s", "segment": "4 s"}
    of_manifest = leobench.run(file, overrides=changes)
    of_keys = leobench.run(file, overrides={**changes, VIDEO: keys})
    segments = of_manifest.tables.segments
    assert segments.equals(of_keys.tables.segments)
    # Five segments of 4 s and one of 1.5 s; the link carries more than the highest bitrate.
    assert segments["bytes"].to_list() == [250_000, *[1_000_000] * 4, 375_000]


def test_results_and_campaigns_keep_its_digest(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert cli.main(["run", str(file), "--quiet", "--out", str(out)]) == 0
    scenario = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["scenario"]
    assert scenario["flows"]["film"]["video"]["manifest"] == "film.mpd"
    assert "ladder" not in scenario["flows"]["film"]["video"]
    before = provenance.fingerprint(scenario, file.parent)
    assert provenance.travelling(scenario, file.parent) == ["film.mpd"]
    campaign = tmp_path / "two.toml"
    campaign.write_text(
        'name = "two"\nscenario = "film.toml"\nreplicates = 2\nmetrics = ["flows.film.video.bitrate_bps"]\n',
        encoding="utf-8",
    )
    assert cli.main(["sweep", str(campaign), "--quiet", "--out", str(tmp_path / "campaign")]) == 0
    stored = json.loads((tmp_path / "campaign" / "manifest.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256(MANIFEST.encode()).hexdigest()
    assert digest in json.dumps(stored)
    file.with_name("film.mpd").write_text(MANIFEST.replace("500000", "600000"), encoding="utf-8")
    assert provenance.fingerprint(scenario, file.parent) != before


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("</Period>", "</Perio>", "film.mpd, line 18: not XML: "),
        (
            ' bandwidth="500000"',
            "",
            "film.mpd, line 13: Representation has no bandwidth; allowed: bits per second",
        ),
        (
            ' mediaPresentationDuration="PT21.5S"',
            "",
            "film.mpd, line 2: MPD has no mediaPresentationDuration",
        ),
        (
            'contentType="audio"',
            'contentType="video"',
            "film.mpd, line 15: the second AdaptationSet of video of 2",
        ),
        ('r="4"', 'r="3"', "film.mpd, line 7: the segments last 17.5 s, the presentation 21.5 s"),
        ('d="51200" r="4"', 'd="5120" r="49"', "film.mpd, line 9: segments of 1.5 s after those of "),
        (
            'timescale="12800"',
            'timescale="0"',
            'film.mpd, line 6: timescale="0"; allowed: a whole number above 0',
        ),
    ],
)
def test_other_manifests_are_refused_in_a_line(
    old: str, new: str, problem: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert old in MANIFEST
    file.with_name("film.mpd").write_text(MANIFEST.replace(old, new), encoding="utf-8")
    assert cli.main(["check", str(file)]) == 2
    said = capsys.readouterr().err
    assert f'{VIDEO}.manifest = "film.mpd": ' in said
    assert problem in said
    assert "; allowed: " in said
    assert said.count("\n") == 1, "one line"


def test_a_live_stream_with_a_length_is_a_film(file: Path) -> None:
    file.with_name("film.mpd").write_text(MANIFEST.replace("static", "dynamic"), encoding="utf-8")
    assert cli.main(["check", str(file)]) == 0


@pytest.mark.parametrize(
    ("video", "problem"),
    [
        ({"manifest": "flim.mpd"}, 'manifest = "flim.mpd": no such file; allowed: a text file'),
        ({"manifest": "."}, 'manifest = ".": cannot be read: is a folder'),
        (
            {"manifest": "film.mpd", "length": "20 s"},
            'length = "20 s": is given together with a `manifest`; allowed: either `ladder`',
        ),
        ({"manifest": "film.mpd", "ladder": ["1 Mbps"]}, "is given together with a `manifest`"),
        ({"manifest": "film.mpd", "segment": "4 s"}, "is given together with a `manifest`"),
        ({"length": "20 s"}, "ladder: is required but missing; allowed: either `ladder`"),
        ({"ladder": ["1 Mbps"]}, "length: is required but missing; allowed: either `ladder`"),
        ({"manifest": "film.mpd", "most_buffer": "3 s"}, "has no room for a segment of 4 s"),
        (
            {"manifest": "film.mpd", "adaptation": {"kind": "fixed", "rung": 2}},
            "rung = 2: is no bitrate of the ladder, which has 2; allowed: from 0 to 1",
        ),
    ],
)
def test_keys_that_contradict_are_refused(video: dict[str, object], problem: str, file: Path) -> None:
    with pytest.raises(InputError) as refused:
        leobench.run(file, overrides={VIDEO: video})
    assert problem in str(refused.value)
