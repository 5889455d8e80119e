"""A relay of questions for names: from the far host to the name servers of the caller.

A program's question crosses the emulated link to the far host, where a socket of this relay gets it. The
relay asks the caller's own servers from the caller's network namespace, so one on 127.0.0.53 serves as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import secrets
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT = 53
RESOLVER = Path("/etc/resolv.conf")
# Sockets by which the C library asks services of the machine (systemd-resolved, nscd) before any name server.
SERVICES = ("/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket")
# How long a server has to answer before the next one is asked; programs ask again after five seconds.
_ANSWER_S = 2.0
# The longest datagram.
_LONGEST = 65_535
# Other tables of the caller's file that concern programs.
_PASSED_ON = ("search", "domain", "options")


def servers() -> list[str]:
    """The addresses of the caller's name servers.

    Raises:
        InputError: If there is none.
    """
    found = [words[1] for words in _lines() if words[0] == "nameserver" and len(words) > 1]
    usable = [each for each in found if _is_address(each.partition("%")[0])]
    if not usable:
        raise InputError(f"{RESOLVER}: names no name server, so names have no way out")
    return usable


def resolver(address: str) -> str:
    """The text of `/etc/resolv.conf` for programs whose name server has this address."""
    passed_on = [" ".join(words) for words in _lines() if words[0] in _PASSED_ON]
    return "\n".join([f"nameserver {address}", *passed_on]) + "\n"


def check(known: Sequence[str]) -> None:
    """Asks the name servers for the root's.

    Raises:
        InputError: If none answers.
    """
    number = secrets.token_bytes(2)
    # RFC 1035 section 4.1: recursion desired, one question: the name servers (2) of the root, in class 1.
    question = number + b"\x01\x00\x00\x01\0\0\0\0\0\0" + b"\0" + b"\x00\x02\x00\x01"
    if not any(_answers(server, question) for server in known):
        raise InputError(
            f"{', '.join(known)}: the name server of {RESOLVER} does not answer within {_ANSWER_S:.0f} s; "
            "name one there that does"
        )


def _answers(server: str, question: bytes) -> bool:
    with socket.socket(_family(server), socket.SOCK_DGRAM) as client:
        client.settimeout(_ANSWER_S)
        try:
            client.connect((server, PORT))
            client.send(question)
            return client.recv(_LONGEST)[:2] == question[:2]
        except OSError:
            return False


def listen(addresses: Sequence[str]) -> list[socket.socket]:
    """Sockets for questions to these addresses of the host that this thread is on: UDP and TCP by turns."""
    made = []
    for address in addresses:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            server = socket.socket(_family(address), kind)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind((address, PORT))
            if kind == socket.SOCK_STREAM:
                server.listen()
            made.append(server)
    return made


async def relay(listening: Sequence[socket.socket], known: Sequence[str]) -> None:
    """Passes on what these sockets are asked, and the answers, until it is cancelled."""
    async with asyncio.TaskGroup() as group:
        for server in listening:
            server.setblocking(False)
            if server.type == socket.SOCK_DGRAM:
                group.create_task(_take_questions(server, known, group))
            else:
                await asyncio.start_server(lambda *pair: _converse(pair, known), sock=server)


async def _take_questions(server: socket.socket, known: Sequence[str], group: asyncio.TaskGroup) -> None:
    while True:
        question, sender = await asyncio.get_running_loop().sock_recvfrom(server, _LONGEST)
        group.create_task(_ask(server, sender, question, known))


async def _ask(server: socket.socket, sender: Any, question: bytes, known: Sequence[str]) -> None:
    """Asks one server after the other, and passes on the first answer."""
    for each in known:
        with contextlib.suppress(OSError, TimeoutError):
            answer = await asyncio.wait_for(_answer(each, question), _ANSWER_S)
            await asyncio.get_running_loop().sock_sendto(server, answer, sender)
            return


async def _answer(server: str, question: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    with socket.socket(_family(server), socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        await loop.sock_connect(client, (server, PORT))
        await loop.sock_sendall(client, question)
        while True:
            answer = await loop.sock_recv(client, _LONGEST)
            if answer[:2] == question[:2]:
                return answer


async def _converse(ours: tuple[asyncio.StreamReader, asyncio.StreamWriter], known: Sequence[str]) -> None:
    """Joins a connection to one with the first server that takes it."""
    for server in known:
        with contextlib.suppress(OSError, TimeoutError):
            theirs = await asyncio.wait_for(asyncio.open_connection(server, PORT), _ANSWER_S)
            await asyncio.gather(_copy(ours[0], theirs[1]), _copy(theirs[0], ours[1]))
            return
    ours[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_LONGEST):
            writer.write(data)
            await writer.drain()
    writer.close()


def _lines() -> list[list[str]]:
    """The words of each line that has some."""
    try:
        text = RESOLVER.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    return [line.split() for line in text.splitlines() if line.split()]


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET
