"""The parts of others in the page are those that their list names, with licences, and small."""

from __future__ import annotations

import hashlib
import json

from leobench.report.page import ASSETS
from tests.support.paths import ROOT

VENDOR = ASSETS / "vendor"


def test_files_are_those_of_the_list_and_have_licences() -> None:
    listed = json.loads((VENDOR / "versions.json").read_text(encoding="utf-8"))
    present = {file.name for file in VENDOR.iterdir()}
    packages = set()
    for name, part in listed.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == part["sha256"], name
        packages |= set(part["packages"].items())
    texts = {name for name in present if name.endswith(".LICENSES.txt")}
    assert present == {*listed, *texts, "versions.json"}
    licences = "\n".join((VENDOR / name).read_text(encoding="utf-8") for name in texts)
    assert [name for name, version in packages if f"{name} {version}" not in licences] == []
    assert "no licence text" not in licences


def test_versions_are_those_that_are_pinned() -> None:
    listed = json.loads((VENDOR / "versions.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / "tools" / "vendor" / "package-lock.json").read_text(encoding="utf-8"))[
        "packages"
    ]
    for part in listed.values():
        for name, version in part["packages"].items():
            pinned = lock[f"node_modules/{name}"]
            assert pinned["version"] == version, name
            assert pinned["integrity"].startswith("sha512-"), name


def test_assets_are_small() -> None:
    assert sum(file.stat().st_size for file in ASSETS.rglob("*") if file.is_file()) < 2.5e6
