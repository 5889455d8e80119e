"""A headless Chromium in the network of this process, driven through pipes."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Root has no sandbox; the certificate is self-signed; and nothing but the page uses the network.
OPTIONS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--ignore-certificate-errors",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# Seconds for the browser to come to rest, and for anything else on a busy machine.
REST_S = 1.5
PATIENCE_S = 90.0


def needed(names: Sequence[str], purpose: str, package: str) -> str:
    """The path of the first program of these names that is installed.

    Raises:
        InputError: If none is.
    """
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise InputError(f"{names[0]}: is not installed; {purpose} need it (apt install {package})")
    return found


def program() -> str:
    """The browser's program.

    Raises:
        InputError: If there is none.
    """
    return needed(NAMES, "these comparisons", "chromium")


@contextmanager
def started(*options: str) -> Iterator[Browser]:
    """A browser that has come to rest."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=[*OPTIONS, *options])
        try:
            page = browser.new_page()
            page.goto("about:blank")
            time.sleep(REST_S)
            page.close()
            yield browser
        finally:
            browser.close()


def wait_for(file: Path) -> None:
    """Waits for a file that another program makes.

    Raises:
        RunError: If it takes too long.
    """
    limit = time.monotonic() + PATIENCE_S
    while not file.exists():
        if time.monotonic() > limit:
            raise RunError(f"{file}: was not made within {PATIENCE_S:g} s")
        time.sleep(0.02)
