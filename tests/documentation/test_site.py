"""The guide as a site: `make site` builds it without a warning, and every page can be found in it."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.slow


def test_the_site_is_built_and_searched() -> None:
    make = shutil.which("make")
    assert make
    subprocess.run([make, "site"], cwd=ROOT, check=True, capture_output=True, timeout=600)
    site = ROOT / "site"
    for page in (ROOT / "docs").rglob("*.md"):
        folder = site / page.relative_to(ROOT / "docs").with_suffix("")
        assert (site if page.stem == "index" else folder).joinpath("index.html").is_file(), page
    index = json.dumps(json.loads((site / "search.json").read_text(encoding="utf-8")))
    for word in ("gilbert_elliott_time", "bufferbloat", "head_age_ns", "connection_window"):
        assert word in index, word
    # Signatures and members of the API, which mkdocstrings reads off the package.
    api = (site / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    assert 'id="leobench.api.run"' in api
    assert 'id="leobench._core.PathView.has_room"' in api
