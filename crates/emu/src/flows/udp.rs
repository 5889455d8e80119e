//! An end of a flow whose datagrams go over UDP sockets: leobench's own QUIC, with real TLS, and plain datagrams.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use bytes::BytesMut;
use leobench_base::packet::{Datagram, Ecn, IPV4_UDP_HEADER};
use leobench_base::{Body, Bytes, LogHistogram, Meta, Packet, Protocol, SimTime};
use leobench_transport::SendBuffer;
use leobench_transport::arrivals::Arrivals;
use leobench_transport::endpoint::{
    Endpoint, EndpointError, Input, Loss, Outbox, PathAddresses, PathSample, Totals,
};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};

use super::host::Host;
use super::ready::Watch;

/// Room for what the kernel hands over at once: it may join datagrams of one size.
const LARGEST_READ: usize = 65_536;

/// An endpoint whose packets go over UDP sockets of a host.
pub(super) struct OverUdp {
    inside: Box<dyn Endpoint>,
    carries: Carries,
    host: Arc<Host>,
    watch: Watch,
    /// One for each port that the endpoint uses.
    sockets: Vec<Socket>,
    /// Packets that wait for room in a socket.
    unsent: VecDeque<Packet>,
    room: Vec<u8>,
    bytes: Vec<u8>,
}

/// The kind of payload in datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    /// Packets of QUIC.
    Quic,
    /// Parts of messages.
    Messages,
}

struct Socket {
    port: u16,
    udp: UdpSocket,
    state: UdpSocketState,
}

impl OverUdp {
    /// An endpoint with a socket at `port`, which takes packets from now on.
    pub(super) fn new(
        inside: Box<dyn Endpoint>,
        carries: Carries,
        port: u16,
        host: &Arc<Host>,
        watch: Watch,
    ) -> io::Result<Self> {
        let mut endpoint = Self {
            inside,
            carries,
            host: host.clone(),
            watch,
            sockets: Vec::new(),
            unsent: VecDeque::new(),
            room: vec![0; LARGEST_READ],
            bytes: Vec::new(),
        };
        endpoint.open(port)?;
        Ok(endpoint)
    }

    /// The place of the socket at a port, which it opens unless it is.
    fn open(&mut self, port: u16) -> io::Result<usize> {
        if let Some(place) = self.sockets.iter().position(|socket| socket.port == port) {
            return Ok(place);
        }
        let socket = self.host.udp(port)?;
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        self.watch.add(&socket)?;
        self.sockets.push(Socket { port, udp: socket, state });
        Ok(self.sockets.len() - 1)
    }

    /// Hands what has arrived to the endpoint.
    fn read(&mut self, now: SimTime) -> Result<(), EndpointError> {
        let Self { inside, carries, sockets, room, .. } = self;
        for socket in sockets {
            while let Some(found) = socket.read(room).map_err(|error| stack(now, &error))? {
                let stride = found.stride.max(1);
                for bytes in room[..found.len].chunks(stride) {
                    let meta = meta(now, bytes, &found, socket.port);
                    let body = body(*carries, bytes);
                    if let (Some(meta), Some(body)) = (meta, body) {
                        let mut packet = Packet { meta, body };
                        inside.input(now, Input::Packet(&mut packet))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sends as much as the sockets take.
    fn write(&mut self, now: SimTime) -> Result<(), EndpointError> {
        while let Some(packet) = self.unsent.pop_front() {
            let sent = self.send(&packet).map_err(|error| stack(now, &error))?;
            if !sent {
                self.unsent.push_front(packet);
                break;
            }
        }
        Ok(())
    }

    /// Sends a packet; whether its socket has taken it.
    fn send(&mut self, packet: &Packet) -> io::Result<bool> {
        let Packet { meta, body } = packet;
        let place = self.open(meta.source.port())?;
        let contents = match body {
            Body::UdpBytes(bytes) => &bytes[..],
            Body::Udp(_) => return Err(io::Error::other("a QUIC packet is not protected")),
            Body::Datagram(datagram) => {
                self.bytes.clear();
                datagram.encode(&mut self.bytes);
                &self.bytes
            }
            Body::Tcp(_) | Body::Raw(_) | Body::Filler => return Ok(true),
        };
        let transmit = Transmit {
            destination: meta.destination,
            ecn: codepoint(meta.ecn),
            contents,
            segment_size: None,
            src_ip: Some(meta.source.ip()),
        };
        let Socket { udp, state, .. } = &self.sockets[place];
        match state.try_send(UdpSockRef::from(udp), &transmit) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            // After an error the packet is lost, as in a network without a way, and whoever sent it finds out.
            Ok(()) | Err(_) => Ok(true),
        }
    }
}

impl Socket {
    /// The next datagrams, of one sender and one size, if there are any.
    fn read(&self, room: &mut [u8]) -> io::Result<Option<RecvMeta>> {
        let mut found = [RecvMeta::default()];
        loop {
            let mut slices = [IoSliceMut::new(room)];
            return match self.state.recv(UdpSockRef::from(&self.udp), &mut slices, &mut found) {
                Ok(0) => Ok(None),
                Ok(_) => Ok(Some(found[0])),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => Ok(None),
                    // An earlier datagram was answered by ICMP, which a datagram's sender need not care about.
                    ErrorKind::Interrupted | ErrorKind::ConnectionRefused => continue,
                    _ => Err(error),
                },
            };
        }
    }
}

impl Endpoint for OverUdp {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        self.inside.input(now, input)
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        self.read(now)?;
        let wake = self.inside.poll(now, outbox)?;
        self.unsent.extend(outbox.packets.drain(..));
        self.write(now)?;
        // The network cannot tell which of its packets a verdict is about.
        outbox.verdicts.clear();
        Ok(wake)
    }

    fn sample_paths(&self, now: SimTime, samples: &mut Vec<PathSample>) {
        self.inside.sample_paths(now, samples);
    }

    fn sample_former_paths(&self, samples: &mut Vec<PathSample>) {
        self.inside.sample_former_paths(samples);
    }

    fn paths(&self, paths: &mut Vec<PathAddresses>) {
        self.inside.paths(paths);
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.inside.send_buffer()
    }

    fn totals(&self) -> Totals {
        self.inside.totals()
    }

    fn rtts(&self) -> LogHistogram {
        self.inside.rtts()
    }

    fn arrivals(&self) -> Option<&Arrivals> {
        self.inside.arrivals()
    }

    fn lost(&self) -> Option<&Loss> {
        self.inside.lost()
    }

    fn finish(&mut self, now: SimTime) -> Result<(), EndpointError> {
        self.inside.finish(now)
    }
}

/// The header of the packet that a datagram came in; none if the kernel does not say where it went to.
fn meta(now: SimTime, bytes: &[u8], found: &RecvMeta, port: u16) -> Option<Meta> {
    let local = SocketAddr::new(found.dst_ip?, port);
    let size = Bytes::new(bytes.len() as u64) + IPV4_UDP_HEADER;
    let ecn = match found.ecn {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    };
    Some(Meta::new(now, Protocol::Udp, found.addr, local, size).with_ecn(ecn))
}

/// The content of a datagram; `None` if it cannot be decoded.
fn body(carries: Carries, bytes: &[u8]) -> Option<Body> {
    match carries {
        Carries::Quic => Some(Body::UdpBytes(BytesMut::from(bytes))),
        Carries::Messages => Datagram::decode(bytes).map(Body::Datagram),
    }
}

fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotEct => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

fn stack(now: SimTime, error: &io::Error) -> EndpointError {
    EndpointError::Stack { at: now, problem: format!("its socket: {error}") }
}
