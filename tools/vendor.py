"""Bundles the parts of others that the pages of `leobench report` carry, as `tools/vendor` pins them.

    python3 tools/vendor.py           # fetch, bundle, write python/leobench/report/assets/vendor
    python3 tools/vendor.py --check   # the same, and only compare with what is there

`npm ci` fetches the packages and compares each with the checksum in `package-lock.json`; no script of theirs
runs. A bundle is one ES module, and beside it are the licences of all packages whose code is in it.
`versions.json` lists the files with versions and checksums. It needs Node.js and npm.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PINNED = ROOT / "tools" / "vendor"
VENDOR = ROOT / "python" / "leobench" / "report" / "assets" / "vendor"

# Bundles by their packages, and the modules that they export. Whatever is not exported is left out.
BUNDLES = {
    "uplot": 'export { default } from "uplot";',
    "hyparquet": 'export { parquetMetadata, parquetRead } from "hyparquet";',
    "globe.gl": 'export { default } from "globe.gl";',
}

# Files that are taken as they are, by package: from where, and under which name.
COPIED = {
    "uplot": ("dist/uPlot.min.css", "uplot.css"),
    "world-atlas": ("land-110m.json", "land.json"),
}


def main() -> int:
    """Fetches, bundles, and writes or compares; returns 1 if something differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    checks = parser.parse_args().check
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("vendor.py: needs npm, which comes with Node.js")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(PINNED / name, folder / name)
        subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True
        )
        files = built(folder)
    if checks:
        return compare(files)
    VENDOR.mkdir(parents=True, exist_ok=True)
    for old in VENDOR.iterdir():
        old.unlink()
    for name, content in files.items():
        (VENDOR / name).write_bytes(content)
        print(f"{len(content):>9,} B  {name}")
    return 0


def built(folder: Path) -> dict[str, bytes]:
    """All files of the vendor folder by name, from the packages in `folder`."""
    modules = folder / "node_modules"
    files: dict[str, bytes] = {}
    told: dict[str, Any] = {}
    for package, source in BUNDLES.items():
        inside, content = bundle(folder, source)
        files[f"{package}.js"] = content
        files[f"{package}.LICENSES.txt"] = licences(modules, inside)
        told[f"{package}.js"] = {name: version(modules, name) for name in inside}
    for package, (source, name) in COPIED.items():
        files[name] = (modules / package / source).read_bytes()
        told[name] = {package: version(modules, package)}
        if package not in BUNDLES:
            files[f"{package}.LICENSES.txt"] = licences(modules, [package])
    described = {
        name: {"packages": told[name], "sha256": hashlib.sha256(files[name]).hexdigest()}
        for name in sorted(told)
    }
    files["versions.json"] = (json.dumps(described, indent=1) + "\n").encode()
    return files


def bundle(folder: Path, source: str) -> tuple[list[str], bytes]:
    """The packages whose code is in a bundle, and the bundle: one minified ES module."""
    (folder / "entry.mjs").write_text(source, encoding="utf-8")
    options = ["--bundle", "--minify", "--format=esm", "--charset=utf8", "--legal-comments=none"]
    esbuild = folder / "node_modules" / ".bin" / "esbuild"
    subprocess.run(
        [esbuild, *options, "--log-level=error", "--metafile=meta.json", "--outfile=out.js", "entry.mjs"],
        cwd=folder,
        check=True,
    )
    (output,) = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["outputs"].values()
    used = [path for path, part in output["inputs"].items() if part["bytesInOutput"]]
    inside = {package_of(path) for path in used if path.startswith("node_modules/")}
    return sorted(inside), (folder / "out.js").read_bytes()


def package_of(path: str) -> str:
    """The package that a file in `node_modules` belongs to."""
    words = path.split("/")
    start = len(words) - 1 - words[::-1].index("node_modules") + 1
    return "/".join(words[start : start + 2]) if words[start].startswith("@") else words[start]


def described(modules: Path, package: str) -> dict[str, Any]:
    """The `package.json` of a package."""
    content: dict[str, Any] = json.loads((modules / package / "package.json").read_text(encoding="utf-8"))
    return content


def version(modules: Path, package: str) -> str:
    """The version of a package."""
    return str(described(modules, package)["version"])


def licences(modules: Path, packages: list[str]) -> bytes:
    """The licence texts of some packages; equal ones once."""
    texts: dict[str, list[str]] = {}
    for package in packages:
        found = sorted(
            file for file in (modules / package).iterdir() if file.stem.upper() in ("LICENSE", "LICENCE")
        )
        about = described(modules, package)
        text = found[0].read_text(encoding="utf-8").strip() if found else stated(about)
        texts.setdefault(text, []).append(f"{package} {about['version']}")
    return "\n\n".join(f"{', '.join(names)}\n\n{text}" for text, names in texts.items()).encode() + b"\n"


def stated(about: dict[str, Any]) -> str:
    """The licence and the author of a package without a licence file."""
    author = about.get("author", "its authors")
    name = author["name"] if isinstance(author, dict) else author
    return f"{about['license']} licence, by {name}; the package has no licence text."


def compare(files: dict[str, bytes]) -> int:
    """Names the files that differ from those in the vendor folder, and returns 1 if there are any."""
    there = {file.name: file.read_bytes() for file in VENDOR.iterdir()}
    differing = sorted(name for name in {*files, *there} if files.get(name) != there.get(name))
    for name in differing:
        print(f"differs: {name}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
