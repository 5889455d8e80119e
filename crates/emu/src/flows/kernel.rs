//! Settings and statistics of the kernel's TCP beyond the common socket options.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use leobench_base::{BitRate, Bytes, SimDuration};
use leobench_sim::scenario::{HostSocket, ScenarioSpec};
use leobench_transport::CongestionSpec;

/// The value of `snd_ssthresh` before there is a threshold (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// The kernel's name of a congestion controller.
pub(super) fn congestion_name(spec: &CongestionSpec) -> &'static str {
    match spec {
        CongestionSpec::NewReno(_) => "reno",
        other => other.kind(),
    }
}

/// The congestion controllers that this kernel offers.
fn offered() -> io::Result<Vec<String>> {
    let listed = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(listed.split_whitespace().map(str::to_owned).collect())
}

/// Looks for flows over TCP whose congestion controller this kernel does not have. Returns a message about the first.
///
/// # Errors
/// If the kernel does not tell which it has.
pub fn check_kernel(spec: &ScenarioSpec) -> io::Result<Option<String>> {
    let offered = offered()?;
    for (name, flow) in &spec.flows {
        let HostSocket::KernelTcp(tcp) = flow.transport.model().host_socket() else { continue };
        let wanted = congestion_name(&tcp.congestion);
        if !offered.iter().any(|known| known == wanted) {
            let listed: Vec<_> = offered.iter().map(|known| format!("`{known}`")).collect();
            return Ok(Some(format!(
                "flows.{name}.transport.congestion: {wanted} is not available in this kernel; allowed in real time: {} \
                 (leobench calls `reno` `newreno`), or load the module",
                listed.join(", ")
            )));
        }
    }
    Ok(None)
}

/// An option of a TCP socket.
#[derive(Clone, Copy, Debug)]
pub(super) enum TcpOption {
    /// Largest payload of a segment with the options in its header.
    MaxSegment(u32),
    /// Most bytes that are written and not sent.
    NotSentLowAt(u32),
    /// Spreads segments over the round trip.
    Paced,
}

/// Sets an option.
pub(super) fn set(socket: impl AsFd, option: TcpOption) -> io::Result<()> {
    let (level, name, value) = match option {
        TcpOption::MaxSegment(size) => (libc::IPPROTO_TCP, libc::TCP_MAXSEG, size),
        TcpOption::NotSentLowAt(size) => (libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, size),
        // Any limit that is one, however high, has the kernel pace.
        TcpOption::Paced => (libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u32::MAX - 1),
    };
    #[expect(unsafe_code, reason = "no library sets these; the pointer is to a value that lives")]
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<u32>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads an option of a socket: up to `SIZE` bytes, with zeros in place of those that this kernel does not have.
fn told<const SIZE: usize>(
    socket: impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<[u8; SIZE]> {
    let mut bytes = [0; SIZE];
    let mut size = SIZE as libc::socklen_t;
    #[expect(
        unsafe_code,
        reason = "no library asks for it; the kernel writes no more than `size` bytes"
    )]
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            bytes.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    if result == 0 { Ok(bytes) } else { Err(io::Error::last_os_error()) }
}

/// Memory that the send buffer of a socket takes, in bytes: data and the kernel's descriptors of packets (`sk_wmem_queued`).
pub(super) fn queued_memory(socket: impl AsFd) -> io::Result<u64> {
    /// Places in what the kernel tells (`SK_MEMINFO_WMEM_QUEUED`, `SK_MEMINFO_VARS`), of four bytes each.
    const QUEUED: usize = 5;
    const FIGURES: usize = 9;
    let bytes = told::<{ 4 * FIGURES }>(socket, libc::SOL_SOCKET, libc::SO_MEMINFO)?;
    Ok(u32::from_ne_bytes(array(&bytes, 4 * QUEUED)).into())
}

/// The state of a connection as the kernel tells it (`struct tcp_info`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpInfo {
    /// Of the congestion control: 0 open, 1 disorder, 2 window reduced, 3 recovery, 4 loss.
    pub(super) congestion_state: u8,
    pub(super) mss: Bytes,
    pub(super) window: Bytes,
    pub(super) threshold: Option<Bytes>,
    pub(super) in_flight: Bytes,
    pub(super) smoothed_rtt: SimDuration,
    pub(super) pacing: Option<BitRate>,
    pub(super) segments_sent: u64,
    pub(super) segments_received: u64,
    pub(super) bytes_sent: Bytes,
    pub(super) bytes_acked: Bytes,
    pub(super) bytes_repeated: Bytes,
    pub(super) segments_repeated: u64,
    pub(super) marks: u64,
    pub(super) duplicates: u64,
    pub(super) timeouts: u64,
}

