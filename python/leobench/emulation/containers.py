"""Whether leobench runs in a container, where the user of the machine has to give what is missing."""

from __future__ import annotations

from pathlib import Path

# Files that Docker, Podman and systemd (for all that it knows) make in containers.
_FILES = (".dockerenv", "run/.containerenv", "run/systemd/container")
# Names in the control groups of process 1 in a container, unless they are hidden from it.
_GROUPS = ("docker", "containerd", "kubepods", "libpod", "lxc")


def is_one(root: Path = Path("/")) -> bool:
    """Whether this is a container, by the files below `root`."""
    if any((root / file).exists() for file in _FILES):
        return True
    try:
        groups = (root / "proc/1/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(group in groups for group in _GROUPS)


def device_advice(device: Path, root: Path = Path("/")) -> str:
    """The way to have a device of the kernel that is not there."""
    if is_one(root):
        return f"start this container with --device {device}"
    return f"load the kernel module `{device.name}` (modprobe {device.name})"
