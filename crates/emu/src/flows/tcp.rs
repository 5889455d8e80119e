//! An end of a flow over the kernel's TCP.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use leobench_base::spec::Window;
use leobench_base::{End, LogHistogram, SimDuration, SimTime, StreamIndex};
use leobench_sim::build::SocketRequest;
use leobench_transport::SendBuffer;
use leobench_transport::endpoint::{
    Endpoint, EndpointError, Event, Input, Loss, Outbox, PathSample, Report, Totals,
};
use leobench_transport::tcp::TcpSpec;
use rustix::io::Errno;
use rustix::net::{
    RecvFlags, SendFlags, Shutdown, SocketFlags, accept_with, connect, listen, recv, send,
    shutdown, sockopt,
};

use super::host::Host;
use super::kernel::{self, TcpInfo, TcpOption};
use super::ready::Watch;
use super::send_room::SendRoom;

/// Most bytes handed to the kernel or taken from it in a call.
const PIECE: usize = 1 << 18;
/// The application's bytes.
static ZEROS: [u8; PIECE] = [0; PIECE];
/// Bytes of the options that every segment has if there are timestamps.
const TIMESTAMPS: u32 = 12;

/// One end of a flow over a TCP connection of the kernel.
///
/// Bytes are counted and not looked at: what arrives is discarded in the kernel. The sender's messages wait in the
/// application's buffer until the kernel takes them.
pub(super) struct KernelTcp {
    remote: SocketAddr,
    start: SimTime,
    watch: Watch,
    stage: Stage,
    /// The application's messages, if this end sends.
    buffer: Option<SendBuffer>,
    send_room: SendRoom,
    /// Whether the application has written its last message, and the kernel knows.
    finished: bool,
    closed: bool,
    /// Bytes received in order.
    received: u64,
    room: Vec<u8>,
    monitor: Monitor,
    loss: Option<Loss>,
}

enum Stage {
    /// A client before its start.
    Waiting(OwnedFd),
    /// A server before the connection.
    Listening(OwnedFd),
    /// A client whose handshake is under way.
    Connecting(OwnedFd),
    /// There is a connection.
    Open(OwnedFd),
    /// The connection was lost.
    Lost,
}

/// Periodic samples of a connection.
#[derive(Default)]
struct Monitor {
    interval: SimDuration,
    next: SimTime,
    info: TcpInfo,
    rtts: LogHistogram,
    congestion_events: u64,
}

impl KernelTcp {
    /// An end before its connection; a server can be connected to from now on.
    pub(super) fn new(
        request: &SocketRequest<'_>,
        spec: &TcpSpec,
        host: &Arc<Host>,
        watch: Watch,
        interval: SimDuration,
    ) -> io::Result<Self> {
        let [local, remote] = request.addresses;
        let socket = host.tcp(local)?;
        configure(&socket, spec)?;
        let send_room = SendRoom::new(&socket, spec);
        let stage = if request.opens() {
            Stage::Waiting(socket)
        } else {
            listen(&socket, 1)?;
            watch.add(&socket)?;
            Stage::Listening(socket)
        };
        let sends = request.end == End::Sender;
        Ok(Self {
            remote,
            start: SimTime::ZERO + request.spec.start,
            watch,
            stage,
            buffer: sends.then(|| SendBuffer::new(&request.spec.attributes())),
            send_room,
            finished: false,
            closed: false,
            received: 0,
            room: vec![0; if sends { TIMESTAMPS as usize } else { PIECE }],
            monitor: Monitor { interval, ..Monitor::default() },
            loss: None,
        })
    }