/// Room for what the kernel tells; later kernels tell more.
const LARGEST_INFO: usize = 512;

impl TcpInfo {
    /// That of a socket.
    pub(super) fn of(socket: impl AsFd) -> io::Result<Self> {
        told(socket, libc::IPPROTO_TCP, libc::TCP_INFO).map(|bytes| Self::parse(&bytes))
    }

    /// By the offsets of `linux/tcp.h`, which are part of the kernel's interface. What an old kernel does not tell is zero.
    fn parse(bytes: &[u8; LARGEST_INFO]) -> Self {
        let u16_at = |offset| u16::from_ne_bytes(array(bytes, offset));
        let u32_at = |offset| u32::from_ne_bytes(array(bytes, offset));
        let u64_at = |offset| u64::from_ne_bytes(array(bytes, offset));
        let mss = u64::from(u32_at(16));
        let segments = |count: u32| Bytes::new(u64::from(count) * mss);
        let [unacked, sacked, lost, repeated] = [24, 28, 32, 36].map(u32_at);
        let in_flight = unacked.saturating_sub(sacked).saturating_sub(lost) + repeated;
        let (threshold, pacing) = (u32_at(76), u64_at(104));
        Self {
            congestion_state: bytes[1],
            mss: Bytes::new(mss),
            window: segments(u32_at(80)),
            threshold: (threshold < NO_THRESHOLD).then(|| segments(threshold)),
            in_flight: segments(in_flight),
            smoothed_rtt: SimDuration::from_micros(u32_at(68).into()),
            pacing: pacing.checked_mul(8).map(BitRate::from_bps),
            segments_sent: u32_at(136).into(),
            segments_received: u32_at(140).into(),
            bytes_sent: Bytes::new(u64_at(200)),
            bytes_acked: Bytes::new(u64_at(120)),
            bytes_repeated: Bytes::new(u64_at(208)),
            segments_repeated: u32_at(100).into(),
            marks: u32_at(196).into(),
            duplicates: u32_at(216).into(),
            timeouts: u16_at(240).into(),
        }
    }

    /// The phase of the congestion control.
    pub(super) fn phase(&self) -> &'static str {
        match self.congestion_state {
            2..=4 => "recovery",
            _ if self.threshold.is_none_or(|threshold| self.window < threshold) => "slow-start",
            _ => "avoidance",
        }
    }
}

fn array<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    let mut found = [0; N];
    found.copy_from_slice(&bytes[offset..offset + N]);
    found
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use leobench_transport::congestion::NewRenoSpec;

    use super::*;

    /// The kernel's counters of a connection over the loopback device match the bytes sent.
    #[test]
    fn the_kernel_tells_what_a_connection_has_done() {
        const SENT: usize = 300_000;
        // The kernel begins connections to an address by what it remembers of others to it.
        let listener = TcpListener::bind("127.83.7.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        set(&client, TcpOption::Paced).unwrap();
        set(&client, TcpOption::NotSentLowAt(1 << 20)).unwrap();
        let before = TcpInfo::of(&client).unwrap();
        assert_eq!(
            (before.bytes_sent, before.bytes_acked.get()),
            (Bytes::ZERO, 1),
            "the SYN counts"
        );
        std::thread::scope(|scope| {
            scope.spawn(|| client.write_all(&vec![1; SENT]).unwrap());
            server.read_exact(&mut vec![0; SENT]).unwrap();
        });
        // The last acknowledgement comes before the answer.
        server.write_all(&[1]).unwrap();
        client.read_exact(&mut [0]).unwrap();
        let info = TcpInfo::of(&client).unwrap();
        assert_eq!(info.bytes_sent, Bytes::new(SENT as u64) + info.bytes_repeated);
        assert_eq!(info.bytes_acked, Bytes::new(SENT as u64 + 1));
        assert_eq!(info.in_flight, Bytes::ZERO);
        assert!(info.segments_sent >= 3 && info.segments_received >= 2, "{info:?}");
        assert!(info.window.get() >= 10 * info.mss.get() && info.mss.get() >= 536, "{info:?}");
        assert!(info.smoothed_rtt > SimDuration::ZERO, "{info:?}");
        assert!(info.smoothed_rtt < SimDuration::from_secs(1), "{info:?}");
        assert_eq!((info.threshold, info.phase()), (None, "slow-start"));
    }

    #[test]
    fn the_kernel_offers_reno_under_its_own_name() {
        let reno = congestion_name(&CongestionSpec::NewReno(NewRenoSpec::default()));
        assert_eq!(reno, "reno");
        assert!(offered().unwrap().iter().any(|name| name == reno));
    }
}
