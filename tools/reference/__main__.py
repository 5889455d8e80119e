"""`python -m tools.reference`: writes the pages that differ from the code, and prints their names."""

from __future__ import annotations

from tools.reference import FOLDER, PAGES

for name, page in PAGES.items():
    text, file = page(), FOLDER / name
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")
