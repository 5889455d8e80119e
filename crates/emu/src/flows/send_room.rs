//! How far an application may write ahead of acknowledgements over the kernel's TCP.

use std::os::fd::OwnedFd;

use leobench_base::spec::Window;
use leobench_transport::CongestionSpec;
use leobench_transport::tcp::{SendBufferSize, TcpSpec};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt;

use super::kernel::{self, TcpInfo};

/// The kernel's send buffer, kept at the size that it has in virtual time.
///
/// The kernel would grow it too, but the memory that it reserves for a segment depends on how it was built: 4,352 bytes in
/// kernels of distributions, 2,304 without wireless networks and tunnels (`MAX_TCP_HEADER`). Only root may set the size; for
/// others, and without a limit, the kernel grows the buffer.
#[derive(Debug)]
pub(super) struct SendRoom {
    /// Bytes of data that it is to hold.
    size: Option<SendBufferSize>,
    /// Congestion windows that there is room for.
    windows: u64,
    /// Whether the kernel has refused a byte and not said since that it takes more.
    is_full: bool,
}

impl SendRoom {
    /// That of a socket without a connection.
    pub(super) fn new(socket: &OwnedFd, spec: &TcpSpec) -> Self {
        let size = SendBufferSize::new(spec);
        let is_limited = matches!(spec.send_buffer, Window::Bytes(_));
        let size = (is_limited && set(socket, size.get()).is_ok()).then_some(size);
        // `tcp_sndbuf_expand`, `bbr_sndbuf_expand`.
        let is_bbr = matches!(spec.congestion, CongestionSpec::Bbr(_) | CongestionSpec::Bbr3(_));
        Self { size, windows: if is_bbr { 3 } else { 2 }, is_full: false }
    }

    /// The kernel has refused a byte.
    pub(super) fn fill(&mut self) {
        self.is_full = true;
    }

    /// Whether a write that waits may go on: once a third of the buffer is free (`sk_stream_is_writeable`), as for a program
    /// whose write blocks. The kernel takes single bytes before. `written` bytes have been handed to it.
    pub(super) fn opens(&mut self, socket: &OwnedFd, written: u64) -> Result<bool, Errno> {
        if self.is_full && is_writable(socket)? {
            self.is_full = false;
            self.grow(socket, written)?;
        }
        Ok(!self.is_full)
    }

    /// Lets it grow with the congestion window. The kernel counts its descriptors of packets, too: they come on top.
    fn grow(&mut self, socket: &OwnedFd, written: u64) -> Result<(), Errno> {
        let Some(size) = &mut self.size else { return Ok(()) };
        let info = TcpInfo::of(socket).map_err(|_| Errno::NOTCONN)?;
        size.grow(info.window.get() / info.mss.get().max(1), self.windows);
        // The SYN is acknowledged as a byte.
        let acked = info.bytes_acked.get().saturating_sub(1);
        let queued = kernel::queued_memory(socket).map_err(|_| Errno::NOTCONN)?;
        let overhead = queued.saturating_sub(written.saturating_sub(acked));
        set(socket, size.get() + overhead)
    }
}

fn is_writable(socket: &OwnedFd) -> Result<bool, Errno> {
    let mut asked = [PollFd::new(socket, PollFlags::OUT)];
    Ok(poll(&mut asked, Some(&Timespec::default()))? > 0)
}

/// Sets the size; the kernel doubles what it is told.
fn set(socket: &OwnedFd, bytes: u64) -> Result<(), Errno> {
    let half = usize::try_from(bytes / 2).unwrap_or(usize::MAX);
    sockopt::set_socket_send_buffer_size_force(socket, half)
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    use leobench_base::Bytes;

    use super::*;

    /// A connection whose receiving end has read nothing yet, and what its sending end took.
    fn filled(spec: &TcpSpec) -> (OwnedFd, TcpStream, SendRoom, u64) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.set_nonblocking(true).unwrap();
        server.set_nonblocking(true).unwrap();
        let socket = OwnedFd::from(client.try_clone().unwrap());
        let mut room = SendRoom::new(&socket, spec);
        let mut written = 0;
        loop {
            match client.write(&[0; 1_000]) {
                Ok(count) => written += count as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        room.fill();
        (socket, server, room, written)
    }

    fn queued(socket: &OwnedFd) -> u64 {
        kernel::queued_memory(socket).unwrap()
    }

    #[test]
    fn a_full_buffer_waits_until_a_third_of_it_is_free() {
        let (socket, mut server, mut room, written) = filled(&TcpSpec::default());
        let size = sockopt::socket_send_buffer_size(&socket).unwrap() as u64;
        assert!(queued(&socket) >= size);
        let (mut opened, mut piece) = (false, [0; 1_000]);
        for _ in 0..written / 1_000 {
            server.read_exact(&mut piece).unwrap();
            let free = queued(&socket) <= size / 3 * 2;
            opened = room.opens(&socket, written).unwrap();
            assert_eq!(opened, free, "{} of {size}", queued(&socket));
            if opened {
                break;
            }
        }
        assert!(opened, "room for all that was read");
    }

    /// Only root may set it; for others the kernel does, as it was built.
    #[test]
    fn the_buffer_starts_with_room_for_two_initial_windows_and_holds_what_the_scenario_says() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        for (limit, expected) in [(4 << 20, 87_040), (30_000, 30_000)] {
            let send_buffer = Window::Bytes(Bytes::new(limit));
            let spec = TcpSpec { send_buffer, ..TcpSpec::default() };
            let (socket, ..) = filled(&spec);
            assert_eq!(sockopt::socket_send_buffer_size(&socket).unwrap(), expected);
        }
    }
}
