//! Packets that the kernel of a host loses on either side of the network.

use std::fs;
use std::io;
use std::ops::AddAssign;

/// Packets that a host lost by itself: no link did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Packets of programs for which a device had no room, as the driver read too late.
    pub ring: u64,
    /// Datagrams for which a socket had no room, as its program read too late.
    pub sockets: u64,
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Self) {
        self.ring += other.ring;
        self.sockets += other.sockets;
    }
}

impl Losses {
    /// Those of the host that this thread is on, since it exists.
    pub(crate) fn read() -> io::Result<Self> {
        let of = |file| fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        // Without IPv6, there is no such file.
        let v6 = of("snmp6").unwrap_or_default();
        Ok(Self { ring: dropped(&of("dev")?), sockets: no_room(&of("snmp")?) + no_room_v6(&v6) })
    }
}

/// The packets that devices dropped instead of sending them: behind a device's name, eight figures of what came in, then bytes,
/// packets, errors and drops of what went out (`proc_pid_net(5)`).
fn dropped(devices: &str) -> u64 {
    let figures = devices.lines().filter_map(|line| line.rsplit_once(':'));
    let dropped = figures.filter_map(|(_, figures)| figures.split_whitespace().nth(11));
    dropped.filter_map(|count| count.parse::<u64>().ok()).sum()
}

/// `RcvbufErrors` of UDP: a line has the names of a protocol's figures, the next one the figures.
fn no_room(protocols: &str) -> u64 {
    let mut lines = protocols.lines().filter_map(|line| line.strip_prefix("Udp: "));
    let (Some(names), Some(figures)) = (lines.next(), lines.next()) else { return 0 };
    let mut pairs = names.split_whitespace().zip(figures.split_whitespace());
    let found = pairs.find(|(name, _)| *name == "RcvbufErrors");
    found.and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
}

/// The same of UDP over IPv6: a name and a figure in each line.
fn no_room_v6(protocols: &str) -> u64 {
    let mut pairs = protocols.lines().filter_map(|line| line.split_once(char::is_whitespace));
    let found = pairs.find(|(name, _)| *name == "Udp6RcvbufErrors");
    found.and_then(|(_, count)| count.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 prints them.
    #[test]
    fn figures_are_found_by_name_and_place() {
        let devices = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       1       2    3    4    5     6          7         8        9      10   11    0   13    14      15         16
  path: 1234567   12345    0    9    0     0          0         0 99999999  999999    0   17    0     0       0          0
";
        assert_eq!(dropped(devices), 17);
        let protocols = "\
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens
Tcp: 1 200 120000 -1 5
Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
Udp: 1000 1 30 2000 23 0 7 0 0
UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors
UdpLite: 0 0 0 0 99 0 0 0 0
";
        assert_eq!(no_room(protocols), 23);
        let v6 = "Udp6InErrors                    \t5\nUdp6RcvbufErrors                \t4\nUdpLite6RcvbufErrors            \t8\n";
        assert_eq!(no_room_v6(v6), 4);
        assert_eq!((dropped(""), no_room(""), no_room_v6("")), (0, 0, 0));
    }
}
