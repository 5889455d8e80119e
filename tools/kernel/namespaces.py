"""Two network namespaces with a TUN device each, that last as long as this process holds them.

The namespaces have no names. The kernel removes one when the last process in it has ended and the last
descriptor of a device in it is closed. So nothing is left behind, however this process ends. Nothing outside
them is touched.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from .setups import MTU

END = Path(__file__).with_name("end.py")
PATIENCE = 20.0
DEVICE = Path("/dev/net/tun")


def obstacle() -> str | None:
    """Why Linux's TCP cannot be run here, if it cannot."""
    if sys.platform != "linux":
        return f"needs Linux, and this is {sys.platform}"
    if os.geteuid() != 0:
        return "needs root, to make network namespaces"
    if not DEVICE.exists():
        return f"needs {DEVICE}, which is not there"
    for tool in ("ip", "tc", "unshare"):
        if shutil.which(tool) is None:
            return f"needs `{tool}` (iproute2, util-linux), which is not installed"
    # Most containers forbid namespaces or TUN devices, also to root.
    code = f"import os; os.open('{DEVICE}', os.O_RDWR)"
    command = ["unshare", "--net", sys.executable, "-I", "-c", code]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"may not make a network namespace with a TUN device: {tried.stderr.strip().splitlines()[-1]}"
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    missing = {"reno", "cubic"} - set(available)
    return f"the kernel has no {', '.join(sorted(missing))}" if missing else None


class Host:
    """A program in a network namespace of its own, with a TUN device as its only link."""

    def __init__(self, role: str) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(PATIENCE)
        command = ["unshare", "--net", sys.executable, "-I", str(END), role, str(MTU), str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, text=True
        )
        theirs.close()
        message, descriptors, _, _ = socket.recv_fds(self._control, 16, 1)
        if not message or not descriptors:
            self._control.close()
            _, said = self._process.communicate(timeout=PATIENCE)
            raise RuntimeError(f"the {role}'s namespace could not be set up: {said.strip()}")
        self.tun = descriptors[0]
        os.set_blocking(self.tun, False)

    def ask(self, *command: str) -> None:
        """Has its program do something."""
        self._control.sendall(" ".join(command).encode())

    def answer(self) -> dict[str, Any]:
        """Waits for what the program says to it."""
        line = b""
        while not line.endswith(b"\n"):
            part = self._control.recv(1 << 16)
            if not part:
                raise RuntimeError("the program in the namespace ended early")
            line += part
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Ends the program, and with it the namespace."""
        self._control.close()
        os.close(self.tun)
        try:
            self._process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
