"""Files that tools of others read: workflows, issue templates, hooks, the citation."""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.support.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_workflows_ask_for_no_more_than_reading_and_call_files_that_exist(file: Any) -> None:
    workflow = read(f".github/workflows/{file.name}")
    assert workflow["permissions"] == {"contents": "read"}
    for step in steps(workflow):
        assert ("uses" in step) != ("run" in step)
        for word in shlex.split(step.get("run", "")):
            if re.fullmatch(r"(tools|\.ci)/\S+", word):
                assert (ROOT / word).is_file(), word
    for job in workflow["jobs"].values():
        called = job.get("uses", "")
        assert not called or (ROOT / called).is_file()
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(workflow["jobs"])


def test_continuous_integration_runs_the_script_that_everybody_can_run() -> None:
    commands = [step.get("run", "") for step in steps(read(".github/workflows/ci.yml"))]
    assert any(".ci/run" in command for command in commands)
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_the_release_carries_out_its_checklist() -> None:
    release = read(".github/workflows/release.yml")
    commands = " ".join(step.get("run", "") for step in steps(release))
    for words in ("release.py check", "release.py archives", "release.py notes"):
        assert words in commands
    assert set(release["jobs"]["publish"]["needs"]) == {"tests", "wheels"}
    wheels = read(".github/workflows/wheels.yml")["jobs"]
    targets = {each["target"] for each in wheels["wheel"]["strategy"]["matrix"]["include"]}
    assert targets == {"x86_64", "aarch64", "x86_64-apple-darwin", "aarch64-apple-darwin"}


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.name)
def test_issue_templates_are_forms(file: Any) -> None:
    form = read(f".github/ISSUE_TEMPLATE/{file.name}")
    if file.name != "config.yml":
        assert {"name", "description", "body"} <= form.keys()
        names = [field["id"] for field in form["body"]]
        assert len(names) == len(set(names))
        assert all(field["type"] in {"input", "textarea"} for field in form["body"])


def test_hooks_are_the_tools_of_make_lint() -> None:
    lint = (
        (ROOT / "Makefile")
        .read_text()
        .partition("\nlint:")[2]
        .partition("\n\n")[0]
        .replace("$(BIN)", ".venv/bin")
    )
    hooks = [hook for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert all(repo["repo"] == "local" for repo in read(".pre-commit-config.yaml")["repos"])
    for hook in hooks:
        assert hook["entry"].replace(" --force-exclude", "") in lint, hook["id"]


def test_the_citation_has_the_licences_of_the_package() -> None:
    citation = read("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == ["MIT", "Apache-2.0"]
    assert citation["authors"]


def test_the_image_builds_from_what_its_context_has() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for name in kept:
        assert list(ROOT.glob(name)), name
    assert {
        "Cargo.lock",
        "Cargo.toml",
        "crates",
        "python",
        "scenarios",
        "campaigns",
        "pyproject.toml",
    } <= kept
