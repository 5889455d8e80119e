//! Captures at the hosts of programs, with the truth about each packet as its comment.
//!
//! A [`Tap`] follows the packets for the network. It copies them into a [`Chunk`], which goes to a thread over a queue of limited
//! length: the driver never waits for the disk. The thread's [`Ways`] puts together what happened to each packet, and its files get the
//! packets in the order of time. A packet's fate is known only once it has left, so packets wait there until all that came in
//! before them are done, or until they take [`MOST_HELD`]. Packets that find no room, at either place, are counted.

mod tap;
mod ways;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{io, mem};

use leobench_base::{DirectionId, PortId, SimTime};
use leobench_sim::capture::{CaptureError, CaptureFile, CaptureOptions, CapturedPacket};
use leobench_sim::record::PacketRow;

pub(crate) use self::tap::Tap;
use self::ways::{Ways, Written};
use crate::clock::WallClock;

/// Chunks that wait for the thread at most: some 30 MB with what they hold.
const MOST_CHUNKS: usize = 32;

/// Bytes of packets and comments that the thread keeps at most until their order is known.
const MOST_HELD: usize = 64 << 20;

/// Events of packets, on their way to the thread.
#[derive(Debug, Default)]
struct Chunk {
    events: Vec<Event>,
    /// The kept bytes of the packets, one behind the other.
    bytes: Vec<u8>,
    /// Whether events before these had to be left out.
    follows_gap: bool,
}

/// An event of a packet or a channel.
#[derive(Debug)]
enum Event {
    /// The names of directions and nodes.
    Names { directions: Vec<String>, nodes: Vec<String> },
    /// A packet came in, by a port if a host has sent it.
    Entered { at: SimTime, packet: u64, port: Option<PortId>, copy: Copied },
    /// A packet left by a port.
    Left { at: SimTime, packet: u64, port: PortId, copy: Copied },
    /// Something happened to a packet on its way.
    Row { at: SimTime, row: PacketRow },
    /// A channel is in another state.
    Channel { at: SimTime, direction: DirectionId, label: String },
}

/// The copy of a packet: its length, and how many bytes of a chunk it has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Copied {
    size: u32,
    kept: u32,
}

/// Totals of the captures of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct CaptureTotals {
    /// Packets in the files, those of both ends.
    pub packets: u64,
    /// Packets that are not in a file, as the thread could not keep up.
    pub left_out: u64,
    /// Packets in the files whose way was not known to the end.
    pub unfinished: u64,
    /// Processor time of the thread, in seconds.
    pub cpu_s: f64,
}

impl CaptureTotals {
    /// A warning unless the captures are whole.
    pub(crate) fn warning(&self) -> Option<String> {
        let count = self.left_out;
        (count > 0).then(|| {
            format!(
                "captures lack {count} packets, as they could not be written as fast as they came"
            )
        })
    }
}

/// The captures of a session, while it runs.
pub(crate) struct HostCaptures {
    thread: JoinHandle<Result<CaptureTotals, CaptureError>>,
    left_out: Arc<AtomicU64>,
}

impl HostCaptures {
    /// Creates a file for each of the hosts, in the order of their ports, and starts the thread.
    ///
    /// # Errors
    /// If a file cannot be created, or there can be no more threads.
    pub(crate) fn start(
        options: &CaptureOptions,
        hosts: &[String],
        clock: WallClock,
    ) -> Result<(Self, Tap), io::Error> {
        let file = |host: &String| {
            CaptureFile::create(options, format!("{host}.pcapng"), host, format!("host {host}"))
        };
        let files = hosts.iter().map(file).collect::<Result<Vec<_>, _>>();
        let files = files.map_err(io::Error::other)?;
        let (full, chunks) = sync_channel(MOST_CHUNKS);
        let (give_back, empty) = channel();
        let left_out = Arc::<AtomicU64>::default();
        let work = move || write(&chunks, &give_back, files, &clock);
        let thread = thread::Builder::new().name("captures".into()).spawn(work)?;
        let tap = Tap::new(options.snaplen as usize, full, empty, Arc::clone(&left_out));
        Ok((Self { thread, left_out }, tap))
    }

    /// Waits until everything is written, once the network and its tap are gone.
    ///
    /// # Errors
    /// If a file could not be written.
    pub(crate) fn finish(self) -> Result<CaptureTotals, io::Error> {
        let ended = self.thread.join();
        let totals = ended.map_err(|_| io::Error::other("the thread of the captures failed"))?;
        let totals = totals.map_err(io::Error::other)?;
        Ok(CaptureTotals { left_out: self.left_out.load(Ordering::Relaxed), ..totals })
    }
}

/// The work of the thread.
fn write(
    chunks: &Receiver<Chunk>,
    give_back: &Sender<Chunk>,
    mut files: Vec<CaptureFile>,
    clock: &WallClock,
) -> Result<CaptureTotals, CaptureError> {
    let mut ways = Ways::new(MOST_HELD);
    let mut totals = CaptureTotals::default();
    let mut put = |written: &Written, epoch: Duration| {
        totals.packets += 1;
        totals.unfinished += u64::from(!written.is_finished);
        files[written.port.index()].packet(&CapturedPacket {
            at: epoch + Duration::from_nanos(written.at.as_nanos()),
            passage: written.passage,
            size: written.size,
            bytes: &written.bytes,
            comment: Some(&written.comment),
        })
    };
    while let Ok(mut chunk) = chunks.recv() {
        let epoch = Duration::from_nanos(clock.started().unix_ns);
        ways.take(&chunk);
        chunk.events.clear();
        chunk.bytes.clear();
        // The tap is gone at the end.
        _ = give_back.send(mem::take(&mut chunk));
        ways.settled().try_for_each(|written| put(&written, epoch))?;
    }
    let epoch = Duration::from_nanos(clock.started().unix_ns);
    ways.finish().try_for_each(|written| put(&written, epoch))?;
    totals.cpu_s = crate::clock::cpu_time().as_secs_f64();
    files.into_iter().try_for_each(CaptureFile::finish)?;
    Ok(totals)
}

#[cfg(test)]
mod tests;
