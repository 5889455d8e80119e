//! Datagrams that sockets of programs had no room for: the hosts lost them, and no link did.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use super::processes::{Processes, numbers};
use crate::flows::Host;
use crate::losses::Losses;

/// The datagrams that a socket of a host had no room for, because its program read too late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOverrun {
    /// The host's name.
    pub host: String,
    /// The address that the socket was bound to; none for all sockets of the host that closed before they could be asked.
    pub address: Option<SocketAddr>,
    /// The name of the process that had the socket.
    pub program: Option<String>,
    /// How many.
    pub datagrams: u64,
}

/// A socket, as the list of its host shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    address: SocketAddr,
    inode: u64,
    drops: u64,
}

/// A host, and its sockets that have lost something.
#[derive(Debug)]
struct Watched {
    name: String,
    host: Arc<Host>,
    /// All that it has lost, as far as is known.
    losses: Losses,
    found: Vec<(Socket, Option<String>)>,
}

/// The sockets of all hosts.
#[derive(Debug)]
pub(crate) struct SocketWatch(Vec<Watched>);

impl SocketWatch {
    pub(crate) fn new(hosts: Vec<(String, Arc<Host>)>) -> Self {
        let watched =
            |(name, host)| Watched { name, host, losses: Losses::default(), found: Vec::new() };
        Self(hosts.into_iter().map(watched).collect())
    }

    /// How many hosts there are.
    pub(super) fn hosts(&self) -> usize {
        self.0.len()
    }

    /// Asks a host, which this thread enters, for its losses; and for those of each socket if there are more than before.
    ///
    /// # Errors
    /// If the host cannot be entered, or its kernel does not tell.
    pub(super) fn look(&mut self, number: usize, processes: &Processes) -> io::Result<()> {
        let watched = &mut self.0[number];
        watched.host.enter()?;
        let losses = Losses::read()?;
        if losses.sockets > watched.losses.sockets {
            for socket in lossy_sockets()? {
                let known = watched.found.iter_mut().find(|(old, _)| old.inode == socket.inode);
                match known {
                    Some((old, _)) => *old = socket,
                    None => watched.found.push((socket, owner(socket.inode, processes))),
                }
            }
        }
        watched.losses = losses;
        Ok(())
    }

    /// The losses of all hosts once the programs have ended, and the sockets behind those of datagrams.
    ///
    /// # Errors
    /// If a host's kernel does not tell.
    pub(crate) fn finish(mut self) -> io::Result<(Losses, Vec<SocketOverrun>)> {
        let (mut sum, mut overruns) = (Losses::default(), Vec::new());
        for watched in &mut self.0 {
            let losses = watched.host.losses()?;
            sum += losses;
            overruns.extend(watched.overruns(losses.sockets));
        }
        Ok((sum, overruns))
    }
}

impl Watched {
    /// The sockets that lost something, and the rest of a total: sockets that closed too early to be asked.
    fn overruns(&self, total: u64) -> Vec<SocketOverrun> {
        let of = |address, program: &Option<String>, datagrams| SocketOverrun {
            host: self.name.clone(),
            address,
            program: program.clone(),
            datagrams,
        };
        let found = self.found.iter();
        let mut overruns: Vec<_> = found
            .map(|(socket, program)| of(Some(socket.address), program, socket.drops))
            .collect();
        let known: u64 = overruns.iter().map(|overrun| overrun.datagrams).sum();
        if total > known {
            overruns.push(of(None, &None, total - known));
        }
        overruns
    }
}

/// The UDP sockets that have dropped something, on the host that this thread is on.
fn lossy_sockets() -> io::Result<Vec<Socket>> {
    let of = |file| fs::read_to_string(format!("/proc/thread-self/net/{file}"));
    let mut sockets = listed(&of("udp")?);
    // Without IPv6, there is no such file.
    sockets.extend(listed(&of("udp6").unwrap_or_default()));
    Ok(sockets)
}

/// The sockets of a list that have dropped something: the second figure of a line is the socket's own address, the tenth its inode,
/// the last what it dropped (`proc_pid_net(5)`).
fn listed(list: &str) -> Vec<Socket> {
    let socket = |line: &str| {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let address = address(words.get(1)?)?;
        let drops = words.get(12)?.parse().ok().filter(|drops| *drops > 0)?;
        Some(Socket { address, inode: words[9].parse().ok()?, drops })
    };
    list.lines().skip(1).filter_map(socket).collect()
}

/// An address of words of the machine's own order, in hexadecimal digits, and a port.
fn address(told: &str) -> Option<SocketAddr> {
    let (words, port) = told.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(words.get(8 * at..8 * at + 8)?, 16).ok();
    let ip: IpAddr = if words.len() == 8 {
        Ipv4Addr::from(word(0)?.to_ne_bytes()).into()
    } else {
        let mut bytes = [0; 16];
        for (at, place) in bytes.chunks_exact_mut(4).enumerate() {
            place.copy_from_slice(&word(at)?.to_ne_bytes());
        }
        // SocketWatch for both families show an IPv4 address so.
        Ipv6Addr::from(bytes).to_canonical()
    };
    Some(SocketAddr::new(ip, port))
}

/// The name of the process that has a socket.
fn owner(inode: u64, processes: &Processes) -> Option<String> {
    let wanted = format!("socket:[{inode}]");
    let has = |process: &u32| {
        let folder = format!("/proc/{process}/fd");
        numbers(folder.clone().into()).any(|descriptor| {
            fs::read_link(format!("{folder}/{descriptor}"))
                .is_ok_and(|target| target.to_str() == Some(&wanted))
        })
    };
    Processes::name(processes.all().find(has)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 prints them on a machine whose lowest byte comes first.
    #[cfg(target_endian = "little")]
    #[test]
    fn sockets_that_dropped_something_are_listed() {
        let list = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops             
  241: 010010AC:1B58 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 16127 2 0000000000000000 0         
 1241: 010010AC:1B59 00000000:0000 07 00000000:00001B00 00:00000000 00000000     0        0 16128 2 0000000000000000 397       
";
        let address = "172.16.0.1:7001".parse().unwrap();
        assert_eq!(listed(list), [Socket { address, inode: 16_128, drops: 397 }]);
        let v6 = "head\n 1: 000080FE00000000FF005450B6AD1DFE:0035 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 5 2 0000000000000000 1\n";
        assert_eq!(listed(v6)[0].address, "[fe80::5054:ff:fe1d:adb6]:53".parse().unwrap());
        assert_eq!(listed(""), []);
    }

    #[test]
    fn the_rest_of_a_total_is_of_sockets_that_are_closed() {
        let address = "172.16.0.1:7001".parse().unwrap();
        let found = vec![(Socket { address, inode: 1, drops: 30 }, Some("reader".into()))];
        let host = Arc::new(Host::new(fs::File::open("/proc/self/ns/net").unwrap().into()));
        let losses = Losses::default();
        let watched = Watched { name: "server".into(), host, losses, found };
        let overruns = watched.overruns(37);
        let told: Vec<_> =
            overruns.iter().map(|it| (it.address, it.program.as_deref(), it.datagrams)).collect();
        assert_eq!(told, [(Some(address), Some("reader"), 30), (None, None, 7)]);
        assert_eq!(watched.overruns(30).len(), 1);
    }
}
