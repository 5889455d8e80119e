"""Fixtures that the tests share."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.support.paths import ROOT
from tests.support.quick import QUICK

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EMULATION = ROOT / "tests" / "emulation"

# What was ignored where the tests were started (a background script ignores Ctrl-C) would stay ignored in
# the programs that they start and interrupt, which are to behave as in a terminal.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
    (signal.SIGTERM, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests on hosts as tests in real time, before tests are chosen by their marks.

    All of them are below `EMULATION`: `make test` looks for them only there.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "hosts" in item.fixturenames:
            item.add_marker(pytest.mark.real_time)
        is_real = any(item.get_closest_marker(name) for name in ("real_time", "alone"))
        if is_real and EMULATION not in item.path.parents:
            raise pytest.UsageError(f"{item.nodeid}: tests in real time go to tests/emulation")


@pytest.fixture(scope="session", autouse=True)
def unsynchronised() -> Iterator[None]:
    """Campaigns of the tests need not survive a power failure: some thousand waits for the disk less."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """A scenario that takes milliseconds to run."""
    file = tmp_path / "quick.toml"
    file.write_text(QUICK, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def hosts() -> None:
    """Skips where hosts of an emulation cannot be made; fails where it was promised that they can."""
    from leobench import errors
    from leobench.emulation import check

    try:
        check.check_machine()
    except errors.InputError as error:
        if os.environ.get("LEOBENCH_HAS_HOSTS"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def buffers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `results/buffers`, of the campaign that is shipped: four short runs of every variant."""
    from leobench.campaign import Campaign, run_campaign

    folder = tmp_path_factory.mktemp("buffers")
    short = Campaign.load(ROOT / "campaigns" / "buffers.toml").scaled(4, {"duration": "200 ms"})
    run_campaign(short, folder / "results" / "buffers", workers=1)
    return folder


@pytest.fixture(scope="session")
def scenarios() -> Path:
    """The folder of the scenarios that are shipped."""
    return ROOT / "scenarios"
