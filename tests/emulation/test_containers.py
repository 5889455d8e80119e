"""The advice in a container, and outside of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leobench.emulation import containers, hosts

if TYPE_CHECKING:
    from pathlib import Path

LOAD = "load the kernel module `tun` (modprobe tun)"
START = "start this container with --device /dev/net/tun"


def made(root: Path, file: str, text: str = "") -> Path:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("file", "text", "advice"),
    [
        (".dockerenv", "", START),
        ("run/.containerenv", "", START),
        ("run/systemd/container", "systemd-nspawn\n", START),
        ("proc/1/cgroup", "0::/system.slice/docker-0123.scope\n", START),
        ("proc/1/cgroup", "4:memory:/kubepods/besteffort/pod01\n", START),
        ("proc/1/cgroup", "0::/init.scope\n", LOAD),
        ("etc/hostname", "desk\n", LOAD),
    ],
)
def test_the_advice_is_for_the_place(file: str, text: str, advice: str, tmp_path: Path) -> None:
    assert containers.device_advice(hosts.DEVICE, made(tmp_path, file, text)) == advice
