"""Settings of the caller's network namespace by which its kernel forwards packets, and their restoration.

Rules and devices vanish with the processes that have them; settings do not. So a session writes a file with
the former values before it changes any, in the folder `leobench` of `/run` (or of `XDG_RUNTIME_DIR`). The
file names its process. The last session of a namespace that needs a setting restores it: a `Keeper` does so
after a kill -9, and the next session does so if the keeper was killed as well.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# `asm-generic/socket.h` (Linux 5.14): a number of a socket's network namespace, which no other one gets.
_SO_NETNS_COOKIE = 71
_SYSCTLS = Path("/proc/sys/net")


@dataclass
class Claim:
    """A session's claim on its network namespace.

    Attributes:
        boot: The kernel's number of this boot.
        namespace: The kernel's number of the namespace.
        process: The process of the session.
        started: When it started, in the kernel's clock ticks: numbers of processes come back.
        slot: The number of its device and its networks.
        settings: By place under `/proc/sys/net`, the value before any session, and the value that it has now.
    """

    boot: str
    namespace: int
    process: int
    started: int
    slot: int = -1
    settings: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def own(cls) -> Claim:
        """That of this process."""
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        process = os.getpid()
        return cls(boot, _namespace(), process, _started(process) or 0)

    def file(self) -> Path:
        """Its file."""
        return _folder() / f"{self.namespace}-{self.process}-{self.started}.json"

    def write(self) -> None:
        """Writes it, whole or not at all."""
        partial = self.file().with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)), encoding="utf-8")
        partial.replace(self.file())

    def is_alive(self) -> bool:
        """Whether its process runs."""
        return _started(self.process) == self.started

    def is_rival(self, other: Claim) -> bool:
        """Whether the other one is of another session on the same namespace."""
        owners = [(each.process, each.started) for each in (self, other)]
        return self.namespace == other.namespace and owners[0] != owners[1]


@contextlib.contextmanager
def locked() -> Iterator[None]:
    """Keeps other sessions from making claims during the block, after which an empty folder is removed."""
    while True:
        folder = _folder()
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(folder.stat(), os.fstat(descriptor)):
                break
        os.close(descriptor)  # another session has removed the folder meanwhile
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()
        os.close(descriptor)


def claims(own: Claim) -> list[Claim]:
    """The claims of other sessions on the same namespace, of ended ones too; older than this boot is none."""
    found = []
    for file in sorted(_folder().glob("*.json")):
        claim = _load(file)
        if claim is None or claim.boot != own.boot:
            file.unlink()
        elif own.is_rival(claim):
            found.append(claim)
    return found


def change(own: Claim, wanted: Sequence[tuple[str, str]], others: Sequence[Claim]) -> None:
    """Writes the claim and then the settings; restores settings of ended sessions that nobody needs any more.

    Raises:
        InputError: If a setting cannot be written; the settings are as before then.
    """
    for place, value in wanted:
        former = next((each.settings[place][0] for each in others if place in each.settings), read(place))
        if former != value:
            own.settings[place] = [former, value]
    own.write()
    try:
        for place, (_, value) in own.settings.items():
            write(place, value)
    except InputError:
        _release(own, others)
        raise
    for ended in (each for each in others if not each.is_alive()):
        alive = [each for each in others if each.is_alive()]
        _release(ended, [own, *alive])


def release(own: Claim) -> None:
    """Ends a claim, and restores the settings that no other session needs."""
    with locked():
        claim = _load(own.file())
        if claim is not None:
            _release(claim, [each for each in claims(own) if each.is_alive()])


def _load(file: Path) -> Claim | None:
    try:
        return Claim(**json.loads(file.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _release(claim: Claim, others: Sequence[Claim]) -> None:
    for place, (former, value) in claim.settings.items():
        if any(place in other.settings for other in others):
            continue
        # A device may go at any moment, and its settings with it.
        with contextlib.suppress(OSError, InputError):
            # Somebody else may have changed it since.
            if read(place) == value:
                write(place, former)
    claim.file().unlink(missing_ok=True)


def read(place: str) -> str:
    """The value of a setting under `/proc/sys/net`."""
    return (_SYSCTLS / place).read_text(encoding="ascii").strip()


def write(place: str, value: str) -> None:
    """Sets it.

    Raises:
        InputError: If it cannot be written, as in most containers.
    """
    try:
        (_SYSCTLS / place).write_text(value, encoding="ascii")
    except OSError as error:
        family = place.split("/", maxsplit=1)[0]
        raise InputError(
            f"{_SYSCTLS / place}: cannot be written: {error.strerror}; run as root, or start the container "
            f"with --sysctl net.{family}.conf.all.forwarding=1"
        ) from None


def _folder() -> Path:
    for parent in ("/run", os.environ.get("XDG_RUNTIME_DIR", "")):
        if parent and os.access(parent, os.W_OK):
            folder = Path(parent) / "leobench"
            folder.mkdir(mode=0o700, exist_ok=True)
            return folder
    raise InputError("/run: cannot be written by this user; run as root, or set XDG_RUNTIME_DIR")


def _namespace() -> int:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as any_socket:
        try:
            cookie = any_socket.getsockopt(socket.SOL_SOCKET, _SO_NETNS_COOKIE, 8)
        except OSError:
            raise InputError("this kernel is older than Linux 5.14, which a way out needs") from None
    return int.from_bytes(cookie, "little")


def _started(process: int) -> int | None:
    """When a process started; `None` if there is none that runs."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # Behind the name: the state, and as the 20th after that the time.
    state, *rest = told.rpartition(")")[2].split()
    return None if state in "ZX" else int(rest[18])


def exists(place: str) -> bool:
    """Whether this kernel has the setting."""
    return (_SYSCTLS / place).exists()
