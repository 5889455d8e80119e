"""A world for a way out, in network namespaces: a machine that plays the caller's, and one outside.

    caller 203.0.113.2 -- 203.0.113.1 outside, with 198.51.100.7 behind it

Nothing of it is the machine's own: the caller's has a `/run` and an `/etc/resolv.conf` of its own, too.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.programs import LEOBENCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = Path(__file__).with_name("world_programs.py")
NAME_SERVER = "203.0.113.1"


@dataclass(frozen=True)
class Machine:
    """A machine in namespaces of its own.

    Attributes:
        process: A process of it.
    """

    process: int

    def inside(self, *words: object) -> list[str]:
        """The words of a command on it."""
        return ["nsenter", "-t", str(self.process), "-n", "-m", "--wd=.", "--", *map(str, words)]

    def run(self, *words: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a command on it."""
        done = subprocess.run(self.inside(*words), capture_output=True, text=True, check=False, timeout=200)
        assert not check or done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done

    def script(self, text: str) -> str:
        """Runs lines of a shell script on it."""
        return self.run("sh", "-ec", text).stdout


@dataclass(frozen=True)
class World:
    """The caller's machine and the one outside."""

    caller: Machine
    outside: Machine
    resolver_file: Path

    @contextlib.contextmanager
    def resolver(self, *servers: str) -> Iterator[None]:
        """Lets the caller's machine have these name servers for the block."""
        former = self.resolver_file.read_text(encoding="ascii")
        lines = [f"nameserver {server}\n" for server in servers]
        self.resolver_file.write_text("".join(lines), encoding="ascii")
        yield
        self.resolver_file.write_text(former, encoding="ascii")

    def leobench(self, *args: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Runs leobench on the caller's machine."""
        return subprocess.run(
            self.caller.inside(*LEOBENCH, *args),
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            timeout=200,
        )

    def start(self, *args: object, cwd: Path) -> subprocess.Popen[str]:
        """Starts leobench on the caller's machine."""
        return subprocess.Popen(
            self.caller.inside(*LEOBENCH, *args),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
        )

    def state(self) -> str:
        """Everything of the caller's machine that a way out may change."""
        return self.caller.script(
            "ip -o link show; ip -o addr show; ip rule; ip -6 rule; ip route show table all; "
            "ip -6 route show table all; nft list ruleset; ls -A /run /run/leobench 2>/dev/null || true; "
            "for each in $(find /proc/sys/net/ipv[46]/conf -name '*forwarding*' | sort); "
            "do echo $each $(cat $each); done"
        )


def settled(read: Callable[[], str]) -> str:
    """A state that has been the same for 1.5 s: links that have just come up get addresses and routes later.

    An IPv6 address is tentative for up to two seconds (RFC 4862 section 5.4).
    """
    limit = time.monotonic() + 20
    state, since = read(), time.monotonic()
    while time.monotonic() < since + 1.5 or "tentative" in state:
        assert time.monotonic() < limit, state
        time.sleep(0.1)
        if (now := read()) != state:
            state, since = now, time.monotonic()
    return state


@contextlib.contextmanager
def machine(folder: Path, script: str = "") -> Iterator[Machine]:
    """A machine, which a shell script sets up."""
    ready = folder / f"ready-{time.monotonic_ns()}"
    words = ["unshare", "--net", "--mount", "sh", "-ec", f"{script}\ntouch {ready}\nexec sleep 3600"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(ready, process)
        yield Machine(process.pid)
    finally:
        process.kill()
        process.communicate()


def wait_for(ready: Path, process: subprocess.Popen[str] | None = None) -> None:
    """Waits for a file that a process makes."""
    limit = time.monotonic() + 60
    while not ready.exists():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < limit, f"{ready}: is not made"
        time.sleep(0.01)


@contextlib.contextmanager
def made_world(folder: Path) -> Iterator[World]:
    """A world with a name server and a page outside."""
    resolver = folder / "resolv.conf"
    resolver.write_text(f"nameserver {NAME_SERVER}\noptions timeout:9\n", encoding="ascii")
    private = (
        f"mount -t tmpfs none /run\nmount --bind {resolver} $(realpath /etc/resolv.conf)\nip link set lo up"
    )
    with contextlib.ExitStack() as held:
        caller = held.enter_context(machine(folder, private))
        outside = held.enter_context(machine(folder, "ip link set lo up"))
        outside.script(
            f"ip link add near type veth peer name eth0 netns {caller.process}\n"
            "ip addr add 203.0.113.1/24 dev near; ip addr add 2001:db8::1/64 dev near nodad\n"
            "ip addr add 198.51.100.7/32 dev lo; ip addr add 2001:db8:7::7/128 dev lo nodad\n"
            "ip link set near up"
        )
        caller.script(
            "echo 0 > /proc/sys/net/ipv6/conf/eth0/accept_dad\n"
            "ip addr add 203.0.113.2/24 dev eth0; ip addr add 2001:db8::2/64 dev eth0 nodad\n"
            "ip link set eth0 up\n"
            "ip route add default via 203.0.113.1; ip -6 route add default via 2001:db8::1\n"
            "until ip -6 addr show dev eth0 | grep -q fe80; do sleep 0.05; done"
        )
        ready = folder / "serving"
        served = subprocess.Popen(
            outside.inside(sys.executable, PROGRAMS, "serve", ready),
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        try:
            wait_for(ready, served)
            yield World(caller, outside, resolver)
        finally:
            served.kill()
            served.communicate()
