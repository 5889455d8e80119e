"""A trial of what a user who is not root needs: namespaces of users, and a file system of processes in them.

Kernels and containers keep them from users in more ways than settings tell: limits, security modules, filters
of system calls, and a `/proc` with hidden parts. A child that tries tells what is missing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leobench.emulation import containers, kernel

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMESPACES = kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID | kernel.CLONE_NEWNS


def fault() -> str | None:
    """The reason why this user can make no sandbox, and the two ways to allow it; `None` if it can."""
    if (code := _in_child(lambda: kernel.unshare(_NAMESPACES))) != 0:
        return _allowing(f"this user may make no namespaces ({os.strerror(code)})")

    def mount() -> None:
        kernel.enter_user_namespace(_NAMESPACES)
        code = _in_child(lambda: kernel.mount("proc", "/proc", "proc"))
        if code != 0:
            raise OSError(code, "mount")

    if (code := _in_child(mount)) != 0:
        return _allowing(f"this user may not mount /proc in a namespace ({os.strerror(code)})")
    return None


def _allowing(reason: str) -> str:
    if containers.is_one():
        return (
            f"{reason}; start this container as root with --cap-add SYS_ADMIN --cap-add NET_ADMIN, or with "
            "--security-opt seccomp=unconfined and --security-opt systempaths=unconfined (Podman: unmask=ALL)"
        )
    return (
        f"{reason}; run as root, or allow user namespaces (sysctl user.max_user_namespaces=10000, "
        "kernel.apparmor_restrict_unprivileged_userns=0)"
    )


def _in_child(attempt: Callable[[], None]) -> int:
    """The number of the error of an attempt; 0 if it has none."""
    child = os.fork()
    if child == 0:
        try:
            attempt()
        except OSError as error:
            os._exit(error.errno or 255)
        except BaseException:
            os._exit(255)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
