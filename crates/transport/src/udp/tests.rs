use leobench_base::spec::{At, Spec, Table, Value};
use leobench_base::{Bytes, SimDuration};
use proptest::prelude::*;

use super::*;
use crate::buffer::Message;

fn address(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

fn spec(payload: u64) -> UdpSpec {
    UdpSpec { payload: Bytes::new(payload), ..UdpSpec::default() }
}

fn arrived(datagram: Datagram) -> Report {
    Report::Datagram { datagram, is_marked: false }
}

fn sender(streams: usize, payload: u64) -> UdpEndpoint {
    UdpEndpoint::new(End::Sender, [address(1), address(2)], streams, spec(payload))
}

fn receiver() -> UdpEndpoint {
    UdpEndpoint::new(End::Receiver, [address(2), address(1)], 3, spec(1_000))
}

fn write(sender: &mut UdpEndpoint, now: SimTime, stream: usize, size: u64) {
    let message = Message { size: Bytes::new(size), created: now };
    sender.input(now, Input::Message { stream: stream.into(), message }).unwrap();
}

fn poll(endpoint: &mut impl Endpoint, now: SimTime) -> Outbox {
    let mut outbox = Outbox::default();
    while let Some(again) = endpoint.poll(now, &mut outbox).unwrap() {
        assert_eq!(again, now, "what is left leaves at the same instant");
    }
    outbox
}

#[test]
fn a_poll_is_bounded_however_large_the_message() {
    let mut sender = sender(1, 1_000);
    let mut outbox = Outbox::default();
    write(&mut sender, SimTime::ZERO, 0, 1_000_000_000_000_000);
    for polls in 1..=3 {
        assert_eq!(sender.poll(SimTime::ZERO, &mut outbox), Ok(Some(SimTime::ZERO)));
        assert_eq!(outbox.packets.len(), polls * MOST_AT_ONCE);
    }
    let offsets =
        [100_000, 200_000, 300_000].map(|offset| Report::Sent { stream: 0.into(), offset });
    assert_eq!(outbox.reports, offsets);
}

#[test]
fn a_message_is_cut_into_datagrams_that_leave_at_once() {
    let now = SimTime::ZERO + SimDuration::from_millis(3);
    let mut sender = sender(2, 1_000);
    write(&mut sender, now, 1, 2_500);
    assert_eq!(sender.send_buffer().unwrap().backlog(), 2_500);
    let outbox = poll(&mut sender, now);
    let ends = ["10.0.0.1:1", "10.0.0.1:2"].map(|end| end.parse().unwrap());
    let expected = Meta::new(now, Protocol::Udp, ends[0], ends[1], Bytes::new(1_028));
    assert_eq!(outbox.packets[0].meta, expected);
    let sizes: Vec<_> = outbox.packets.iter().map(|packet| packet.meta.size.get()).collect();
    assert_eq!(sizes, [1_028, 1_028, 528]);
    assert_eq!(outbox.reports, [Report::Sent { stream: 1.into(), offset: 2_500 }]);
    assert_eq!(sender.send_buffer().unwrap().backlog(), 0);
    assert!(poll(&mut sender, now).packets.is_empty());
}

#[test]
fn messages_are_numbered_by_stream() {
    let mut sender = sender(2, 1_000);
    let mut receiver = receiver();
    for stream in [0, 1, 0] {
        write(&mut sender, SimTime::ZERO, stream, 10);
    }
    for mut packet in poll(&mut sender, SimTime::ZERO).packets {
        receiver.input(SimTime::ZERO, Input::Packet(&mut packet)).unwrap();
    }
    let expected = [(0, 0), (1, 0), (0, 1)].map(|(stream, message)| {
        arrived(Datagram { message, id: 0, stream: stream.into(), payload: 10 })
    });
    assert_eq!(poll(&mut receiver, SimTime::ZERO).reports, expected);
    assert_eq!(poll(&mut receiver, SimTime::ZERO).reports, []);
}

#[test]
fn the_parts_of_a_message_are_numbered() {
    let mut sender = sender(1, 1_000);
    write(&mut sender, SimTime::ZERO, 0, 150_500);
    let outbox = poll(&mut sender, SimTime::ZERO);
    let ids = outbox.packets.iter().map(|packet| match &packet.body {
        Body::Datagram(datagram) => (datagram.message, datagram.id),
        other => panic!("{other:?}"),
    });
    assert!(ids.eq((0..151).map(|id| (0, id))), "over two polls");
}

/// Only packets that say so can be marked, and the receiving end tells of the mark.
#[test]
fn marks_reach_the_application() {
    let [plain, mut packet] = [false, true].map(|ecn| {
        let spec = UdpSpec { ecn, ..spec(1_000) };
        let mut sender = UdpEndpoint::new(End::Sender, [address(1), address(2)], 1, spec);
        write(&mut sender, SimTime::ZERO, 0, 10);
        poll(&mut sender, SimTime::ZERO).packets.remove(0)
    });
    assert_eq!([&plain, &packet].map(|it| it.meta.ecn), [Ecn::NotEct, Ecn::Ect0]);
    packet.meta.ecn = Ecn::Ce;
    let mut receiver = receiver();
    receiver.input(SimTime::ZERO, Input::Packet(&mut packet)).unwrap();
    let datagram = Datagram { message: 0, id: 0, stream: 0.into(), payload: 10 };
    let expected = [Report::Datagram { datagram, is_marked: true }];
    assert_eq!(poll(&mut receiver, SimTime::ZERO).reports, expected);
}

/// The application's own datagrams go both ways, in the order of the writes, and an answer goes to where the last packet came from.
#[test]
fn datagrams_of_the_application_go_both_ways() {
    let (now, mut ends) = (SimTime::ZERO, [sender(3, 1_000), receiver()]);
    let media = Datagram { message: 0, id: 70, stream: 2.into(), payload: 1_000 };
    let feedback = Datagram { message: 9, id: 4, stream: 0.into(), payload: 40 };
    write(&mut ends[0], now, 1, 5);
    ends[0].input(now, Input::Datagram { datagram: media, created: now }).unwrap();
    let mut there = poll(&mut ends[0], now).packets;
    assert_eq!(there.iter().map(|packet| packet.meta.size.get()).collect::<Vec<_>>(), [33, 1_028]);
    there[1].meta.source = address(77);
    for packet in &mut there {
        ends[1].input(now, Input::Packet(packet)).unwrap();
    }
    ends[1].input(now, Input::Datagram { datagram: feedback, created: now }).unwrap();
    let mut back = poll(&mut ends[1], now);
    assert_eq!(back.reports[1], arrived(media));
    assert_eq!(back.reports[2], Report::Sent { stream: 0.into(), offset: 40 });
    assert_eq!((back.packets.len(), back.packets[0].meta.size.get()), (1, 68));
    let Meta { source, destination, .. } = &back.packets[0].meta;
    assert_eq!((*source, *destination), (address(2), address(77)));
    ends[0].input(now, Input::Packet(&mut back.packets[0])).unwrap();
    assert_eq!(poll(&mut ends[0], now).reports, [arrived(feedback)]);
}

#[test]
fn a_payload_that_fits_no_datagram_is_refused() {
    let read = |payload: &str| {
        let mut table = Table::new();
        table.insert("payload", Value::String(payload.into()));
        UdpSpec::read(&Value::Table(table), &At::ROOT)
    };
    assert_eq!(UdpSpec::read(&Value::Table(Table::new()), &At::ROOT), Ok(UdpSpec::default()));
    assert!(read("65507 B").is_ok());
    for payload in ["0 B", "65508 B"] {
        assert_eq!(read(payload).unwrap_err().place, "payload");
    }
}

proptest! {
    #[test]
    fn every_byte_is_sent_once_and_counted(
        payload in 1u64..3_000,
        writes in prop::collection::vec((0usize..3, 1u64..20_000, any::<bool>()), 1..40),
    ) {
        let (mut sender, mut receiver) = (sender(3, payload), receiver());
        let (mut written, mut sent, mut received) = ([0; 3], [0; 3], [0; 3]);
        let mut packets = 0;
        for (stream, size, poll_now) in writes.iter().chain([&(0, 1, true)]).copied() {
            write(&mut sender, SimTime::ZERO, stream, size);
            written[stream] += size;
            packets += size.div_ceil(payload);
            if !poll_now {
                continue;
            }
            let outbox = poll(&mut sender, SimTime::ZERO);
            for report in outbox.reports {
                let Report::Sent { stream, offset } = report else { panic!("{report:?}") };
                prop_assert!(offset > sent[stream.index()]);
                sent[stream.index()] = offset;
            }
            for mut packet in outbox.packets {
                receiver.input(SimTime::ZERO, Input::Packet(&mut packet)).unwrap();
            }
        }
        for report in poll(&mut receiver, SimTime::ZERO).reports {
            let Report::Datagram { datagram: Datagram { stream, payload, .. }, .. } = report else {
                panic!("{report:?}")
            };
            received[stream.index()] += u64::from(payload);
        }
        prop_assert_eq!((written, written), (sent, received));
        let bytes = written.iter().sum::<u64>();
        prop_assert_eq!(sender.totals().sent_bytes.get(), bytes);
        prop_assert_eq!(sender.totals().sent_packets, packets);
        prop_assert_eq!(receiver.totals().received_packets, packets);
    }
}
