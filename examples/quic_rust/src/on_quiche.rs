//! On quiche, which leaves sockets and clocks to its user: one thread, one socket, one connection at a time.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

use quiche::{Config, Connection, ConnectionId, RecvInfo};

use crate::content::{Content, Received};
use crate::{KEEP_ALIVE, Outcome, PATIENCE, PROTOCOL, any_address, security};

/// The first stream that a client opens.
const STREAM: u64 = 0;
/// Bytes of the largest datagram that comes or goes.
const DATAGRAM: usize = 1_350;
const LARGEST: usize = 65_535;
/// Bytes that a peer may send ahead: quiche itself sets no window, and these are those of its own tools.
const CONNECTION_WINDOW: u64 = 10_000_000;
const STREAM_WINDOW: u64 = 1_000_000;
/// The longest wait for a packet or a timer.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// Waits that the kernel's timers cannot do are left out.
const SHORTEST_WAIT: Duration = Duration::from_micros(100);

pub fn serve(address: SocketAddr) -> Outcome<()> {
    let mut config = config()?;
    let folder = std::env::temp_dir().join(format!("quic_rust-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let loaded = with_certificate(&mut config, &folder);
    std::fs::remove_dir_all(&folder)?;
    loaded?;
    let socket = UdpSocket::bind(address)?;
    loop {
        let mut buffer = vec![0; LARGEST];
        socket.set_read_timeout(None)?;
        let (length, from) = socket.recv_from(&mut buffer)?;
        let local = socket.local_addr()?;
        // What is left of an earlier connection opens none.
        let Ok(header) = quiche::Header::from_slice(&mut buffer[..length], quiche::MAX_CONN_ID_LEN)
        else {
            continue;
        };
        if header.ty != quiche::Type::Initial {
            continue;
        }
        let id = identifier()?;
        let connection =
            quiche::accept(&ConnectionId::from_ref(&id), None, local, from, &mut config)?;
        let mut driven = Driven { socket: socket.try_clone()?, local, connection };
        driven.take(&mut buffer[..length], from);
        if let Err(error) = driven.run(&mut Serving::default()) {
            eprintln!("quic_rust: {error}");
        }
    }
}

pub fn fetch(address: SocketAddr, size: u64) -> Outcome<()> {
    let mut fetching = Fetching {
        received: Received::new(size),
        size,
        has_asked: false,
        is_over: false,
        pinged: Instant::now(),
    };
    let socket = UdpSocket::bind(any_address(address)?)?;
    // For the address that the connection is from.
    socket.connect(address)?;
    let local = socket.local_addr()?;
    let id = identifier()?;
    let connection = quiche::connect(
        Some("server"),
        &ConnectionId::from_ref(&id),
        local,
        address,
        &mut config()?,
    )?;
    Driven { socket, local, connection }.run(&mut fetching)?;
    fetching.received.report()
}

fn config() -> Outcome<Config> {
    let mut config = Config::new(quiche::PROTOCOL_VERSION)?;
    config.set_application_protos(&[PROTOCOL])?;
    config.verify_peer(false);
    config.set_max_idle_timeout(u64::try_from(PATIENCE.as_millis())?);
    config.set_max_recv_udp_payload_size(DATAGRAM);
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(CONNECTION_WINDOW);
    config.set_initial_max_stream_data_bidi_local(STREAM_WINDOW);
    config.set_initial_max_stream_data_bidi_remote(STREAM_WINDOW);
    config.set_initial_max_streams_bidi(1);
    Ok(config)
}

fn with_certificate(config: &mut Config, folder: &std::path::Path) -> Outcome<()> {
    let made = security::self_signed()?;
    for (name, text) in
        [("certificate", made.cert.pem()), ("key", made.signing_key.serialize_pem())]
    {
        std::fs::write(folder.join(name), text)?;
    }
    let path = |name| folder.join(name).to_string_lossy().into_owned();
    config.load_cert_chain_from_pem_file(&path("certificate"))?;
    Ok(config.load_priv_key_from_pem_file(&path("key"))?)
}

fn identifier() -> Outcome<[u8; quiche::MAX_CONN_ID_LEN]> {
    let mut id = [0; quiche::MAX_CONN_ID_LEN];
    getrandom::fill(&mut id).map_err(|error| error.to_string())?;
    Ok(id)
}

/// The reaction of one end to whatever has come.
trait End {
    fn work(&mut self, connection: &mut Connection) -> Outcome<()>;
}

/// A connection and its socket.
struct Driven {
    socket: UdpSocket,
    local: SocketAddr,
    connection: Connection,
}

impl Driven {
    /// Drives the connection until it is closed.
    fn run(&mut self, end: &mut impl End) -> Outcome<()> {
        let mut buffer = vec![0; LARGEST];
        loop {
            end.work(&mut self.connection)?;
            self.send()?;
            if self.connection.is_closed() {
                return match (self.connection.is_timed_out(), self.connection.local_error()) {
                    (true, _) => Err("the connection timed out".into()),
                    (false, Some(error)) if error.error_code != 0 => {
                        Err(format!("{error:?}").into())
                    }
                    _ => Ok(()),
                };
            }
            let wait = self.connection.timeout().unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
            self.socket.set_read_timeout(Some(wait.max(SHORTEST_WAIT)))?;
            match self.socket.recv_from(&mut buffer) {
                Ok((length, from)) => self.take(&mut buffer[..length], from),
                Err(error) if is_no_packet(error.kind()) => {}
                Err(error) => return Err(error.into()),
            }
            self.drain(&mut buffer)?;
            if self.connection.timeout().is_some_and(|left| left.is_zero()) {
                self.connection.on_timeout();
            }
        }
    }

    /// Takes all packets that wait.
    fn drain(&mut self, buffer: &mut [u8]) -> Outcome<()> {
        self.socket.set_nonblocking(true)?;
        while let Ok((length, from)) = self.socket.recv_from(buffer) {
            self.take(&mut buffer[..length], from);
        }
        Ok(self.socket.set_nonblocking(false)?)
    }

    /// Hands a packet to the connection; one that it cannot use is of no consequence.
    fn take(&mut self, packet: &mut [u8], from: SocketAddr) {
        let _ = self.connection.recv(packet, RecvInfo { from, to: self.local });
    }

    /// Sends all packets that are to go, each at its time.
    fn send(&mut self) -> Outcome<()> {
        let mut buffer = [0; DATAGRAM];
        loop {
            let (length, info) = match self.connection.send(&mut buffer) {
                Ok(sent) => sent,
                Err(quiche::Error::Done) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let wait = info.at.saturating_duration_since(Instant::now());
            if wait >= SHORTEST_WAIT {
                sleep(wait);
            }
            if self.socket.peer_addr().is_ok() {
                self.socket.send(&buffer[..length])?;
            } else {
                self.socket.send_to(&buffer[..length], info.to)?;
            }
        }
    }
}

fn is_no_packet(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// The server's end.
#[derive(Default)]
struct Serving {
    asked: Vec<u8>,
    content: Option<Content>,
    /// Bytes for the stream, and how many of them it has taken.
    piece: Vec<u8>,
    taken: usize,
    is_over: bool,
}

impl End for Serving {
    fn work(&mut self, connection: &mut Connection) -> Outcome<()> {
        let mut buffer = [0; 8];
        while let Ok((length, _)) = connection.stream_recv(STREAM, &mut buffer) {
            self.asked.extend_from_slice(&buffer[..length]);
        }
        if self.content.is_none() && self.asked.len() == buffer.len() {
            self.content =
                Some(Content::new(u64::from_be_bytes(self.asked.as_slice().try_into()?)));
        }
        let Some(content) = &mut self.content else { return Ok(()) };
        while !self.is_over {
            if self.taken == self.piece.len() {
                let Some(piece) = content.next()? else {
                    connection.stream_send(STREAM, b"", true)?;
                    self.is_over = true;
                    return Ok(());
                };
                (self.piece, self.taken) = (piece, 0);
            }
            match connection.stream_send(STREAM, &self.piece[self.taken..], false) {
                Ok(0) | Err(quiche::Error::Done) => return Ok(()),
                Ok(length) => self.taken += length,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The client's end.
struct Fetching {
    received: Received,
    size: u64,
    has_asked: bool,
    is_over: bool,
    pinged: Instant,
}

impl End for Fetching {
    fn work(&mut self, connection: &mut Connection) -> Outcome<()> {
        if !connection.is_established() || self.is_over {
            return Ok(());
        }
        if !self.has_asked {
            connection.stream_send(STREAM, &self.size.to_be_bytes(), true)?;
            self.has_asked = true;
        }
        if self.pinged.elapsed() >= KEEP_ALIVE {
            connection.send_ack_eliciting()?;
            self.pinged = Instant::now();
        }
        let mut buffer = [0; LARGEST];
        while let Ok((length, is_last)) = connection.stream_recv(STREAM, &mut buffer) {
            self.received.take(&buffer[..length]);
            if is_last {
                self.is_over = true;
                connection.close(true, 0, b"")?;
                return Ok(());
            }
        }
        Ok(())
    }
}