    /// Goes on towards a connection as far as it can.
    fn open(&mut self, now: SimTime, outbox: &mut Outbox) -> Result<(), Errno> {
        let stage = std::mem::replace(&mut self.stage, Stage::Lost);
        self.stage = match stage {
            Stage::Waiting(socket) if now >= self.start => {
                self.watch.add(&socket).map_err(|_| Errno::MFILE)?;
                match connect(&socket, &self.remote) {
                    Ok(()) | Err(Errno::INPROGRESS) => Stage::Connecting(socket),
                    Err(error) => return Err(error),
                }
            }
            Stage::Listening(socket) => {
                let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
                match accept_with(&socket, flags) {
                    Ok(accepted) => {
                        self.watch.add(&accepted).map_err(|_| Errno::MFILE)?;
                        outbox.events.push(established());
                        Stage::Open(accepted)
                    }
                    Err(Errno::AGAIN | Errno::INTR) => Stage::Listening(socket),
                    Err(error) => return Err(error),
                }
            }
            Stage::Connecting(socket) => {
                sockopt::socket_error(&socket)??;
                // Only a connection has a peer.
                if rustix::net::getpeername(&socket).is_ok() {
                    outbox.events.push(established());
                    Stage::Open(socket)
                } else {
                    Stage::Connecting(socket)
                }
            }
            stage => stage,
        };
        Ok(())
    }

