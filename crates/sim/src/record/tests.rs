use leobench_base::{BitRate, Bytes, FlowId, LinkId, SimDuration, SimTime, StreamIndex};
use leobench_link::{Backlog, Cause};
use leobench_transport::buffer::{Attributes, Message, SendBuffer};
use leobench_transport::endpoint::{PathId, PathSample, Totals};
use parquet::basic::{LogicalType, Type};

use super::frame::Frame;
use super::rows::BATCH_ROWS;
use super::*;
use crate::topology::{Access, HandoverStage, Stage, TransitWay};

const SETTINGS: RecordSettings = RecordSettings {
    flows: usize::MAX,
    interval: SimDuration::from_millis(10),
    messages: true,
    series: true,
    packets: true,
};

fn names() -> Names {
    let streams = vec!["audio".to_owned(), "video".to_owned()];
    Names {
        flows: vec![FlowNames { name: "call".to_owned(), streams }].into(),
        directions: vec!["uplink/a->b".to_owned(), "uplink/b->a".to_owned()].into(),
        links: vec!["uplink".to_owned(), "other".to_owned()].into(),
        nodes: vec!["a".to_owned(), "b".to_owned()].into(),
        topologies: vec!["moves".to_owned()],
        satellites: vec!["one/0-0".to_owned(), "one/0-1".to_owned()],
        stations: vec!["van".to_owned(), "turin".to_owned()],
    }
}

fn in_memory(settings: RecordSettings) -> Recorder {
    Recorder::new(settings, names(), Box::new(MemorySink::new().unwrap()))
}

