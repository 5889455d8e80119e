"""Delegation of IPv6 prefixes to the router of a LAN: the server's messages, and clients that ask it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import pytest

from leobench.emulation.delegation import Delegation
from leobench.emulation.delegation.dhcpv6 import Delegator
from tests.support.paths import ROOT
from tests.support.programs import PATIENT, leobench

POOL = IPv6Network("2001:db8:6c60::/52")
FIRST, SECOND = IPv6Network("2001:db8:6c60::/56"), IPv6Network("2001:db8:6c60:100::/56")
ONE_FLOW = ROOT / "scenarios" / "one-flow.toml"
LOSSLESS = ("--set", "links.path.forward.loss.probability=0")
CLIENT = Path(__file__).with_name("prefix_client.py")
# Types of messages and codes of options (RFC 8415 sections 7.3 and 21).
SOLICIT, ADVERTISE, REQUEST, CONFIRM, RENEW, REBIND, REPLY, RELEASE = 1, 2, 3, 4, 5, 6, 7, 8
INFORMATION = 11
SERVER = "0002 0006 736572766572"
ME, OTHER = "0001 0004 6d6d6d6d", "0001 0004 6f6f6f6f"


def bits(text: str) -> bytes:
    return bytes.fromhex(text)


def association(number: int, contents: str = "") -> str:
    """An IA_PD (25)."""
    return f"0019 {12 + len(bits(contents)):04x} {number:08x} 00000000 00000000 {contents}"


def named(prefix: IPv6Network, preferred: int = 0, valid: int = 0) -> str:
    """An IA_PREFIX (26)."""
    return (
        f"001a 0019 {preferred:08x} {valid:08x} {prefix.prefixlen:02x} {prefix.network_address.packed.hex()}"
    )


def message(kind: int, *options: str) -> bytes:
    return bytes([kind]) + b"xid" + bits(" ".join(options))


def delegator() -> Delegator:
    return Delegator(POOL, 56, b"server")


def test_solicit_and_request_as_the_rfc_draws_them() -> None:
    """Byte by byte: T1 and T2 are 0.5 and 0.8 of the preferred lifetime of an hour (section 21.21)."""
    server = delegator()
    lease = "0019 0029 00000007 00000708 00000b40" + named(FIRST, 3600, 7200)
    asked = message(SOLICIT, ME, association(7))
    assert server.answer(asked) == message(ADVERTISE, ME, SERVER, lease)
    asked = message(REQUEST, ME, SERVER, association(7, named(FIRST)))
    assert server.answer(asked) == message(REPLY, ME, SERVER, lease)
    # Again and again the same, and extended.
    for kind, options in ((RENEW, (ME, SERVER)), (REBIND, (ME,))):
        asked = message(kind, *options, association(7, named(FIRST, 3600, 7200)))
        assert server.answer(asked) == message(REPLY, ME, SERVER, lease)


def test_rapid_commit_is_answered_at_once() -> None:
    reply = delegator().answer(message(SOLICIT, ME, association(7), "000e 0000"))
    assert reply is not None
    assert reply[0] == REPLY
    assert reply[4:].startswith(bits(f"{ME} {SERVER} 000e 0000 0019"))


def test_associations_and_clients_have_prefixes_of_their_own() -> None:
    server = delegator()
    reply = server.answer(message(REQUEST, ME, SERVER, association(1), association(2)))
    assert reply is not None
    assert bits(named(FIRST, 3600, 7200)) in reply
    assert bits(named(SECOND, 3600, 7200)) in reply
    third = server.answer(message(REQUEST, OTHER, SERVER, association(1)))
    assert third is not None
    assert IPv6Address("2001:db8:6c60:200::").packed in third


def test_a_pool_ends_and_takes_prefixes_back() -> None:
    server = delegator()
    for number in range(16):
        server.answer(message(REQUEST, ME, SERVER, association(number)))
    # Status 6, NoPrefixAvail.
    none = association(16, "000d 0002 0006")
    assert server.answer(message(REQUEST, ME, SERVER, association(16))) == message(REPLY, ME, SERVER, none)
    released = server.answer(message(RELEASE, ME, SERVER, association(3, named(FIRST)), association(99)))
    # Success, and NoBinding (3) for the association that had nothing.
    unknown = association(99, "000d 0002 0003")
    assert released == message(REPLY, ME, SERVER, "000d 0002 0000", unknown)
    reply = server.answer(message(REQUEST, ME, SERVER, association(16)))
    assert reply is not None
    assert IPv6Address("2001:db8:6c60:300::").packed in reply


def test_unknown_bindings_are_refused_or_withdrawn() -> None:
    server, foreign = delegator(), IPv6Network("2001:db8:ffff::/48")
    renewed = server.answer(message(RENEW, ME, SERVER, association(7, named(foreign, 9, 9))))
    assert renewed == message(REPLY, ME, SERVER, association(7, "000d 0002 0003"))
    rebound = server.answer(message(REBIND, ME, association(7, named(foreign, 9, 9))))
    assert rebound == message(REPLY, ME, SERVER, association(7, named(foreign)))
    # A prefix that is not the client's is withdrawn beside the one that is.
    replied = server.answer(message(REQUEST, ME, SERVER, association(7, named(foreign, 9, 9))))
    assert replied is not None
    assert replied.endswith(bits(named(FIRST, 3600, 7200) + named(foreign)))
    # The address `::` is a wish for a length only.
    wish = named(IPv6Network("::/60"))
    replied = server.answer(message(REQUEST, ME, SERVER, association(7, wish)))
    assert replied is not None
    assert replied.endswith(bits(named(FIRST, 3600, 7200)))


def test_addresses_are_refused() -> None:
    """Status 2, NoAddrsAvail, in an IA_NA (3)."""
    asked = message(SOLICIT, ME, "0003 000c 00000001 00000000 00000000")
    refused = "0003 0012 00000001 00000000 00000000 000d 0002 0002"
    assert delegator().answer(asked) == message(ADVERTISE, ME, SERVER, refused)


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"\x01xi",
        message(SOLICIT, association(7)),  # no client identifier
        message(SOLICIT, ME, SERVER, association(7)),  # section 16.2: names a server
        message(REQUEST, ME, association(7)),  # section 16.4: names none
        message(REQUEST, ME, "0002 0006 736572766573", association(7)),  # another one
        message(REBIND, ME, SERVER, association(7)),
        message(CONFIRM, ME),
        message(ADVERTISE, ME, SERVER),
        message(12, ME),  # a relay's
        message(INFORMATION, ME, association(7)),  # section 16.12
        message(SOLICIT, ME, "0019 00ff 0000"),  # an option that is cut off
        message(SOLICIT, ME, "0019 0004 00000007"),  # an association that is cut off
        message(SOLICIT, ME, association(7, "001a 0004 00000000")),
        message(SOLICIT, ME, association(7, "001a 0019 00000000 00000000 ff" + 32 * "0")),  # /255
    ],
)
def test_wrong_messages_are_discarded(wrong: bytes) -> None:
    assert delegator().answer(wrong) is None


def test_messages_by_unicast() -> None:
    """Section 18.4: discarded, or answered with the status UseMulticast (5)."""
    server = delegator()
    assert server.answer(message(SOLICIT, ME, association(7)), by_multicast=False) is None
    replied = server.answer(message(REQUEST, ME, SERVER, association(7)), by_multicast=False)
    assert replied == message(REPLY, ME, SERVER, "000d 0002 0005")


def test_information_without_prefixes() -> None:
    assert delegator().answer(message(INFORMATION)) == message(REPLY, SERVER)


def test_any_bytes_have_an_answer_or_none() -> None:
    """Every message that is cut off anywhere, and every byte of it replaced."""
    server = delegator()
    whole = message(REQUEST, ME, SERVER, association(7, named(FIRST, 9, 9)))
    for end in range(len(whole)):
        server.answer(whole[:end])
        for value in (0, 1, 0x7F, 0xFF):
            server.answer(whole[:end] + bytes([value]) + whole[end + 1 :])


def test_pools_have_sixteen_prefixes() -> None:
    for length in (48, 56, 64):
        pool = Delegation("client", length).pool
        assert pool.subnet_of(IPv6Network("2001:db8::/32"))
        assert len(list(pool.subnets(new_prefix=length))) == 16


def _reach(tmp_path: Path, router: str) -> None:
    """The host on the LAN waits for an address of the pool, and asks `server.v6` from it who asks."""
    tell = (
        "import socket; s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('::', 7001)); "
        "data, peer = s.recvfrom(9); s.sendto(peer[0].encode(), peer)"
    )
    ask = (
        "import socket, subprocess, sys, time\n"
        "for attempt in range(200):\n"
        "    shown = subprocess.run(['ip', '-6', '-o', 'addr', 'show', 'dev', 'eth0'], "
        "capture_output=True, text=True).stdout\n"
        "    own = [word.split('/')[0] for line in shown.splitlines() if 'tentative' not in line "
        "for word in line.split() if word.startswith('2001:db8:')]\n"
        "    if own: break\n"
        "    time.sleep(0.1)\n"
        "else: sys.exit(f'no address: {shown}')\n"
        "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.settimeout(1); s.bind((own[0], 0))\n"
        "for attempt in range(60):\n"
        "    try: s.sendto(b'who', ('server.v6', 7001)); print(own[0], s.recv(99).decode()); break\n"
        "    except OSError: time.sleep(0.1)\n"
    )
    server = ("--on", "server", shlex.join([sys.executable, "-c", tell]))
    ended = leobench(
        "emulate", ONE_FLOW, *PATIENT, *LOSSLESS, "--router", router, "--delegate-prefix", "56", *server,
        "--host", "lan", "--", sys.executable, "-c", ask, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    own, seen = ended.stdout.split()
    assert own == seen  # nobody translates
    assert IPv6Address(own) in FIRST


def _script(tmp_path: Path, text: str) -> str:
    script = tmp_path / "router.sh"
    script.write_text(f"#!/bin/sh -e\n{text}", encoding="utf-8")
    script.chmod(0o755)
    return str(script)


@pytest.mark.usefixtures("hosts")
def test_a_lan_reaches_the_far_host_with_a_delegated_address(tmp_path: Path) -> None:
    """By a client of the tests' own, which crosses the emulated link, and router advertisements."""
    client = shlex.join([sys.executable, str(CLIENT), str(tmp_path)])
    _reach(tmp_path, _script(tmp_path, f"{client} >/dev/null &\n"))
    assert (tmp_path / "reply").read_bytes().endswith(bits(named(FIRST, 3600, 7200)))


