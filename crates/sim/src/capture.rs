//! Packet captures: what each end of every flow sends and receives, as a program such as `tcpdump` on its host would have
//! recorded it, in files of the format pcapng (draft-ietf-opsawg-pcapng).
//!
//! A packet that an end sends is recorded before the queue of its first link, one that it receives as it arrives, both at
//! virtual time: 1970-01-01 00:00:00 UTC is the start of the run. The files hold IP packets without a link header.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use leobench_base::wire::{self, WireError};
use leobench_base::{EndpointId, Packet, SimTime};
use leobench_quic::KeyLog;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use typed_index_collections::TiVec;

/// Bytes kept of a packet unless somebody asks for more or less: the headers of IP and TCP at their longest, 100 bytes, and
/// the start of what they carry.
pub const DEFAULT_SNAPLEN: u32 = 128;

/// Timestamps count nanoseconds: 10 to the minus ninth of a second (option `if_tsresol`).
const NANOSECONDS: u8 = 9;

/// Name of the file with the secrets of TLS, in the format of an NSS key log, as Wireshark reads it.
pub const SECRETS: &str = "tls-secrets.log";

/// Destination of packet captures, and the bytes kept of each packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOptions {
    /// A folder, which must exist: `<flow>-sender.pcapng` and `<flow>-receiver.pcapng` for every flow, and [`SECRETS`] if packets
    /// are encrypted.
    pub folder: PathBuf,
    /// Bytes kept of every packet; how long it was stands beside them.
    pub snaplen: u32,
}

/// Which way a packet passes the interface; the values of the option `epb_flags`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It comes in.
    Inbound = 0b01,
    /// It goes out.
    Outbound = 0b10,
}

/// Why there is no capture.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// Its file cannot be created.
    #[error("the packet capture {} cannot be created: {error}", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It cannot be written.
    #[error("the packet capture {name} cannot be written: {error}")]
    Write {
        /// Name of the file.
        name: String,
        /// Why not.
        error: io::Error,
    },
    /// A packet has no form on the wire.
    #[error("the packet capture {name} cannot hold packet {packet}: {error}")]
    Packet {
        /// Name of the file.
        name: String,
        /// Number of the packet.
        packet: u64,
        /// Why not.
        error: WireError,
    },
}

/// The secrets of the connections of a run, by which their captures can be decrypted. All share a file, which exists once there
/// is a connection with secrets.
#[derive(Clone, Debug)]
pub struct Secrets {
    path: PathBuf,
    file: Arc<Mutex<Option<SecretsFile>>>,
}

#[derive(Debug)]
struct SecretsFile {
    file: File,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

impl Secrets {
    fn new(folder: &Path) -> Self {
        Self { path: folder.join(SECRETS), file: Arc::default() }
    }

    /// Returns a writer for the key-log lines of a connection. It writes each of the few lines at once, so that they can be read
    /// while the connection goes on.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn log(&self) -> Result<KeyLog, CaptureError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(SecretsFile { file: create(&self.path)?, error: None });
        }
        let shared = Arc::clone(&self.file);
        Ok(Arc::new(move |line| {
            let mut file = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(SecretsFile { file, error: error @ None }) = &mut *file {
                *error = file.write_all(format!("{line}\n").as_bytes()).err();
            }
        }))
    }

    fn finish(&self) -> Result<(), CaptureError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match file.as_mut().and_then(|file| file.error.take()) {
            Some(error) => Err(CaptureError::Write { name: SECRETS.to_owned(), error }),
            None => Ok(()),
        }
    }
}

/// The captures of a run, one per endpoint.
pub struct Captures {
    secrets: Secrets,
    ends: TiVec<EndpointId, CaptureFile>,
    snaplen: usize,
    /// The packet at hand, whole.
    bytes: Vec<u8>,
}

/// The capture of one interface, in a file.
pub struct CaptureFile {
    name: String,
    file: BufWriter<File>,
    /// Puts together the next block, which then goes to the file as a whole: whatever ends a run, no file ends within one
    /// unless the disk is full.
    block: PcapNgWriter<Vec<u8>>,
}

