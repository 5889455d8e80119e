"""Two machines: namespaces of networks and mounts, connected by a veth pair.

Neither the namespaces nor the devices have a name outside. The namespaces last as long as the processes that
hold them, and the pair goes with the first of the two.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_HOLD = "import sys; print('ready', flush=True); sys.stdin.read()"
_PAIR = """\
import sys
from pyroute2 import IPRoute
with IPRoute() as routes:
    routes.link("add", ifname="there", kind="veth", peer={"ifname": "here", "net_ns_pid": int(sys.argv[1])})
"""
_ADDRESS = """\
import sys
from pyroute2 import IPRoute
with IPRoute() as routes:
    for name in ("lo", sys.argv[1]):
        (index,) = routes.link_lookup(ifname=name)
        if name != "lo":
            routes.addr("add", index=index, address=sys.argv[2], prefixlen=24)
        routes.link("set", index=index, state="up")
"""
_PATIENCE_S = 120


class Machine:
    """One of the two, and the programs that were started on it.

    Attributes:
        address: Its address.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self._started: list[subprocess.Popen[bytes]] = []
        self._holder = subprocess.Popen(
            ["unshare", "--net", "--mount", sys.executable, "-c", _HOLD],  # noqa: S607
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._holder.stdout is not None
        if not self._holder.stdout.readline():
            raise OSError("a namespace cannot be made")
        self.pid = self._holder.pid

    def run(self, *words: object) -> str:
        """Runs a program to its end, and returns what it printed."""
        done = subprocess.run(self._words(words), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *words: object, log: Path, **environment: str) -> subprocess.Popen[bytes]:
        """Starts a program, which is killed at the end; `log` gets what it prints."""
        with log.open("wb") as output:
            started = subprocess.Popen(
                self._words(words), stdout=output, stderr=output, env=os.environ | environment
            )
        self._started.append(started)
        return started

    def hide(self, folder: Path) -> None:
        """Puts an empty folder over one."""
        self.run("mount", "--types", "tmpfs", "none", folder)

    def close(self) -> None:
        """Kills the programs, and gives the namespaces up."""
        for started in self._started:
            started.kill()
            started.wait()
        self._holder.communicate()

    def _words(self, words: tuple[object, ...]) -> list[str]:
        # Without a fork: the process is the program itself, to be killed by its number.
        return ["nsenter", "--target", str(self.pid), "--net", "--mount", *map(str, words)]


class Machines(NamedTuple):
    """Both."""

    here: Machine
    there: Machine


@contextmanager
def connected() -> Iterator[Machines]:
    """Two machines and the link between them."""
    with ExitStack() as held:
        both = Machines(Machine("10.77.0.1"), Machine("10.77.0.2"))
        for machine in both:
            held.callback(machine.close)
        both.there.run(sys.executable, "-c", _PAIR, both.here.pid)
        for machine, device in zip(both, ("here", "there"), strict=True):
            machine.run(sys.executable, "-c", _ADDRESS, device, machine.address)
        yield both


def obstacle() -> str | None:
    """The reason why there cannot be two machines here; `None` if there can."""
    for tool in ("unshare", "nsenter", "mount"):
        if shutil.which(tool) is None:
            return f"needs `{tool}` (util-linux), which is not installed"
    try:
        with connected():
            return None
    except (OSError, AssertionError) as error:
        return f"needs namespaces and a veth pair, which cannot be made here: {error}"


def wait_until(found: Callable[[], object], what: str) -> None:
    """Waits until a call returns something true."""
    limit = time.monotonic() + _PATIENCE_S
    while not found():
        assert time.monotonic() < limit, f"waited in vain for {what}"
        time.sleep(0.02)
