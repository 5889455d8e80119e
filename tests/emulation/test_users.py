"""Hosts of a user who is not root, in a namespace of users."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leobench.emulation import containers, hosts
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, wait_until_gone

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.usefixtures("hosts")

# Nobody, who owns nothing.
USER = 65_534
UNSHARE, SETPRIV = (shutil.which(tool) or tool for tool in ("unshare", "setpriv"))
AS_USER = (
    "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
)  # fmt: skip
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of that user's, in one that everybody may read, as pytest's are not."""
    if os.geteuid() != 0:
        pytest.skip("only root may become another user")
    lacking = [tool for tool in ("unshare", "setpriv", "ping") if shutil.which(tool) is None]
    if lacking:
        pytest.skip(f"{', '.join(lacking)}: not installed")
    # Kernels may keep users from it, in more ways than one: another program tells.
    own = ("--user", "--map-root-user", "--mount", "--pid", "--fork")
    mount = ("mount", "-t", "proc", "none", "/proc")
    words = [SETPRIV, *AS_USER, UNSHARE, *own, *mount]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"users may make no namespaces here: {made.stderr.strip()}")
    if not all(path.stat().st_mode & stat.S_IROTH for path in (ROOT, ONE_FLOW, Path(sys.prefix))):
        pytest.skip(f"{ROOT}: is for its owner only, as files are that were made with this umask")
    folder = Path(tempfile.mkdtemp(prefix="leobench-users-", dir="/tmp"))
    folder.chmod(0o755)
    (folder / "home").mkdir()
    os.chown(folder / "home", USER, USER)
    yield folder / "home"
    shutil.rmtree(folder)


def opened(folder: Path) -> list[str]:
    """Commands that let everybody read this Python and leobench where root keeps them for itself."""
    needed = {Path(each).resolve() for each in (sys.base_prefix, sys.prefix, ROOT)}
    closed = {
        next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & 1), None)
        for path in needed
    } - {None}
    commands = []
    for number, parent in enumerate(sorted(map(str, closed))):
        aside = folder / f"aside-{number}"
        commands += [
            f"mkdir {aside}",
            f"mount --bind {parent} {aside}",
            f"mount -t tmpfs -o mode=755 none {parent}",
        ]
        for path in sorted(path for path in needed if path.is_relative_to(parent)):
            behind = aside / path.relative_to(parent)
            commands += [f"mkdir -p {path}", f"mount --bind {behind} {path}"]
        commands.append(f"umount {aside}")
    return commands


