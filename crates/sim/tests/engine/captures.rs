//! Captures hold every packet that an end of a flow sends or receives, at its time and in its length, and nothing else.

use std::fs::{File, read};
use std::path::Path;
use std::time::Duration;

use crate::common::{run_with, scenario, table};
use leobench_sim::capture::{CaptureOptions, DEFAULT_SNAPLEN};
use leobench_sim::record::{MemorySink, Table};
use leobench_sim::{Run, RunError, RunOptions};
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};

/// One flow of each transport over a path of two lossy links.
const NETWORK: &str = r#"
    name = "captured"
    duration = "2 s"
    record = { packets = true }
    [nodes.a]
    [nodes.b]
    [nodes.c]
    [links.first]
    between = ["a", "b"]
    rate = "8 Mbps"
    delay = "10 ms"
    queue = { kind = "fifo", limit = "20 packets" }
    loss = { kind = "bernoulli", probability = 0.01 }
    [links.second]
    between = ["b", "c"]
    rate = "6 Mbps"
    delay = "5 ms"
    queue = { kind = "fifo", limit = "20 packets" }
    [flows.tcp]
    transport = { kind = "tcp", ecn = true }
    from = "a"
    to = "c"
    source = { kind = "bulk", size = "300 kB" }
    [flows.quic]
    transport = "quic"
    from = "a"
    to = "c"
    source = { kind = "bulk", size = "300 kB" }
    [flows.udp]
    transport = "udp"
    from = "c"
    to = "a"
    source = { kind = "poisson", rate = "500 kbps", size = "3000 B" }
"#;

fn options(folder: &Path, snaplen: u32) -> RunOptions {
    let capture = Some(CaptureOptions { folder: folder.to_path_buf(), snaplen });
    RunOptions { capture, ..RunOptions::default() }
}

/// A packet in a capture.
#[derive(Debug)]
struct Captured {
    at: Duration,
    outbound: bool,
    length: u64,
    data: Vec<u8>,
}

impl Captured {
    /// The identification in its IPv4 header.
    fn id(&self) -> u16 {
        u16::from_be_bytes([self.data[4], self.data[5]])
    }
}

