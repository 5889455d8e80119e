//! A host of the scenario: a network namespace, in which sockets are opened.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use leobench_base::spec::Window;
use leobench_transport::tcp::TcpSpec;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, socket_with, sockopt};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::losses::Losses;

/// The largest buffer that the kernel can be told.
const LARGEST_BUFFER: u64 = i32::MAX as u64 / 2;
/// Room for datagrams that the driver has not read or the device not taken yet.
const DATAGRAM_BUFFER: usize = 8 << 20;
/// Smallest and usual size of a buffer: those of the kernel.
const RECEIVE_BUFFERS: &str = "4096 131072";
const SEND_BUFFERS: &str = "4096 16384";

/// A network namespace.
#[derive(Debug)]
pub struct Host {
    namespace: OwnedFd,
}

impl Host {
    /// The namespace behind a descriptor.
    pub fn new(namespace: OwnedFd) -> Self {
        Self { namespace }
    }

    /// Moves this thread there, for good.
    pub(crate) fn enter(&self) -> io::Result<()> {
        let kind = Some(LinkNameSpaceType::Network);
        Ok(move_into_link_name_space(self.namespace.as_fd(), kind)?)
    }

    /// Does something there, in a thread of its own: one that enters a namespace stays in it.
    fn within<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let within = scope.spawn(|| {
                self.enter()?;
                work()
            });
            within.join().map_err(|_| io::Error::other("a thread on a host panicked"))?
        })
    }

    /// Packets that the host has lost by itself since it exists.
    ///
    /// # Errors
    /// If its kernel does not report them.
    pub fn losses(&self) -> io::Result<Losses> {
        self.within(Losses::read)
    }

    /// Settings of the host's TCP, which has one of each.
    pub(super) fn set_up(&self, spec: &TcpSpec) -> io::Result<()> {
        let bytes = |window| match window {
            Window::Bytes(bytes) => bytes.get().min(LARGEST_BUFFER),
            Window::Unlimited => LARGEST_BUFFER,
        };
        // The kernel counts its own overhead in what it is told, so that a window is about half of it.
        let receive = bytes(spec.receive_buffer).saturating_mul(2).min(LARGEST_BUFFER);
        let send = bytes(spec.send_buffer);
        let settings = [
            ("tcp_timestamps", u8::from(spec.timestamps).to_string()),
            ("tcp_sack", u8::from(spec.sack).to_string()),
            ("tcp_ecn", u8::from(spec.ecn).to_string()),
            ("tcp_rmem", format!("{RECEIVE_BUFFERS} {receive}")),
            ("tcp_wmem", format!("{SEND_BUFFERS} {send}")),
        ];
        self.within(|| {
            for (name, value) in &settings {
                let path = format!("/proc/sys/net/ipv4/{name}");
                let written = fs::write(&path, value);
                written
                    .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))?;
            }
            Ok(())
        })
    }

    /// A socket for TCP that never blocks, bound to an address of the host.
    pub(super) fn tcp(&self, address: SocketAddr) -> io::Result<OwnedFd> {
        self.within(|| {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
            let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
            sockopt::set_socket_reuseaddr(&socket, true)?;
            bind(&socket, &address)?;
            Ok(socket)
        })
    }

    /// A socket for datagrams that never blocks, at a port of all addresses of the host.
    pub(super) fn udp(&self, port: u16) -> io::Result<UdpSocket> {
        self.within(|| {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
            socket.set_nonblocking(true)?;
            // Where this is not allowed, the usual size has to do.
            _ = sockopt::set_socket_recv_buffer_size_force(&socket, DATAGRAM_BUFFER);
            Ok(socket)
        })
    }
}
