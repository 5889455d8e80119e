"""Lists templates, or copies one: scenarios, campaigns, those of papers, and Starlink from your place.

With the name of a template, writes its file, and those that it needs, into the current folder or as FILE.
`leobench new starlink --at PLACE` makes a scenario with the gateways and the point of presence that are
nearest to the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import options, terminal
from leobench.errors import counted

if TYPE_CHECKING:
    import argparse

    from leobench.templates import Copies, Template

NAME = "new"
HELP = "list templates, or copy one to start from"
EXAMPLE = (
    "leobench new\n  leobench new ka\n  leobench new campaigns/buffers mine.toml\n"
    "  leobench new starlink --at 48.14,11.58\n  leobench new starlink --at Munich"
)

_STARLINK_SAYS = "QUIC over Starlink from a roof of your own: add --at LATITUDE,LONGITUDE or --at CITY"
# Groups that the list shows whole.
_SHOWN = ("scenarios", "campaigns")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "template",
        nargs="?",
        metavar="TEMPLATE",
        type=options.text,
        help="template to copy, or a group such as khan2023 to list (default: list all)",
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        type=options.path,
        help="file or folder to write to (default: the template's name in the current folder)",
    )
    options.add_place(parser)
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--json", action="store_true", help="list templates as JSON")


def main(args: argparse.Namespace) -> int:
    """Lists the templates, or writes the files of one."""
    from leobench import templates
    from leobench.errors import InputError

    groups = _groups(templates.catalogue())
    if args.template is None or args.template in groups:
        given = {"FILE": args.file is not None, "--at": args.at is not None, "--force": args.force}
        for name in (name for name, is_given in given.items() if is_given):
            raise InputError(f"{name}: is for the copy of one template; name one that `leobench new` lists")
        _list(groups, args.template, as_json=args.json)
        return 0
    if args.json:
        raise InputError("--json: is for lists; leave it out, or leave TEMPLATE out")
    if args.template.removesuffix(".toml") == templates.STARLINK:
        _write_starlink(args)
        return 0
    template = templates.find(args.template)
    if args.at is not None:
        raise InputError(f"--at: is for the template `{templates.STARLINK}` only; leave it out")
    _write(templates.copies(template, args.file), args, "sweep" if template.is_campaign else "run")
    return 0


def _write_starlink(args: argparse.Namespace) -> None:
    """Writes the scenario for the place that `--at` names."""
    from leobench import templates
    from leobench.errors import InputError

    if args.at is None:
        raise InputError(
            f"{templates.STARLINK}: has no place; add --at LATITUDE,LONGITUDE in degrees, or --at CITY "
            "(`leobench new starlink-hour` copies an hour in Seattle)"
        )
    file = templates.target(args.file, f"{templates.STARLINK}.toml")
    # Results go by the scenario's name: each place needs its own, whatever the file.
    name = file.stem if file == args.file else ""
    text = templates.scenario_at(templates.place(args.at), name)
    _write(templates.Copies({file: text.encode()}), args, "run")


def _write(copied: Copies, args: argparse.Namespace, command: str) -> None:
    """Writes files, and prints which, and the command that runs the first."""
    import shlex

    written = copied.write(force=args.force)
    main_file = next(iter(copied.files))
    shown = [terminal.on_one_line(str(file)) for file in written]
    done = f"wrote {', '.join(shown)}" if shown else f"{main_file} is there already"
    print(f"{done}; next: leobench {command} {shlex.quote(str(main_file))}")


def _groups(found: list[Template]) -> dict[str, dict[str, str]]:
    """Descriptions of all templates by group and name."""
    from leobench.templates import STARLINK

    groups: dict[str, dict[str, str]] = {}
    for template in found:
        groups.setdefault(template.group, {})[template.name] = template.description()
    groups["scenarios"] = dict(sorted({**groups["scenarios"], STARLINK: _STARLINK_SAYS}.items()))
    return groups


def _list(groups: dict[str, dict[str, str]], chosen: str | None, *, as_json: bool) -> None:
    """Prints the templates of a group, or of all, with one line each."""
    wanted = groups if chosen is None else {chosen: groups[chosen]}
    if as_json:
        terminal.print_json(wanted)
        return
    shown = {group: names for group, names in wanted.items() if chosen or group in _SHOWN}
    papers = [group for group in wanted if group not in shown]
    width = max(len(name) for names in [*shown.values(), papers] for name in names)
    for group, names in shown.items():
        print(f"{group}:")
        for name, description in names.items():
            print(f"  {name:<{width}}  {description}")
    if papers:
        print("papers:")
        for paper in papers:
            count = counted(len(groups[paper]), "template")
            print(f"  {paper:<{width}}  {count}: `leobench new {paper}` lists them")
