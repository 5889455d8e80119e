"""The version, the commit, the engines and the optional parts of this build."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

# The optional part that drives runs in real time.
REAL_TIME = "real-time"


def told() -> str:
    """The text of `leobench --version`."""
    from leobench import _core

    has_real_time = REAL_TIME in _core.FEATURES
    engines = "virtual time, real time" if has_real_time else "virtual time (this build has no real time)"
    return (
        f"leobench {_core.__version__}\n"
        f"commit    {commit()}\n"
        f"engines   {engines}\n"
        f"features  {', '.join(_core.FEATURES) or 'none'}"
    )


def commit() -> str:
    """The commit of the checkout that leobench runs from, or the one that its wheel was built from."""
    from leobench import _core

    checkout = Path(__file__).parents[2]
    if (checkout / "Cargo.toml").is_file():
        head = _git(checkout, "rev-parse", "--short=12", "HEAD")
        if head is None:
            return "unknown (source archive, or git is not installed)"
        changed = _git(checkout, "status", "--porcelain", "--untracked-files=no")
        return f"{head} of this checkout{', with changes' if changed else ''}"
    if _core.COMMIT is None:
        return "unknown (built from a source archive without git)"
    return _core.COMMIT.replace("+", ", with changes")


@functools.cache
def loaded() -> str | None:
    """The commit that this process has loaded, as manifests hold it; `None` if it is not known."""
    told = commit().replace(" of this checkout", "")
    return None if told.startswith("unknown") else told


def _git(checkout: Path, *words: str) -> str | None:
    """The output of git in a checkout; None if it is none, or there is no git."""
    if not (checkout / ".git").exists():
        return None
    try:
        done = subprocess.run(  # noqa: S603 (the words are fixed)
            ["git", "-C", str(checkout), *words],  # noqa: S607 (git is where the path has it)
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