    /// Takes what has arrived.
    fn read(&mut self, outbox: &mut Outbox) -> Result<(), Errno> {
        let Stage::Open(socket) = &self.stage else { return Ok(()) };
        let before = self.received;
        loop {
            // For TCP, "truncated" bytes are discarded without being copied.
            match recv(socket, &mut self.room[..], RecvFlags::TRUNC) {
                Ok((_, 0)) | Err(Errno::AGAIN) => break,
                Ok((_, count)) => self.received += count as u64,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        if self.received > before {
            outbox
                .reports
                .push(Report::Delivered { stream: StreamIndex::FIRST, offset: self.received });
        }
        Ok(())
    }

    /// Hands over what the application has written.
    fn write(&mut self, outbox: &mut Outbox) -> Result<(), Errno> {
        let (Stage::Open(socket), Some(buffer)) = (&self.stage, &mut self.buffer) else {
            return Ok(());
        };
        let before = buffer.taken();
        while buffer.backlog() > 0 && self.send_room.opens(socket, buffer.taken())? {
            let piece = usize::try_from(buffer.backlog()).map_or(PIECE, |left| left.min(PIECE));
            match send(socket, &ZEROS[..piece], SendFlags::NOSIGNAL) {
                Ok(count) => buffer.take(StreamIndex::FIRST, count as u64),
                Err(Errno::AGAIN) => {
                    self.send_room.fill();
                    break;
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        let offset = buffer.taken();
        if offset > before {
            outbox.reports.push(Report::Room { stream: StreamIndex::FIRST, offset });
            outbox.reports.push(Report::Sent { stream: StreamIndex::FIRST, offset });
        }
        if self.finished && !self.closed && buffer.backlog() == 0 {
            self.closed = true;
            shutdown(socket, Shutdown::Write)?;
        }
        Ok(())
    }

    fn act(&mut self, now: SimTime, outbox: &mut Outbox) -> Result<(), Errno> {
        self.open(now, outbox)?;
        self.read(outbox)?;
        self.write(outbox)?;
        let Stage::Open(socket) = &self.stage else { return Ok(()) };
        if now >= self.monitor.next {
            self.monitor.look(now, TcpInfo::of(socket).map_err(|_| Errno::NOTCONN)?);
        }
        Ok(())
    }

    fn info(&self) -> Option<TcpInfo> {
        match &self.stage {
            Stage::Open(socket) => TcpInfo::of(socket).ok(),
            _ => None,
        }
    }
}

impl Monitor {
    /// Takes in the state at `now`. A smoothed round-trip time counts if anything was acknowledged since the last one.
    fn look(&mut self, now: SimTime, info: TcpInfo) {
        const CALM: u8 = 2;
        if info.bytes_acked > self.info.bytes_acked && !info.smoothed_rtt.is_zero() {
            self.rtts.record(info.smoothed_rtt.as_nanos());
        }
        let was_calm = self.info.congestion_state < CALM;
        self.congestion_events += u64::from(was_calm && info.congestion_state >= CALM);
        self.info = info;
        self.next = now + self.interval;
    }
}

impl Endpoint for KernelTcp {
    fn input(&mut self, now: SimTime, input: Input<'_>) -> Result<(), EndpointError> {
        match input {
            Input::Message { stream, message } => {
                if let Some(buffer) = &mut self.buffer {
                    buffer.push(stream, message);
                }
            }
            Input::Datagram { .. } => return Err(EndpointError::no_datagrams(now)),
            Input::Finish => self.finished = true,
            // Packets are the kernel's affair, which learns of its devices by itself.
            Input::Packet(_)
            | Input::Open { .. }
            | Input::Interface(_)
            | Input::Carrier(_)
            | Input::Forecast(_)
            | Input::InterfaceForecast(_)
            | Input::Access(_) => {}
        }
        Ok(())
    }

    fn poll(
        &mut self,
        now: SimTime,
        outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        if let Err(error) = self.act(now, outbox) {
            let loss = Loss { at: now, reason: error.to_string() };
            outbox.events.push(loss.event());
            (self.loss, self.stage) = (Some(loss), Stage::Lost);
        }
        Ok(match &self.stage {
            Stage::Waiting(_) => Some(self.start.max(now)),
            Stage::Open(_) => Some(self.monitor.next),
            Stage::Listening(_) | Stage::Connecting(_) | Stage::Lost => None,
        })
    }

    fn sample_paths(&self, _now: SimTime, samples: &mut Vec<PathSample>) {
        let Some(info) = self.info() else { return };
        samples.push(PathSample {
            cwnd: info.window,
            ssthresh: info.threshold,
            in_flight: Some(info.in_flight),
            smoothed_rtt: Some(info.smoothed_rtt).filter(|rtt| !rtt.is_zero()),
            pacing: info.pacing,
            phase: info.phase(),
            totals: self.monitor.totals(&info),
            ..PathSample::default()
        });
    }

    fn send_buffer(&self) -> Option<&SendBuffer> {
        self.buffer.as_ref()
    }

    fn totals(&self) -> Totals {
        self.monitor.totals(&self.info().unwrap_or(self.monitor.info))
    }

    fn rtts(&self) -> LogHistogram {
        self.monitor.rtts.clone()
    }

    fn lost(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }
}

impl Monitor {
    /// The kernel's counters. It does not report which segments it declared lost, so those that it sent again count as
    /// lost.
    fn totals(&self, info: &TcpInfo) -> Totals {
        Totals {
            sent_packets: info.segments_sent,
            sent_bytes: info.bytes_sent,
            received_packets: info.segments_received,
            acked_bytes: info.bytes_acked,
            lost_packets: info.segments_repeated,
            lost_bytes: info.bytes_repeated,
            retransmitted_bytes: info.bytes_repeated,
            retransmitted_packets: info.segments_repeated,
            reinjected_bytes: leobench_base::Bytes::ZERO,
            congestion_events: self.congestion_events,
            timeouts: info.timeouts,
            spurious_losses: info.duplicates,
            undos: 0,
            ecn_marks: info.marks,
        }
    }
}

/// Tells a socket what the scenario says.
fn configure(socket: &OwnedFd, spec: &TcpSpec) -> io::Result<()> {
    let name = kernel::congestion_name(&spec.congestion);
    sockopt::set_tcp_congestion(socket, name).map_err(|error| {
        io::Error::new(error.kind(), format!("congestion control {name}: {error}"))
    })?;
    sockopt::set_tcp_nodelay(socket, !spec.nagle)?;
    let options = if spec.timestamps { TIMESTAMPS } else { 0 };
    let segment = u32::try_from(spec.mss.get()).unwrap_or(u32::MAX - options) + options;
    kernel::set(socket, TcpOption::MaxSegment(segment))?;
    if let Window::Bytes(bytes) = spec.notsent_lowat {
        let bytes = u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        kernel::set(socket, TcpOption::NotSentLowAt(bytes))?;
    }
    if spec.pacing {
        kernel::set(socket, TcpOption::Paced)?;
    }
    Ok(())
}

fn established() -> Event {
    Event { kind: "established", detail: String::new() }
}