def as_user(
    home: Path, *args: object, device: str = "open", first: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs leobench as that user, where the TUN device is `open` to all, `closed`, `absent` or `other`.

    A shell script may come first.
    """
    folder = home.parent
    made = f"mkdir {folder}/dev; mount -t tmpfs -o mode=755 none {folder}/dev"
    mode = "0666" if device == "open" else "0600"
    node = f"mknod -m {mode} {folder}/dev/tun c 10 200; mount --bind {folder}/dev/tun /dev/net/tun"
    hidden = f"mount --bind {folder}/dev /dev/net"
    other = "mount --bind /dev/null /dev/net/tun"
    words = [sys.executable, "-m", "leobench", *args]
    script = "\n".join(
        [
            "set -e",
            *opened(folder),
            made,
            {"absent": hidden, "other": other}.get(device, node),
            first,
            f"cd {home}",
            f"export HOME={home}",
            f"exec {shlex.join(map(str, (SETPRIV, *AS_USER, *words)))}",
        ]
    )
    return subprocess.run(
        [UNSHARE, "--mount", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=120
    )


def test_a_user_pings_across_a_link(home: Path) -> None:
    """25 ms each way; the user's own exit code, and nothing is left of what ran."""
    mark = f"3603.{os.getpid()}"
    command = f"id -u; sleep {mark} & ping -c 3 -i 0.2 server && exit 7"
    ended = as_user(
        home, "emulate", ONE_FLOW, *PATIENT, "--out", "out",
        "--on", "server", f"sleep {mark}", "--host", "client", "--", "sh", "-c", command,
    )  # fmt: skip
    assert ended.returncode == 7, ended.stdout + ended.stderr
    # Root of its own namespace.
    assert ended.stdout.startswith("0\n")
    assert "3 received" in ended.stdout
    out = home / "out"
    assert {path.stat().st_uid for path in (out, *out.iterdir())} == {USER}
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["exit_code"] == 7
    # Only a privilege of the machine's own lets a thread go first.
    assert manifest["clock"]["precedence"] == "usual"
    assert manifest["clock"]["packets_in"] >= 6
    assert manifest["clock"]["lateness_ms"]["p50"] < 100
    wait_until_gone(mark)


@pytest.mark.parametrize("transport", ["tcp", "quic"])
def test_a_users_flows_in_real_time(transport: str, home: Path) -> None:
    changes = {
        "duration": "1 s",
        "warm_up": "0 s",
        "flows.main.transport": transport,
        "flows.main.source": '{ kind = "cbr", rate = "1 Mbps", size = "1000 B" }',
    }
    set_ = [word for place, value in changes.items() for word in ("--set", f"{place}={value}")]
    ended = as_user(home, "run", ONE_FLOW, "--engine", "real", *PATIENT, "--out", "out", *set_)
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((home / "out" / "summary.json").read_text(encoding="utf-8"))
    # Of a second, which may become longer if the driver is held up.
    assert 0.4e6 < summary["flows"][0]["goodput_bps"] < 1.3e6


@pytest.mark.parametrize(
    ("dropped", "named"),
    [
        (["sys_admin"], ["SYS_ADMIN"]),
        (["net_admin"], ["NET_ADMIN"]),
        (["sys_admin", "net_admin"], ["SYS_ADMIN", "NET_ADMIN"]),
    ],
)
def test_root_without_a_capability(dropped: list[str], named: list[str], tmp_path: Path) -> None:
    """As in a container, whose root lacks most of them."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can give up capabilities, with setpriv")
    without = ",".join(f"-{name}" for name in dropped)
    words = [SETPRIV, f"--inh-caps={without}", f"--bounding-set={without}", sys.executable, "-m", "leobench"]
    ended = subprocess.run(
        [*words, "emulate", ONE_FLOW, "--", "true"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    lacking = " and ".join(f"CAP_{name}" for name in named)
    message = (
        f"leobench: root lacks {lacking} here, which network namespaces need; "
        f"in a container, start it with {' '.join(f'--cap-add {name}' for name in named)}\n"
    )
    assert (ended.returncode, ended.stderr) == (2, message)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("absent", f"does not exist; {containers.device_advice(hosts.DEVICE)}"),
        ("closed", "cannot be opened by this user; run as root, or let the user open it"),
        ("other", "is not a TUN device; remove it and create one (mknod /dev/net/tun c 10 200)"),
    ],
)
def test_without_the_device(device: str, message: str, home: Path) -> None:
    ended = as_user(home, "emulate", ONE_FLOW, "--", "true", device=device)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: /dev/net/tun: {message}\n")


MASKED = "mount -t tmpfs none /proc/fs"
ON_A_MACHINE = (
    "run as root, or allow user namespaces (sysctl user.max_user_namespaces=10000, "
    "kernel.apparmor_restrict_unprivileged_userns=0)"
)
IN_A_CONTAINER = (
    "start this container as root with --cap-add SYS_ADMIN --cap-add NET_ADMIN, or with "
    "--security-opt seccomp=unconfined and --security-opt systempaths=unconfined (Podman: unmask=ALL)"
)


@pytest.mark.parametrize(
    ("mark", "ways"),
    [("true", ON_A_MACHINE), ("mount -t tmpfs none /run; touch /run/.containerenv", IN_A_CONTAINER)],
)
def test_parts_of_proc_that_are_hidden(mark: str, ways: str, home: Path) -> None:
    """As container engines hide some: the kernel then lets no user mount another one."""
    if mark == "true" and containers.is_one():
        pytest.skip("this is a container")
    first = mark.replace("touch", "mkdir -p /run; touch")
    ended = as_user(home, "emulate", ONE_FLOW, "--", "true", first=f"{MASKED}\n{first}")
    message = f"leobench: this user may not mount /proc in a namespace (Operation not permitted); {ways}\n"
    assert (ended.returncode, ended.stderr) == (2, message)


def test_a_user_without_namespaces(home: Path) -> None:
    """In a namespace of users that may have one more, which the user is in."""
    words = [sys.executable, "-m", "leobench", "emulate", str(ONE_FLOW), "--", "true"]
    user = [UNSHARE, "--user", "--map-user", "1", *words]
    script = f"echo 1 > /proc/sys/user/max_user_namespaces; exec {shlex.join(user)}"
    folder = home.parent
    node = f"mknod -m 0666 {folder}/tun c 10 200; mount --bind {folder}/tun /dev/net/tun"
    inner = [UNSHARE, "--user", "--map-root-user", "sh", "-ec", script]
    lines = ["set -e", *opened(folder), node, f"cd {home}", f"exec {shlex.join(inner)}"]
    ended = subprocess.run(
        [UNSHARE, "--mount", "sh", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.startswith("leobench: this user may make no namespaces (No space left on device); ")
