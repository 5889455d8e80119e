"""Exports the tutorial notebook for Jupyter: docs/tutorial/notebook.py becomes notebook.ipynb beside it.

marimo does the export. The import of marimo, which only its own texts need, is left out. A test compares the
file with a fresh export.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "docs/tutorial/notebook.py"
EXPORTED = SOURCE.with_suffix(".ipynb")

_IMPORT = "import marimo as mo"


def text() -> str:
    """The text of the exported notebook."""
    command = [sys.executable, "-m", "marimo", "export", "ipynb", str(SOURCE), "--sort", "top-down"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    notebook = json.loads(done.stdout)
    notebook["cells"] = [cell for cell in notebook["cells"] if "".join(cell["source"]) != _IMPORT]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    EXPORTED.write_text(text(), encoding="utf-8")
