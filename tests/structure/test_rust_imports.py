"""The crates and their modules know nothing of what is above them."""

from __future__ import annotations

import graphlib
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.structure.rust_modules import rooms
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/Cargo.toml"))

# From the lowest crate to the highest: each may use those before it.
ORDER = [
    "base",
    "budget",
    "link",
    "orbit",
    "transport",
    "media",
    "foreign",
    "quic",
    "quic-noq",
    "sim",
    "emu",
    "bench",
    "py",
    "playground",
]


def used(crate: Path) -> set[str]:
    """The crates of leobench that a crate depends on, its tests left out."""
    manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
    ours = (name for name in manifest["dependencies"] if name.startswith("leobench-"))
    return {name.removeprefix("leobench-") for name in ours}


def test_crates_use_only_lower_ones() -> None:
    assert sorted(ORDER) == [crate.name for crate in CRATES]
    for crate in CRATES:
        below = ORDER[: ORDER.index(crate.name)]
        assert used(crate) <= set(below), f"{crate.name} uses a crate above it"


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_modules_of_a_crate_import_each_other_in_no_circle(crate: Path) -> None:
    try:
        graphlib.TopologicalSorter(rooms(crate / "src")).prepare()
    except graphlib.CycleError as error:
        circle = " imports ".join(reversed(error.args[1]))
        pytest.fail(f"crates/{crate.name}/src: {circle}: move what they share below both")


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_a_module_with_a_folder_is_the_mod_of_that_folder(crate: Path) -> None:
    files = [*(crate / "src").rglob("*.rs"), *(crate / "tests").rglob("*.rs")]
    beside = [file for file in files if file.with_suffix("").is_dir()]
    assert not beside, f"move {beside[0].relative_to(crate)} to {beside[0].stem}/mod.rs"


def test_a_circle_is_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\n",
        "a.rs": "use crate::{b::{One, two::Three}};\n",
        "b/mod.rs": "// use crate::c;\npub struct One;\n",
        "b/two.rs": "fn f() { super::super::c::g(); }\n",
        "c.rs": "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert rooms(tmp_path) == {"a": {"b"}, "b": {"c"}, "c": set()}
    (tmp_path / "c.rs").write_text("pub use crate::a::x;\n")
    assert rooms(tmp_path)["c"] == {"a"}