fn ms(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A row into every table, all distinguishable, with and without what may be missing.
fn record_everything(recorder: &mut Recorder) -> Result<(), SinkError> {
    let (call, [up, down]) = (FlowId::from(0), LinkId::from(0).directions());
    let message = MessageRow {
        stream: 1.into(),
        number: 3,
        size: Bytes::new(700),
        created: ms(1),
        first_sent: Some(ms(2)),
        delivered: Some(ms(40)),
    };
    recorder.message(call, &message)?;
    recorder
        .message(call, &MessageRow { number: 4, first_sent: None, delivered: None, ..message })?;
    let sample = PathSample {
        path: PathId(2),
        cwnd: Bytes::new(12_000),
        ssthresh: Some(Bytes::new(9_000)),
        in_flight: Some(Bytes::new(5_000)),
        smoothed_rtt: Some(SimDuration::from_millis(30)),
        latest_rtt: Some(SimDuration::from_millis(31)),
        pacing: Some(BitRate::from_bps(4_000_000)),
        phase: "avoidance",
        totals: Totals {
            sent_bytes: Bytes::new(11),
            acked_bytes: Bytes::new(12),
            lost_bytes: Bytes::new(13),
            retransmitted_bytes: Bytes::new(14),
            ..Totals::default()
        },
    };
    recorder.transport(ms(10), call, &sample)?;
    recorder.transport(ms(20), call, &PathSample { phase: "start", ..PathSample::default() })?;
    let mut buffer = SendBuffer::new(&[Attributes::default(); 2]);
    buffer.push(1.into(), Message { size: Bytes::new(500), created: ms(4) });
    buffer.push(1.into(), Message { size: Bytes::new(600), created: ms(7) });
    recorder.stream(ms(10), call, 1.into(), &buffer.streams()[StreamIndex::from(1)])?;
    recorder.queue(ms(10), down, Backlog { packets: 3, bytes: Bytes::new(4_500) })?;
    recorder.opportunities(ms(10), down, Bytes::new(6_000))?;
    let channel = ChannelRow {
        rate: Some(BitRate::from_bps(45_000_000)),
        delay: SimDuration::from_millis(15),
        loss: 0.25,
        up: true,
        label: "line-of-sight",
    };
    recorder.channel(ms(0), up, &channel)?;
    recorder.channel(ms(5), down, &ChannelRow { rate: None, up: false, ..channel })?;
    let base_rtt = SimDuration::from_millis(30);
    recorder.path(ms(0), call, PathId(0), Some(base_rtt), Some(BitRate::from_bps(45_000_000)))?;
    recorder.path(ms(5), call, PathId(1), Some(base_rtt), None)?;
    recorder.event(ms(6), "congestion", "call", "window halved")?;
    let packet = PacketRow {
        packet: 9,
        location: Location::Link(up),
        event: PacketEvent::Enqueue,
        size: Bytes::new(1_280),
        flow: Some(call),
        queued: None,
    };
    recorder.packet(ms(6), &packet)?;
    let queued = Some(SimDuration::from_micros(250));
    recorder.packet(ms(7), &PacketRow { event: PacketEvent::Deliver, queued, ..packet })?;
    let mark = PacketEvent::Mark(Cause::new("pie"));
    recorder.packet(ms(7), &PacketRow { event: mark, ..packet })?;
    let drop = PacketEvent::Drop(Cause::MTU);
    recorder.packet(ms(8), &PacketRow { event: drop, flow: None, ..packet })?;
    let drop = PacketEvent::Drop(Cause::NO_ROUTE);
    recorder
        .packet(ms(9), &PacketRow { event: drop, location: Location::Node(1.into()), ..packet })?;
    recorder.route(ms(0), call, "there", Some(&[up, down]))?;
    recorder.route(ms(5), call, "back", None)?;
    let (from, to) = (Access::Link(0.into()), Access::Link(1.into()));
    let stage =
        HandoverStage { number: 3, node: 1.into(), from, to, overlaps: false, stage: Stage::Begin };
    recorder.handover(ms(9), 0, &stage)
}

/// The rows recorded by [`record_everything`], as a person would write them.
const EVERYTHING: [(Table, &[&str]); 11] = [
    (
        Table::Messages,
        &["call video 3 700 1000000 2000000 40000000", "call video 4 700 1000000 - -"],
    ),
    (
        Table::Transport,
        &[
            "10000000 call 2 12000 9000 5000 30000000 31000000 4000000 avoidance 11 12 13 14",
            "20000000 call 0 0 - - - - - start 0 0 0 0",
        ],
    ),
    (Table::Streams, &["10000000 call video 1100 6000000 9000000"]),
    (Table::Queues, &["10000000 uplink/b->a 4500 3"]),
    (
        Table::Channel,
        &[
            "0 uplink/a->b 45000000 15000000 0.25 true line-of-sight",
            "5000000 uplink/b->a - 15000000 0.25 false line-of-sight",
        ],
    ),
    (Table::Paths, &["0 call 0 30000000 45000000", "5000000 call 1 30000000 -"]),
    (Table::Events, &["6000000 congestion call window halved"]),
    (
        Table::Packets,
        &[
            "6000000 9 uplink/a->b enqueue - 1280 call -",
            "7000000 9 uplink/a->b deliver - 1280 call 250000",
            "7000000 9 uplink/a->b mark pie 1280 call -",
            "8000000 9 uplink/a->b drop mtu 1280 - -",
            "9000000 9 b drop no_route 1280 call -",
        ],
    ),
    (Table::Opportunities, &["10000000 uplink/b->a 6000"]),
    (Table::Routes, &["0 call there uplink/a->b uplink/b->a", "5000000 call back -"]),
    (Table::Handovers, &["9000000 moves 3 b uplink other begin"]),
];

fn bytes(table: &StoredTable) -> Vec<u8> {
    match &table.stored {
        Stored::Memory(bytes) => bytes.clone(),
        Stored::File(path) => std::fs::read(path).unwrap(),
        Stored::Columns(_) => panic!("only the sinks of Parquet files are tested here"),
    }
}

fn show<T: ToString>(values: Vec<Option<T>>) -> Vec<String> {
    let cell = |value: Option<T>| value.map_or("-".to_owned(), |value| value.to_string());
    values.into_iter().map(cell).collect()
}

/// The rows of a stored table, as a person would write them.
fn rows(table: &StoredTable) -> Vec<String> {
    let frame = Frame::read(&bytes(table));
    let cells = |column: &Column| match column.kind {
        ColumnKind::Integer => show(frame.maybe_integers(column.name)),
        ColumnKind::Float => show(frame.maybe_floats(column.name)),
        ColumnKind::Flag => show(frame.maybe_flags(column.name)),
        ColumnKind::Text => show(frame.maybe_texts(column.name)),
    };
    let columns: Vec<_> = table.table.columns().iter().map(cells).collect();
    let row = |row: usize| columns.iter().map(|cells| cells[row].as_str()).collect::<Vec<_>>();
    (0..frame.rows()).map(|number| row(number).join(" ")).collect()
}

#[test]
fn every_column_holds_what_it_is_named_after() {
    let mut recorder = in_memory(SETTINGS);
    record_everything(&mut recorder).unwrap();
    let tables = recorder.finish().unwrap();
    for (stored, (table, expected)) in tables.iter().zip(EVERYTHING) {
        assert_eq!(stored.table, table);
        assert_eq!(rows(stored), expected, "{}", table.name());
    }
}

/// A run may have ways without any packet, and a packet's hop before the first batch of ways is full.
#[test]
fn tables_of_the_network_in_orbit_are_there_once_they_have_rows() {
    let [up, down] = LinkId::from(0).directions();
    let way = TransitWay {
        stations: [0, 1],
        satellites: vec![1, 0],
        delay: SimDuration::from_micros(4_200),
    };
    let mut recorder = in_memory(SETTINGS);
    recorder.way(ms(0), up, Some(&way)).unwrap();
    recorder.way(ms(9), down, None).unwrap();
    let tables = recorder.finish().unwrap();
    let [ways] = &tables[Table::ALL.len()..] else { panic!("{} tables", tables.len()) };
    assert_eq!(ways.table, Table::Ways);
    let expected =
        ["0 uplink/a->b van one/0-1->one/0-0 turin 1 4200000", "9000000 uplink/b->a - - - - -"];
    assert_eq!(rows(ways), expected);

    let mut recorder = in_memory(SETTINGS);
    for _ in 0..BATCH_ROWS {
        recorder.way(ms(1), up, Some(&way)).unwrap();
    }
    let backlog = Backlog { packets: 2, bytes: Bytes::new(1_500) };
    let (sent, busy) = (Bytes::new(9_000), SimDuration::from_micros(70));
    let hop = HopRow { name: "up/van", backlog, sent, busy, dropped: 6 };
    recorder.hop(ms(2), &hop).unwrap();
    let tables = recorder.finish().unwrap();
    let [ways, hops] = &tables[Table::ALL.len()..] else { panic!("{} tables", tables.len()) };
    assert_eq!((ways.table, hops.table), (Table::Ways, Table::Hops));
    assert_eq!(rows(ways).len(), BATCH_ROWS);
    assert_eq!(rows(hops), ["2000000 up/van 1500 2 9000 70000 6"]);
}

#[test]
fn tables_without_rows_are_there_with_their_columns() {
    let tables = in_memory(SETTINGS).finish().unwrap();
    assert_eq!(tables.len(), Table::ALL.len());
    for table in tables {
        assert_eq!(rows(&table), [""; 0], "{}", table.table.name());
        let frame = Frame::read(&bytes(&table));
        for (found, column) in frame.columns().into_iter().zip(table.table.columns()) {
            let (kind, logical) = match column.kind {
                ColumnKind::Integer => (Type::INT64, None),
                ColumnKind::Float => (Type::DOUBLE, None),
                ColumnKind::Flag => (Type::BOOLEAN, None),
                ColumnKind::Text => (Type::BYTE_ARRAY, Some(LogicalType::String)),
            };
            assert_eq!((found.name(), found.physical_type()), (column.name, kind));
            assert_eq!(found.logical_type_ref(), logical.as_ref(), "{}", column.name);
            assert_eq!(found.self_type().is_optional(), column.nullable, "{}", column.name);
        }
        assert_eq!(frame.columns().len(), table.table.columns().len());
    }
}

#[test]
fn what_is_switched_off_is_not_recorded() {
    let settings = RecordSettings { messages: false, series: false, packets: false, ..SETTINGS };
    let mut recorder = in_memory(settings);
    record_everything(&mut recorder).unwrap();
    let filled: Vec<_> = recorder
        .finish()
        .unwrap()
        .into_iter()
        .filter(|table| !rows(table).is_empty())
        .map(|table| table.table)
        .collect();
    assert_eq!(filled, [Table::Events, Table::Handovers]);
}

#[test]
fn many_rows_go_out_in_batches_and_come_back_in_order() {
    let mut recorder = in_memory(SETTINGS);
    let count = 2 * BATCH_ROWS + 5;
    for row in 0..count {
        recorder.event(ms(row as u64), "tick", "clock", &row.to_string()).unwrap();
    }
    let tables = recorder.finish().unwrap();
    let events = &tables[Table::Events as usize];
    assert_eq!(Frame::read(&bytes(events)).groups(), [BATCH_ROWS, BATCH_ROWS, 5]);
    for (row, text) in rows(events).into_iter().enumerate() {
        assert_eq!(text, format!("{} tick clock {row}", row * 1_000_000));
    }
}

#[test]
fn files_hold_the_same_bytes_as_memory() {
    let folder = tempfile::tempdir().unwrap();
    let sink = FileSink::new(folder.path()).unwrap();
    let mut to_files = Recorder::new(SETTINGS, names(), Box::new(sink));
    let mut to_memory = in_memory(SETTINGS);
    for recorder in [&mut to_files, &mut to_memory] {
        for _ in 0..BATCH_ROWS {
            record_everything(recorder).unwrap();
        }
    }
    for (file, memory) in to_files.finish().unwrap().into_iter().zip(to_memory.finish().unwrap()) {
        let path = folder.path().join(format!("{}.parquet", file.table.name()));
        assert_eq!(file, StoredTable { table: memory.table, stored: Stored::File(path.clone()) });
        assert_eq!(Stored::Memory(std::fs::read(path).unwrap()), memory.stored);
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap().path().join("absent");
    let error = FileSink::new(&folder).err().unwrap().to_string();
    assert!(error.starts_with("cannot create ") && error.contains("absent"), "{error}");
}

/// `/dev/full` fails every write as a full disk does.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_surfaces_as_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("events.parquet")).unwrap();
    let sink = FileSink::new(folder.path()).unwrap();
    let mut recorder = Recorder::new(SETTINGS, names(), Box::new(sink));
    let results: Vec<_> =
        (0..BATCH_ROWS as u64).map(|row| recorder.event(ms(row), "tick", "clock", "")).collect();
    let (last, others) = results.split_last().unwrap();
    assert!(others.iter().all(Result::is_ok), "rows wait for their batch");
    let error = last.as_ref().unwrap_err().to_string();
    assert!(error.starts_with("cannot write the table `events`: "), "{error}");
    assert!(error.contains("os error 28"), "ENOSPC: {error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_surfaces_even_when_everything_fits_the_buffer() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("events.parquet")).unwrap();
    let sink = FileSink::new(folder.path()).unwrap();
    let error = Recorder::new(SETTINGS, names(), Box::new(sink)).finish().unwrap_err();
    assert!(matches!(error, SinkError::Write { table: Table::Events, .. }), "{error}");
}

#[test]
#[should_panic(expected = "Null does not belong into Text")]
fn what_must_be_there_is_not_left_out() {
    let mut batch = Batch::new(Table::Spin);
    batch.append([1_u64.into(), rows::Cell::Null, "b".into(), 2_u64.into()]);
}

#[test]
fn round_trip_times_have_a_file_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let rtt = SimDuration::from_micros(20);
    let row = |at| SpinRow { at: ms(at), source: "[::1]:4433", destination: "10.0.0.1:5", rtt };
    write_spin(folder.path(), (0..BATCH_ROWS as u64 + 2).map(row)).unwrap();
    let path = folder.path().join("spin.parquet");
    let stored = StoredTable { table: Table::Spin, stored: Stored::File(path) };
    let shown = rows(&stored);
    assert_eq!(shown.len(), BATCH_ROWS + 2);
    assert_eq!(shown[0], "0 [::1]:4433 10.0.0.1:5 20000");
    assert_eq!(shown[BATCH_ROWS + 1], "8193000000 [::1]:4433 10.0.0.1:5 20000");
    write_spin(folder.path(), []).unwrap();
    assert_eq!(rows(&stored), [""; 0]);
}

/// Limits count the size of the values, whatever the compression makes of it.
#[test]
fn rows_count_before_they_are_compressed() {
    let mut recorder = in_memory(SETTINGS);
    for _ in 0..BATCH_ROWS {
        recorder.event(ms(1), "tick", "clock", "").unwrap();
    }
    let row = 8 + 3 * 8 + "tickclock".len();
    assert_eq!(recorder.written(), Bytes::new((BATCH_ROWS * row) as u64));
    assert_eq!(recorder.kept(), recorder.written());
    let tables = recorder.finish().unwrap();
    assert!(bytes(&tables[Table::Events as usize]).len() < BATCH_ROWS * row / 100);
}

#[test]
fn names_of_columns_are_distinct_and_documented() {
    for table in Table::ALL.into_iter().chain(Table::OCCASIONAL).chain([Table::Spin]) {
        let mut names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        assert!(table.columns().iter().all(|column| !column.doc.is_empty()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), table.columns().len(), "{}", table.name());
    }
}