impl Captures {
    /// Creates the files of all `flows`, named with the nodes of their senders and receivers.
    ///
    /// # Errors
    /// If one cannot be created.
    pub fn new<'a>(
        options: &CaptureOptions,
        flows: impl Iterator<Item = (&'a str, [&'a str; 2])>,
    ) -> Result<Self, CaptureError> {
        let mut ends = TiVec::new();
        for (flow, nodes) in flows {
            for (end, node) in ["sender", "receiver"].into_iter().zip(nodes) {
                let (name, description) =
                    (format!("{flow}-{end}.pcapng"), format!("{end} of {flow}"));
                ends.push(CaptureFile::create(options, name, node, description)?);
            }
        }
        let secrets = Secrets::new(&options.folder);
        Ok(Self { secrets, ends, snaplen: options.snaplen as usize, bytes: Vec::new() })
    }

    /// Returns the log of the secrets of encrypted connections.
    pub fn secrets(&self) -> Secrets {
        self.secrets.clone()
    }

    /// Records a packet at an endpoint.
    ///
    /// # Errors
    /// If it has no form on the wire, or cannot be written.
    pub fn record(
        &mut self,
        now: SimTime,
        endpoint: EndpointId,
        passage: Passage,
        packet: &Packet,
    ) -> Result<(), CaptureError> {
        let capture = &mut self.ends[endpoint];
        self.bytes.clear();
        if let Err(error) = wire::write(packet, &mut self.bytes) {
            let (name, packet) = (capture.name.clone(), packet.meta.id);
            return Err(CaptureError::Packet { name, packet, error });
        }
        debug_assert_eq!(self.bytes.len() as u64, packet.meta.size.get(), "{packet:?}");
        let kept = self.bytes.len().min(self.snaplen);
        capture.packet(&CapturedPacket {
            at: Duration::from_nanos(now.as_nanos()),
            passage,
            size: self.bytes.len() as u32,
            bytes: &self.bytes[..kept],
            comment: None,
        })
    }

    /// Completes the files.
    ///
    /// # Errors
    /// If what is still buffered cannot be written.
    pub fn finish(self) -> Result<(), CaptureError> {
        self.secrets.finish()?;
        self.ends.into_iter().try_for_each(CaptureFile::finish)
    }
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub struct CapturedPacket<'a> {
    /// When it passed the interface, since 1970-01-01 00:00:00 UTC.
    pub at: Duration,
    /// Which way.
    pub passage: Passage,
    /// Its length in bytes.
    pub size: u32,
    /// The bytes that are kept of it.
    pub bytes: &'a [u8],
    /// A remark about it.
    pub comment: Option<&'a str>,
}

impl CaptureFile {
    /// Creates a file of this name for the interface of a node.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(
        options: &CaptureOptions,
        name: String,
        node: &str,
        description: String,
    ) -> Result<Self, CaptureError> {
        let file = create(&options.folder.join(&name))?;
        let mut capture = Self { name, file: BufWriter::new(file), block: section() };
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: options.snaplen,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(node)),
                InterfaceDescriptionOption::IfDescription(Cow::Owned(description)),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        capture.write(|writer| writer.write_pcapng_block(interface).map(drop))?;
        Ok(capture)
    }

    /// Appends a packet.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), CaptureError> {
        let CapturedPacket { at: timestamp, passage, size: original_len, bytes, comment } = *packet;
        let mut options = vec![EnhancedPacketOption::Flags(passage as u32)];
        options.extend(comment.map(|text| EnhancedPacketOption::Comment(Cow::Borrowed(text))));
        let data = Cow::Borrowed(bytes);
        let block = EnhancedPacketBlock { interface_id: 0, timestamp, original_len, data, options };
        self.write(|writer| writer.write_pcapng_block(block).map(drop))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If what is still buffered cannot be written.
    pub fn finish(mut self) -> Result<(), CaptureError> {
        self.file.flush().map_err(|error| CaptureError::Write { name: self.name, error })
    }

    /// Writes what `put` makes, and what was made before.
    fn write(
        &mut self,
        put: impl FnOnce(&mut PcapNgWriter<Vec<u8>>) -> Result<(), PcapError>,
    ) -> Result<(), CaptureError> {
        put(&mut self.block).expect("blocks made here are sound, and memory takes them");
        let bytes = self.block.get_mut();
        let written = self.file.write_all(bytes);
        bytes.clear();
        written.map_err(|error| CaptureError::Write { name: self.name.clone(), error })
    }
}

fn create(path: &Path) -> Result<File, CaptureError> {
    File::create(path).map_err(|error| CaptureError::Create { path: path.into(), error })
}

/// The start of a file; little-endian on every machine, so that the bytes are the same.
fn section() -> PcapNgWriter<Vec<u8>> {
    let application = concat!("leobench ", env!("CARGO_PKG_VERSION"));
    let section = SectionHeaderBlock {
        endianness: Endianness::Little,
        options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(application))],
        ..SectionHeaderBlock::default()
    };
    PcapNgWriter::with_section_header(Vec::new(), section).expect("memory takes it")
}
