#!/bin/sh -e
# A router that shapes both directions below the rate of the link, so that queues form where they are managed.
# Rates are in Mbit/s, of the upload and of the download; whatever follows them starts autorate.py with it:
#
#     leobench emulate starlink --router "examples/router.sh 8 40" -- ...
#     leobench emulate starlink --router "examples/router.sh 8 40 --up 4 8 12 --down 20 40 60 server" -- ...
#
# Upload is shaped where it leaves for the link ($WAN), download where it leaves for the LAN ($LAN). The
# discipline is CAKE where the kernel has it. Otherwise HTB shapes, packets below 256 bytes go first, as CAKE
# favours sparse flows, and the others wait in a queue of 40 ms (at least 10 packets).

# Shapes a device.
shape() {
    tc qdisc replace dev "$1" root cake bandwidth "$2mbit" 2>/dev/null && return
    tc qdisc replace dev "$1" root handle 1: htb default 20
    tc class replace dev "$1" parent 1: classid 1:1 htb rate "$2mbit" ceil "$2mbit" quantum 1514
    # Rates of next to nothing: all that these classes send is lent by the one above, by priority.
    tc class replace dev "$1" parent 1:1 classid 1:10 htb rate 8kbit ceil 10gbit prio 0 quantum 1514
    tc class replace dev "$1" parent 1:1 classid 1:20 htb rate 8kbit ceil 10gbit prio 1 quantum 1514
    limit=$(awk "BEGIN { bytes = $2 * 5000; print int(bytes < 15000 ? 15000 : bytes) }")
    tc qdisc replace dev "$1" parent 1:20 bfifo limit "$limit"
    # The length of a packet: at 2 in IPv4's header (RFC 791), that of its payload at 4 in IPv6's (RFC 8200).
    tc filter replace dev "$1" parent 1: prio 1 protocol ip u32 match u16 0x0000 0xff00 at 2 flowid 1:10
    tc filter replace dev "$1" parent 1: prio 2 protocol ipv6 u32 match u16 0x0000 0xff00 at 4 flowid 1:10
}

shape "$WAN" "$1"
shape "$LAN" "$2"
shift 2
if [ $# -gt 0 ]; then
    "${PYTHON:-python3}" -I -S "$(dirname "$0")/autorate.py" --up-device "$WAN" --down-device "$LAN" "$@" >/dev/null &
fi
