"""Installs a wheel or a source archive into an empty environment and runs a template there.

`python tools/try_wheel.py FILE` works in a temporary folder, away from the checkout, with nothing of the
caller's environment but the way to programs and packages. Prints how long each step took.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

# Variables that say where programs and packages come from, and the commit of a build.
KEPT = re.compile(r"(PIP|CARGO|RUSTUP|SSL_CERT)_\w+|\w*_proxy|LEOBENCH_COMMIT", re.IGNORECASE)


def try_out(archive: Path, folder: Path) -> None:
    """Installs an archive and runs leobench, in a folder.

    Raises:
        subprocess.CalledProcessError: If a step fails.
    """
    programs = folder / "env/bin"
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    environment = {**kept, "HOME": str(folder), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def step(program: str, *words: str) -> None:
        began = time.monotonic()
        subprocess.run([str(programs / program), *words], cwd=folder, env=environment, check=True)
        print(f"{time.monotonic() - began:6.1f} s  {program} {words[0]}", flush=True)

    began = time.monotonic()
    venv.create(folder / "env", with_pip=True)
    print(f"{time.monotonic() - began:6.1f} s  make an environment", flush=True)
    step("pip", "install", "--quiet", "--disable-pip-version-check", str(archive))
    step("leobench", "--version")
    step("leobench", "new", "ka")
    step("leobench", "run", "ka.toml", "--out", "done")
    step("leobench", "plot", "done", "--out", "timeline.png")
    step("leobench", "new", "starlink", "--at", "Munich")
    step("leobench", "check", "starlink.toml")


def main(*words: str) -> int:
    """Tries an archive; returns 1 if a step fails, 2 if there is no archive."""
    if len(words) != 1 or not Path(words[0]).is_file():
        print("usage: try_wheel.py FILE (a wheel or a source archive)", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        try:
            try_out(Path(words[0]).resolve(), Path(folder))
        except subprocess.CalledProcessError as error:
            print(f"try_wheel: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
