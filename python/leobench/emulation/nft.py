"""The program `nft`, which has the kernel translate addresses."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from leobench.errors import InputError, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Its usual folders, which a user's path may leave out.
_SYSTEM = "/usr/sbin:/sbin"


def program() -> str:
    """The path of `nft`.

    Raises:
        InputError: If it is not installed.
    """
    found = shutil.which("nft", path=f"{os.environ.get('PATH', os.defpath)}:{_SYSTEM}")
    if found is None:
        raise InputError("the program `nft` is not installed; install nftables (apt install nftables)")
    return found


def load(rules: str) -> None:
    """Gives rules to the kernel, for the network namespace of this thread, where they stay.

    Raises:
        RunError: If it refuses them.
    """
    done = _run("-f", "-", rules=rules)
    if done.returncode != 0:
        raise RunError(f"nft: {_reason(done.stderr)}")


def ruleset() -> str:
    """The rules of this network namespace.

    Raises:
        InputError: If this process may not read or change them.
    """
    done = _run("list", "ruleset")
    if done.returncode != 0:
        raise InputError(
            f"nft: {_reason(done.stderr)}; translation takes the capability CAP_NET_ADMIN: run as root, "
            "or start the container with --cap-add NET_ADMIN"
        )
    return done.stdout


def dropping_chains(rules: str) -> Iterator[tuple[str, str, str]]:
    """The chains for forwarded packets that drop by policy: family, table and chain of each."""
    table, chain = ("", ""), ""
    for line in rules.splitlines():
        if match := re.match(r"table (\S+) (\S+) \{", line):
            table = (match[1], match[2])
        elif match := re.match(r"\s+chain (\S+) \{", line):
            chain = match[1]
        elif re.search(r"type filter hook forward .*policy drop;", line):
            yield (*table, chain)


class OwnedTable:
    """A table that the kernel removes when this process and its children have ended, however they end.

    A process of `nft` has it: the kernel removes a table with the flag `owner` together with the socket that
    made it, and `nft -i` ends with its standard input, which this process holds.
    """

    def __init__(self, name: str, body: str) -> None:
        """Makes the table `inet name`.

        Raises:
            RunError: If the kernel refuses it.
        """
        commands, self._commands = os.pipe()
        self._said, says = os.pipe()
        self._process = subprocess.Popen(  # noqa: S603 (nothing but rules of our own)
            [program(), "-i"],
            stdin=commands,
            stdout=says,
            stderr=says,
            start_new_session=True,  # no Ctrl-C for it
        )
        os.close(commands)
        os.close(says)
        table = f"table inet {name}"
        # It reads commands by line.
        line = " ".join(f"{table} {{ flags owner; {body} }}".split())
        os.write(self._commands, f"{line}\nlist tables\n".encode())
        said = self._until(table)
        if said is not None:
            self.close()
            raise RunError(f"nft: {_reason(said)}")

    def _until(self, expected: str) -> str | None:
        """Waits for a line; returns what is said instead."""
        said = ""
        while expected not in said.splitlines():
            told = os.read(self._said, 4_096).decode()
            said += told
            if not told or re.search("rror: .*\n", said):
                return said
        return None

    def close(self) -> None:
        """Removes it."""
        os.close(self._commands)
        self._process.wait()
        os.close(self._said)


def _run(*words: str, rules: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 (nothing but rules of our own)
        [program(), *words], input=rules, capture_output=True, text=True, check=False
    )


def _reason(said: str) -> str:
    """The reason in a message of an error, without the place in the rules."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return re.sub(r"^.*?[Ee]rror: ", "", lines[0]) if lines else "ended without a word"
