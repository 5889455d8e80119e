"""System calls of Linux that Python 3.11 does not offer. All raise `OSError`."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x4_0000

_PR_SET_PDEATHSIG = 1


def unshare(flags: int) -> None:
    """Leaves the namespaces of these kinds for new ones; that of processes is only for children."""
    _checked(_libc().unshare(flags), "unshare")


def enter_user_namespace(flags: int) -> None:
    """Leaves the namespaces of these kinds, one of users among them, in which this user becomes root."""
    user, group = os.geteuid(), os.getegid()
    unshare(flags)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        write(Path("/proc/self") / name, text)


def enter(namespace: int) -> None:
    """Enters the namespace behind a descriptor, with this thread."""
    _checked(_libc().setns(namespace, 0), "setns")


def set_host_name(name: str) -> None:
    """Names the host whose namespace of names (`CLONE_NEWUTS`) this is."""
    text = name.encode()
    _checked(_libc().sethostname(text, len(text)), "sethostname")


def mount(source: str, target: str, kind: str, flags: int = 0) -> None:
    """Mounts a file system, or changes or binds a mount, as the flags say."""
    result = _libc().mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), None)
    _checked(result, f"mount {target}")


def die_with_parent() -> None:
    """Lets the kernel kill this process when its parent ends, however that happens."""
    _checked(_libc().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0), "prctl")


def write(setting: Path, text: str) -> None:
    """Writes a setting of the kernel, whose errors name it."""
    try:
        setting.write_text(text, encoding="ascii")
    except OSError as error:
        raise OSError(error.errno, f"{setting}: {text!r}: {error.strerror}") from None


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