/// The packets of a file, and the names of its interface.
fn captured(file: &Path) -> (Vec<Captured>, [String; 2]) {
    let mut reader = PcapNgReader::new(File::open(file).unwrap()).unwrap();
    let (mut packets, mut names) = (Vec::new(), [const { String::new() }; 2]);
    while let Some(block) = reader.next_block() {
        match block.unwrap() {
            Block::InterfaceDescription(interface) => {
                assert_eq!(interface.linktype, DataLink::RAW);
                for option in interface.options {
                    match option {
                        InterfaceDescriptionOption::IfName(name) => names[0] = name.into_owned(),
                        InterfaceDescriptionOption::IfDescription(text) => {
                            names[1] = text.into_owned();
                        }
                        InterfaceDescriptionOption::IfTsResol(resolution) => {
                            assert_eq!(resolution, 9, "nanoseconds");
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
            Block::EnhancedPacket(packet) => packets.push(Captured {
                at: packet.timestamp,
                outbound: packet.options == [EnhancedPacketOption::Flags(2)],
                length: packet.original_len.into(),
                data: packet.data.into_owned(),
            }),
            other => panic!("{other:?}"),
        }
    }
    (packets, names)
}

#[test]
fn every_packet_of_an_end_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = run_with(&scenario(NETWORK), 3, options(folder.path(), 65_535));
    let recorded = table(&outcome, Table::Packets);
    for flow in &outcome.summary.flows {
        let file = |end: &str| folder.path().join(format!("{}-{end}.pcapng", flow.name));
        let ends = ["sender", "receiver"].map(|end| (end, captured(&file(end))));
        let [from, to] = if flow.name == "udp" { ["c", "a"] } else { ["a", "c"] };
        for ((end, (packets, names)), node) in ends.iter().zip([from, to]) {
            assert_eq!(*names, [node.to_owned(), format!("{end} of {}", flow.name)]);
            assert!(packets.is_sorted_by_key(|packet| packet.at));
            assert!(packets.iter().all(|packet| packet.data.len() as u64 == packet.length));
        }
        let [(_, (sender, _)), (_, (receiver, _))] = ends;
        let sent = sender.iter().filter(|packet| packet.outbound);
        assert_eq!(sent.count() as u64, flow.sent_packets);
        // What left an end and did not reach the other was dropped, or was on its way when the run ended.
        let event = recorded.texts("event").into_iter().zip(recorded.texts("flow"));
        let dropped = event.filter(|(event, of)| event == "drop" && *of == flow.name).count();
        let passed = |packets: &[Captured], outbound: bool| {
            packets.iter().filter(|packet| packet.outbound == outbound).count()
        };
        let lost_there = passed(&sender, true) - passed(&receiver, false);
        let lost_back = passed(&receiver, true) - passed(&sender, false);
        assert!(lost_there + lost_back >= dropped, "{}", flow.name);
        assert!(lost_there + lost_back <= dropped + 40, "{}", flow.name);
        // The same packet has the same number at both ends, in the table `packets` too.
        let mut arrived = receiver.iter().filter(|packet| !packet.outbound);
        let mut sent = sender.iter().filter(|packet| packet.outbound);
        assert!(arrived.all(|packet| sent.any(|sent| sent.id() == packet.id()
            && sent.length == packet.length
            && sent.at + Duration::from_millis(15) < packet.at)));
    }
    let first = captured(&folder.path().join("tcp-sender.pcapng")).0;
    let numbers = recorded.of("event", "enqueue", "packet");
    assert_eq!(i64::from(first[0].id()), numbers[0].unwrap());
    // SYN with the two bits that ask for ECN, and nothing else.
    assert_eq!(first[0].data[33], 0xc2);
}

#[test]
fn packets_are_cut_and_their_length_is_kept() {
    let folders = [DEFAULT_SNAPLEN, 65_535].map(|snaplen| {
        let folder = tempfile::tempdir().unwrap();
        run_with(&scenario(NETWORK), 3, options(folder.path(), snaplen));
        folder
    });
    for name in ["tcp-sender.pcapng", "quic-receiver.pcapng", "udp-sender.pcapng"] {
        let [(cut, _), (whole, _)] =
            folders.each_ref().map(|folder| captured(&folder.path().join(name)));
        assert_eq!(cut.len(), whole.len());
        for (cut, whole) in cut.iter().zip(&whole) {
            assert_eq!((cut.at, cut.length), (whole.at, whole.length));
            assert_eq!(cut.data, whole.data[..whole.data.len().min(128)]);
        }
    }
}

#[test]
fn captures_are_the_same_every_time() {
    let folders = [(); 2].map(|()| {
        let folder = tempfile::tempdir().unwrap();
        run_with(&scenario(NETWORK), 3, options(folder.path(), DEFAULT_SNAPLEN));
        folder
    });
    for flow in ["tcp", "quic", "udp"] {
        for end in ["sender", "receiver"] {
            let name = format!("{flow}-{end}.pcapng");
            let [one, other] =
                folders.each_ref().map(|folder| read(folder.path().join(&name)).unwrap());
            assert!(one.len() > 10_000 && one == other, "{name}");
        }
    }
}

/// A run dropped midway leaves captures that can be read up to then. Whenever the buffer is flushed, the file ends with
/// a whole block, so that a killed run leaves a readable file, too.
#[test]
fn a_run_given_up_leaves_files_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tcp-sender.pcapng");
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario(NETWORK), 3, options(folder.path(), 128), sink).unwrap();
    let mut seen = 0;
    for _ in 0..20 {
        run.advance(100).unwrap();
        let size = file.metadata().unwrap().len();
        if size > 0 {
            let packets = captured(&file).0.len();
            assert!(packets >= seen);
            seen = packets;
        }
    }
    drop(run);
    let packets = captured(&file).0.len();
    assert!(packets > seen && seen > 0, "{seen}, at last {packets}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let sink = Box::new(MemorySink::new().unwrap());
    let refused = Run::new(&scenario(NETWORK), 3, options(&missing, 128), sink);
    let said = refused.err().unwrap().to_string();
    let file = missing.join("tcp-sender.pcapng");
    let start = format!("the packet capture {} cannot be created: ", file.display());
    assert!(said.starts_with(&start), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_run_with_one_line() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("quic-receiver.pcapng")).unwrap();
    let sink = Box::new(MemorySink::new().unwrap());
    let mut run = Run::new(&scenario(NETWORK), 3, options(folder.path(), 128), sink).unwrap();
    let ended: Result<(), RunError> = run.to_end();
    assert_eq!(
        ended.unwrap_err().to_string(),
        "the packet capture quic-receiver.pcapng cannot be written: No space left on device (os error 28)"
    );
}
