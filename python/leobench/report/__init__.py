"""Reports: a run, several runs, a campaign, a reproduction or a passport as one HTML file without network.

    folders --gather--> Content --page.report--> one file, tables inside
    folder  --watch---> Content --server-------> the same page, tables fetched

`gather` decides what a folder is (`runs`, `campaigns`, `reproductions`, `passports`) and makes a
`Content`: what the page says, as JSON, and the tables, as Parquet. `limits` refuses more than a browser
can hold. `page` puts the template, our modules in `assets/` and the parts of others in `assets/vendor/`
together; it is the only module that writes HTML. The page makes text nodes only, under a policy that runs
no script but ours, so no name or text of a scenario can become one. `watch` reads a folder that is being
written, whose tables `prefix` completes, and `server` serves it on loopback.

In the page, `main.js` calls everything else: `data` reads columns of tables, `series`, `panels` and `lanes`
say what there is to draw, `chart` and `timeline` draw it over one time axis; `cards`, `tables`, `campaign`,
`claims`, `passport`, `scenario` and `globe` are its sections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.files import write_text
from leobench.report import gather, limits, page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

__all__ = ["write"]


def write(
    folders: Sequence[Path | str],
    file: str | PathLike[str],
    without: Sequence[str] = (),
    *,
    force: bool = False,
) -> Path:
    """Writes the report on some folders, and returns its file.

    Args:
        folders: Result folders of runs, or one folder of a campaign, a reproduction or a passport.
        file: The HTML file to write. A report that is there is replaced.
        without: Tables to leave out, such as `packets`; `globe` leaves out the globe.
        force: Whether to replace a file that is no report of leobench.

    Raises:
        InputError: If a folder is not a result or still being written, the runs do not belong together, the
            tables are too large for a page, or the file cannot be written or may not be replaced.
    """
    from pathlib import Path

    target = Path(file)
    given = [Path(folder) for folder in folders]
    for folder in given:
        gather.refuse_missing(folder)
    _refuse_target(target, force=force)
    content = gather.gather(given, without)
    limits.check(content)
    write_text(target, page.report(content))
    return target


def _refuse_target(target: Path, *, force: bool) -> None:
    """Refuses a file that a report may not be written to."""
    from leobench.errors import InputError

    if target.is_dir():
        raise InputError(f"{target}: is a folder; allowed: a file, such as {target / 'report.html'}")
    if target.suffix.lower() != ".html":
        raise InputError(f"{target}: is no name of a report; allowed: one that ends in .html")
    if not target.absolute().parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}")
    if target.exists() and not force and not page.is_report(target):
        raise InputError(
            f"{target}: exists already and is no report of leobench; choose another file with --out, "
            "or replace it with --force"
        )
