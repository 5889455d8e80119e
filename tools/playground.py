"""Builds the playground: the engine as WebAssembly, and the page that runs it, in one HTML file.

    python3 tools/playground.py              # cargo build, then target/playground/index.html
    python3 tools/playground.py --out FILE   # the page somewhere else

The page is `playground/page.html` with everything in it: the engine (gzipped, in base64), the modules that
`playground/modules/main.js` imports, directly or not, and the texts of the scenarios that it offers. So it
opens from a static server and from disk alike. It needs the Rust target wasm32-unknown-unknown, which it adds
if rustup can. Exit codes: 2 if the target cannot be had, 1 if the build fails or the page is too large.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAYGROUND = ROOT / "playground"
REPORT = ROOT / "python" / "leobench" / "report" / "assets"
VENDOR = REPORT / "vendor"
BUILT = ROOT / "target" / "playground" / "index.html"

TARGET = "wasm32-unknown-unknown"
PROFILE = "playground"
MODULE = ROOT / "target" / TARGET / PROFILE / "leobench_playground.wasm"

# Bytes of the whole page at most.
LARGEST = 5_000_000

# Folders of modules by the first part of their name, and modules of others by their whole name.
MODULES = {"playground": PLAYGROUND / "modules", "report": REPORT / "modules"}
OTHERS = {"uplot": VENDOR / "uplot.js"}
STYLES = (VENDOR / "uplot.css", *sorted((REPORT / "styles").glob("*.css")), PLAYGROUND / "style.css")
LICENCES = (VENDOR / "uplot.LICENSES.txt",)

_IMPORT = re.compile(r'^(?:import|export)\b[^"\';]*\bfrom "([^"]+)";', re.MULTILINE)
_FILE = re.compile(r'^  file: "([^"]+)",$', re.MULTILINE)


def main() -> int:
    """Builds the engine and the page, and returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", metavar="FILE", type=Path, default=BUILT, help="the page")
    out = parser.parse_args().out
    try:
        add_target()
    except RuntimeError as error:
        print(f"playground: {error}", file=sys.stderr)
        return 2
    try:
        page = assemble(build()).encode()
    except subprocess.CalledProcessError:
        return 1
    if len(page) > LARGEST:
        print(f"playground: the page has {len(page):,} bytes; allowed: at most {LARGEST:,}", file=sys.stderr)
        return 1
    out.parent.mkdir(parents=True, exist_ok=True)
    # Others may read it meanwhile.
    part = out.with_name(f"{out.name}.{os.getpid()}")
    part.write_bytes(page)
    part.replace(out)
    print(f"{out}: {len(page) / 1e6:.2f} MB")
    return 0


def add_target() -> None:
    """Adds the Rust target of WebAssembly unless it is there.

    Raises:
        RuntimeError: If it is missing and cannot be added.
    """
    if shutil.which("cargo") is None:
        raise RuntimeError("there is no cargo; allowed: Rust as https://rustup.rs installs it")
    if has_target():
        return
    rustup = shutil.which("rustup")
    if rustup is None:
        raise RuntimeError(f"Rust lacks the target {TARGET}, and there is no rustup to add it")
    added = subprocess.run(
        [rustup, "target", "add", TARGET], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if added.returncode or not has_target():
        said = (added.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise RuntimeError(f"rustup cannot add the target {TARGET}: {said}")


def has_target() -> bool:
    """Whether the standard library of the target is installed."""
    asked = ["rustc", "--print", "target-libdir", "--target", TARGET]
    found = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.returncode == 0 and any(Path(found.stdout.strip()).glob("libcore-*.rlib"))


def build() -> bytes:
    """The engine as a module of WebAssembly."""
    command = [
        "cargo",
        "build",
        "--package",
        "leobench-playground",
        "--target",
        TARGET,
        "--profile",
        PROFILE,
        "--locked",
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return MODULE.read_bytes()


def modules() -> dict[str, str]:
    """The modules of the page by name: the first one, and those that they import."""
    found: dict[str, str] = {}
    waiting = ["playground/main"]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = source_of(name).read_text(encoding="utf-8")
            waiting += _IMPORT.findall(found[name])
    return dict(sorted(found.items()))


def source_of(name: str) -> Path:
    """The file of a module."""
    folder, _, rest = name.partition("/")
    return OTHERS[name] if name in OTHERS else MODULES[folder] / f"{rest}.js"


def scenarios() -> dict[str, str]:
    """The texts of the shipped scenarios that the page offers, by their files."""
    names = _FILE.findall((PLAYGROUND / "modules" / "scenarios.js").read_text(encoding="utf-8"))
    return {name: (ROOT / "scenarios" / name).read_text(encoding="utf-8") for name in names}


def assemble(module: bytes) -> str:
    """The page around an engine."""
    read = {
        name: (PLAYGROUND / name).read_text(encoding="utf-8")
        for name in ("page.html", "boot.js", "worker.js")
    }
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    # The time in the header would change the bytes of a page that is built again.
    engine = base64.b64encode(gzip.compress(module, compresslevel=9, mtime=0)).decode()
    parts = {
        "version": manifest["workspace"]["package"]["version"],
        "style": "\n".join(path.read_text(encoding="utf-8") for path in STYLES),
        "licences": escaped("\n\n".join(path.read_text(encoding="utf-8") for path in LICENCES)),
        "engine": engine,
        "worker": read["worker.js"],
        "scenarios": in_script(scenarios()),
        "modules": in_script(modules()),
        "boot": read["boot.js"],
    }
    for name in ("worker", "boot"):
        if "</script" in parts[name] or "<!--" in parts[name]:
            raise ValueError(f"playground/{name}.js would end its own element")
    # A page that never changes needs no secret: the nonce tells its own scripts from those of a text.
    parts["nonce"] = hashlib.sha256("".join(parts.values()).encode()).hexdigest()[:32]
    return re.sub(r"@@(\w+)@@", lambda match: parts[match[1]], read["page.html"])


def in_script(content: dict[str, str]) -> str:
    """JSON that may stand in a script element."""
    return json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")


def escaped(text: str) -> str:
    """A text as it may stand in HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


if __name__ == "__main__":
    sys.exit(main())
