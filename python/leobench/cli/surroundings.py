"""The options of `leobench emulate` for what there is beside the hosts of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.cli import options

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from leobench.cli.emulation_options import Network
    from leobench.emulation.cgnat import Cgnat
    from leobench.emulation.delegation import Delegation
    from leobench.emulation.ends import Ends
    from leobench.emulation.programs import Program
    from leobench.emulation.surroundings import Surroundings
    from leobench.emulation.way_out import Exposed, WayOut

_LAST_PORT = 65_535
# A day: the longest timeout of a mapping.
_LONGEST_S = 86_400


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        "--way-out",
        action="store_true",
        help="let hosts reach this machine's network, and names there, through the far host",
    )
    parser.add_argument("--way-out-at", metavar="HOST", help="the same through this host")
    parser.add_argument(
        "--expose",
        metavar="PORT[:PORT]",
        action="append",
        default=[],
        help="with a way out, lead this port of this machine to the main program's host (there PORT, or the "
        "second one), over TCP and UDP; may be repeated",
    )
    parser.add_argument(
        "--router",
        metavar="COMMAND",
        help="put a host `lan` behind the near host, which this program, in quotes, sets up as a router "
        "before other programs start; `nat` only translates addresses",
    )
    parser.add_argument(
        "--delegate-prefix",
        metavar="LENGTH",
        help="with --router, the other end of the near link delegates IPv6 prefixes of this length, such as "
        "56, to a DHCPv6 client on the router",
    )
    parser.add_argument(
        "--attach",
        metavar="HOST=CONTAINER",
        action="append",
        default=[],
        help="a host of the scenario is a container: the number of a process in it, or container:NAME "
        "(docker or podman); may be repeated",
    )
    parser.add_argument(
        "--dish",
        action="store_true",
        help="a dish at 192.168.100.1, port 9200, answers clients of Starlink's user terminals over gRPC, on "
        "each host at a terminal of the scenario's constellation",
    )
    parser.add_argument(
        "--cgnat",
        action="store_true",
        help="the near host is behind a carrier-grade NAT: it has 100.64.0.1, others see 203.0.113.1",
    )
    parser.add_argument(
        "--cgnat-timeout", metavar="SECONDS", help="how long an idle mapping of UDP lasts (default: 300)"
    )


def main_host(args: argparse.Namespace, ends: Ends) -> str:
    """The host of the main program unless it is given."""
    from leobench.emulation import lan

    return ends.near if args.router is None else lan.NAME


def of(args: argparse.Namespace, connected: Network, programs: Sequence[Program]) -> Surroundings:
    """The surroundings that the arguments ask for.

    Raises:
        InputError: If they do not go together, or name what is not there.
    """
    from leobench.emulation import attach, dish, hosts
    from leobench.emulation.lan import Lan
    from leobench.emulation.surroundings import Surroundings

    ends = connected.ends
    names = [host.name for host in hosts.of(connected.scenario)]
    delegation = _delegation(args, ends)
    lan = (
        None
        if args.router is None
        else Lan(ends.near, options.command("--router", args.router), advertised=delegation is not None)
    )
    main = programs[-1].host
    near = main if main in names else ends.near
    way_out = _way_out(args, names, near, ends.far)
    dishes = dish.of(connected.scenario, connected.resolved()) if args.dish else None
    attachments = attach.attachments(args.attach, names)
    return Surroundings(way_out, lan, attachments, dishes, _cgnat(args, ends), delegation)


def _delegation(args: argparse.Namespace, ends: Ends) -> Delegation | None:
    from leobench.emulation.delegation import LONGEST, SHORTEST, Delegation
    from leobench.errors import InputError, cut

    given = args.delegate_prefix
    if given is None:
        return None
    if args.router is None:
        raise InputError("--delegate-prefix: there is no router; allowed: with --router")
    if not (given.isascii() and given.isdecimal() and SHORTEST <= int(given) <= LONGEST):
        raise InputError(
            f"--delegate-prefix {cut(given)}: allowed: a length from {SHORTEST} to {LONGEST}, such as 56"
        )
    return Delegation(ends.near, int(given))


def _cgnat(args: argparse.Namespace, ends: Ends) -> Cgnat | None:
    from leobench.emulation.cgnat import UDP_TIMEOUT_S, Cgnat
    from leobench.errors import InputError

    given = args.cgnat_timeout
    if not args.cgnat:
        if given is not None:
            raise InputError("--cgnat-timeout: there is no carrier-grade NAT; allowed: with --cgnat")
        return None
    if given is not None and not (given.isascii() and given.isdecimal() and 0 < int(given) <= _LONGEST_S):
        raise InputError(f"--cgnat-timeout {given}: allowed: whole seconds from 1 to {_LONGEST_S:,}")
    return Cgnat(ends.near, UDP_TIMEOUT_S if given is None else int(given))


def _way_out(args: argparse.Namespace, names: Sequence[str], near: str, far: str) -> WayOut | None:
    from leobench.emulation.way_out import WayOut
    from leobench.errors import InputError, allowed

    exposed = tuple(_exposed(each) for each in args.expose)
    if not args.way_out and args.way_out_at is None:
        if exposed:
            raise InputError("--expose: there is no way out; allowed: with --way-out")
        return None
    far = args.way_out_at or far
    if far not in names:
        raise InputError(f"--way-out-at {far}: is not a host of the scenario; {allowed(far, names)}")
    if far == near and exposed:
        raise InputError(f"--expose: the main program's host, {far}, has the way out; allowed: another host")
    outer = [each.outer for each in exposed]
    if len(set(outer)) < len(outer):
        raise InputError(f"--expose: {', '.join(args.expose)}: a port is given twice")
    return WayOut(far, near, exposed)


def _exposed(given: str) -> Exposed:
    from leobench.emulation.way_out import Exposed
    from leobench.errors import InputError

    outer, _, inner = given.partition(":")
    ports = [outer, inner or outer] if given.count(":") < 2 and not given.endswith(":") else []
    if not ports or not all(port.isdecimal() and 0 < int(port) <= _LAST_PORT for port in ports):
        raise InputError(
            f"--expose {given}: allowed: a port from 1 to {_LAST_PORT:,}, or two with a colon between them"
        )
    return Exposed(int(ports[0]), int(ports[1]))