@pytest.mark.usefixtures("hosts")
def test_messages_take_the_time_of_the_link(tmp_path: Path) -> None:
    """Solicit to Advertise: 25 ms each way."""
    solicit = message(SOLICIT, ME, association(7))
    timed = (
        "import os, socket, time\n"
        "wan = os.environ['WAN']\n"
        "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('::', 546)); s.settimeout(0.5)\n"
        "for attempt in range(40):\n"
        "    sent = time.monotonic()\n"
        f"    s.sendto({solicit!r}, ('ff02::1:2', 547, 0, socket.if_nametoindex(wan)))\n"
        "    try: s.recv(999)\n"
        "    except TimeoutError: continue\n"
        "    time.sleep(0.2)\n"
        "    if attempt > 3: break\n"
        f"    open({str(tmp_path / 'took')!r}, 'a').write(f'{{time.monotonic() - 0.2 - sent}}\\n')\n"
    )
    router = _script(tmp_path, f"{shlex.join([sys.executable, '-c', timed])} >/dev/null &\n")
    ended = leobench(
        "emulate", ONE_FLOW, *PATIENT, *LOSSLESS, "--router", router, "--delegate-prefix", "56",
        "--", "sleep", "4", cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    took = [float(each) for each in (tmp_path / "took").read_text(encoding="ascii").split()]
    assert 0.050 <= min(took) < 0.080, took


@pytest.mark.usefixtures("hosts")
def test_a_public_client_gets_a_prefix(tmp_path: Path) -> None:
    """WIDE's, which gives the router an address of the prefix's second network."""
    if shutil.which("dhcp6c") is None:
        pytest.skip("dhcp6c: not installed (apt install wide-dhcpv6-client)")
    # It keeps its identifier in a fixed place, which the session's own mounts hide.
    router = _script(
        tmp_path,
        "mount -t tmpfs none /var/lib/dhcpv6\n"
        f"cat >{tmp_path}/conf <<END\n"
        "interface $WAN { send ia-pd 0; };\n"
        "id-assoc pd 0 { prefix-interface $LAN { sla-id 1; sla-len 8; ifid 1; }; };\n"
        "END\n"
        f"dhcp6c -f -c {tmp_path}/conf -p {tmp_path}/pid $WAN >/dev/null 2>&1 &\n",
    )
    find = "ip -6 -o addr show dev lan | grep -o '2001:db8:[^ ]*'"
    show = f"for i in $(seq 100); do {find} && exit; sleep 0.1; done"
    ended = leobench(
        "emulate", ONE_FLOW, *PATIENT, *LOSSLESS, "--router", router, "--delegate-prefix", "56",
        "--host", "client", "--", "sh", "-c", show, cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "2001:db8:6c60:1::1/64\n"


def test_another_program_reads_the_messages(tmp_path: Path) -> None:
    """Wireshark's dissector finds the prefix, its lifetimes and its times where they belong."""
    if shutil.which("tshark") is None or shutil.which("text2pcap") is None:
        pytest.skip("tshark: not installed")
    reply = delegator().answer(message(REQUEST, ME, SERVER, association(7)))
    assert reply is not None
    (tmp_path / "dump").write_text("000000 " + reply.hex(" ") + "\n", encoding="ascii")
    words = ["text2pcap", "-q", "-6", "fe80::2,fe80::1", "-u", "547,546", "dump", "reply.pcap"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    fields = (
        "msgtype", "iaid.t1", "iaid.t2", "iaprefix.pref_lifetime",
        "iaprefix.valid_lifetime", "iaprefix.pref_len", "iaprefix.pref_addr",
    )  # fmt: skip
    asked = [word for field in fields for word in ("-e", f"dhcpv6.{field}")]
    words = ["tshark", "-r", "reply.pcap", "-T", "json", *asked]
    said = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    (packet,) = json.loads(said)
    layers = packet["_source"]["layers"]
    assert layers["dhcpv6.msgtype"] == ["7"]
    assert layers["dhcpv6.iaprefix.pref_addr"] == ["2001:db8:6c60::"]
    assert layers["dhcpv6.iaprefix.pref_len"] == ["56"]
    numbers = [re.sub(r"\D.*", "", str(layers[f"dhcpv6.{field}"][0])) for field in fields[1:5]]
    assert numbers == ["1800", "2880", "3600", "7200"]


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (["--delegate-prefix", "56"], "--delegate-prefix: there is no router; allowed: with --router"),
        *(
            (
                ["--router", "true", "--delegate-prefix", given],
                f"--delegate-prefix {given}: allowed: a length from 48 to 64, such as 56",
            )
            for given in ("47", "65", "/56", "many", "")
        ),
        (
            ["--router", "true", "--delegate-prefix", "56", "--set", "links.path.mtu=1000 B"],
            "--delegate-prefix: the link path carries no IPv6; allowed: an `mtu` of 1280 bytes or more",
        ),
    ],
)
@pytest.mark.usefixtures("hosts")
def test_bad_input(words: list[str], refused: str, tmp_path: Path) -> None:
    ended = leobench("emulate", ONE_FLOW, *words, "--", "true", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (2, f"leobench: {refused}\n")
