//! Streams of a flow that travel in datagrams (RFC 9221).

use leobench_base::packet::Datagram as Part;
use leobench_base::spec::{At, Spec, Table, Value, Window};
use leobench_base::{BitRate, Bytes};
use leobench_transport::buffer::Carried;
use leobench_transport::endpoint::{Input, Report};
use leobench_transport::scheduler::SchedulerSpec;
use leobench_transport::testing::in_order;

use super::*;

/// Parts of messages by message and number.
type Names = Vec<(u64, u64)>;

fn in_datagrams() -> Attributes {
    Attributes { carried: Carried::Datagrams, ..Attributes::default() }
}

/// A pipe whose sender has streams with these attributes, and whose receiver has `back` streams in datagrams, after the handshake.
fn connect(spec: &QuicSpec, streams: &[Attributes], back: usize) -> Pipe<QuicEndpoint> {
    let rng = RngTree::new(1);
    let address = |end| SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
    let back = vec![in_datagrams(); back];
    let ends = [(SENDER, Role::Client), (RECEIVER, Role::Server)].map(|(end, role)| {
        let sends = [streams, &back];
        let config = QuicConfig {
            spec,
            role,
            sends: sends[end],
            receives: sends[1 - end].len(),
            datagrams: true,
            message_streams: None,
            local: address(end),
            remote: address(1 - end),
            start: SimTime::ZERO,
            rng: &rng.child(if end == SENDER { "sender" } else { "receiver" }),
            plugins: &in_order(),
            qlog: None,
        };
        QuicEndpoint::new(&config).unwrap()
    });
    Pipe::new(ends, streams.len())
}

fn connected(spec: &QuicSpec, streams: &[Attributes]) -> Pipe<QuicEndpoint> {
    let mut pipe = connect(spec, streams, 0);
    pipe.run(ms(200), |_| false);
    pipe
}

fn scheduler(kind: &str, weights: &[i64]) -> SchedulerSpec {
    let mut table = Table::new();
    table.insert("kind", Value::String(kind.into()));
    if !weights.is_empty() {
        let weights = weights.iter().map(|weight| Value::Integer(*weight)).collect();
        table.insert("weights", Value::Array(weights));
    }
    SchedulerSpec::read(&Value::Table(table), &At::ROOT).unwrap()
}

/// The parts that have arrived at an end, and those that it has reported lost; a part that was dropped is apart.
fn fates(pipe: &Pipe<QuicEndpoint>, at: usize) -> (Names, Names, Names) {
    let (mut arrived, mut lost, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
    for (_, end, report) in &pipe.datagrams {
        match report {
            Report::Datagram { datagram: part, .. } if *end != at => {
                arrived.push((part.message, part.id));
            }
            Report::Lost { datagram, dropped: false } if *end == at => {
                lost.push((datagram.message, datagram.id));
            }
            Report::Lost { datagram, dropped: true } if *end == at => {
                dropped.push((datagram.message, datagram.id));
            }
            _ => {}
        }
    }
    (arrived, lost, dropped)
}

/// Bytes of the content of every DATAGRAM frame that the sender has sent, with the time.
fn frames(pipe: &Pipe<QuicEndpoint>) -> Vec<(SimTime, u64)> {
    let all = pipe.passed[SENDER].iter().flat_map(|passed| {
        let frames = passed.packets.iter().flat_map(|packet| &packet.frames);
        frames.filter_map(|frame| match frame {
            Frame::Datagram { data, .. } => Some((passed.at, data.len() as u64)),
            _ => None,
        })
    });
    all.collect()
}

/// RFC 9221 section 5: "DATAGRAM frames cannot be fragmented". The largest leaves room for a header of 13 bytes with the longest
/// number, a tag of 16, and a type and a length of three in 1,252 bytes.
#[test]
fn a_message_is_cut_into_datagrams_that_fill_packets() {
    let mut pipe = connected(&spec(|_| ()), &[in_datagrams()]);
    assert_eq!(QuicSpec::default().largest_datagram(), Some(Bytes::new(1_220)));
    for size in [3_000, 1_220, 1] {
        pipe.write(0, size);
    }
    pipe.run(ms(400), |_| false);
    // The content of the smallest has four bytes that name it.
    let sizes: Vec<u64> = frames(&pipe).iter().map(|(_, size)| *size).collect();
    assert_eq!(sizes, [1_220, 1_220, 560, 1_220, 4]);
    assert!(pipe.passed[SENDER].iter().all(|passed| passed.size <= 1_252));
    let whole = pipe.passed[SENDER].iter().filter(|passed| passed.size >= 1_249);
    assert!(whole.count() >= 3, "a part fills a packet with the shortest number up to three bytes");
    let parts = pipe.datagrams.iter().map(|(_, end, report)| match report {
        Report::Datagram { datagram: part, .. } => (*end, part.message, part.id, part.payload),
        other => panic!("{other:?}"),
    });
    let expected = [(0, 0, 1_220), (0, 1, 1_220), (0, 2, 560), (1, 0, 1_220), (2, 0, 1)];
    let expected = expected.map(|(message, id, payload)| (RECEIVER, message, id, payload));
    assert_eq!(parts.collect::<Vec<_>>(), expected);
    assert_eq!((pipe.sent[0], pipe.delivered[0]), (4_221, 0));
}

/// A packet of 9 bytes of header, a number of one, a frame of 3 + 1,000 bytes and a tag of 16, in 28 of UDP and IPv4: 8.456 ms at
/// 1 Mbit/s, and the delay of the way.
#[test]
fn a_datagram_takes_the_time_of_its_packet() {
    let mut pipe = connected(&spec(|_| ()), &[in_datagrams()]);
    pipe.rate = BitRate::from_bps(1_000_000);
    for at in [200, 300, 400] {
        pipe.run(ms(at), |_| false);
        pipe.write(0, 1_000);
    }
    pipe.run(ms(600), |_| false);
    let took = pipe.datagrams.iter().map(|(at, ..)| at.as_nanos()).collect::<Vec<_>>();
    assert_eq!(took, [200, 300, 400].map(|sent| (sent + 20) * 1_000_000 + 8_456_000));
}

/// RFC 9221 section 5.2: DATAGRAM frames elicit acknowledgements, and are not sent again; section 5.4: they count as in flight.
#[test]
fn a_lost_datagram_is_reported_and_never_sent_again() {
    let mut pipe = connected(&spec(|_| ()), &[in_datagrams()]);
    let first = pipe.passed[SENDER].len();
    pipe.fate = Box::new(move |end, number, _| {
        let lost = end == SENDER && [1, 4, 6, 7].contains(&(number - first));
        (!lost).then_some(SimDuration::ZERO)
    });
    (0..8).for_each(|_| pipe.write(0, 1_000));
    pipe.run(ms(210), |_| false);
    let in_flight = pipe.path().in_flight.unwrap().get();
    assert_eq!(in_flight, 8 * 1_029, "each counts with its whole packet");
    pipe.run(ms(3_000), |_| false);
    let (arrived, lost, dropped) = fates(&pipe, SENDER);
    assert_eq!(arrived, [0, 2, 3, 5].map(|message| (message, 0)));
    assert_eq!(lost, [1, 4, 6, 7].map(|message| (message, 0)), "the last by a probe");
    assert_eq!((dropped.len(), frames(&pipe).len()), (0, 8));
    let path = pipe.path();
    assert_eq!((path.in_flight.unwrap().get(), path.totals.retransmitted_bytes.get()), (0, 0));
    assert!(path.cwnd.get() < 12_520, "their loss is congestion: {path:?}");
}

#[test]
fn a_datagram_that_is_only_late_arrives_after_its_loss() {
    let mut pipe = connected(&spec(|_| ()), &[in_datagrams()]);
    let first = pipe.passed[SENDER].len();
    pipe.fate = Box::new(move |end, number, _| {
        let late = end == SENDER && number == first;
        Some(SimDuration::from_millis(if late { 300 } else { 0 }))
    });
    (0..8).for_each(|_| pipe.write(0, 1_000));
    pipe.run(ms(3_000), |_| false);
    let own: Vec<_> = pipe
        .datagrams
        .iter()
        .filter(|(_, _, report)| match report {
            Report::Datagram { datagram: part, .. } | Report::Lost { datagram: part, .. } => {
                part.message == 0
            }
            _ => false,
        })
        .map(|(at, end, _)| (*end, at.as_nanos() / 1_000_000))
        .collect();
    assert_eq!((own.len(), own[0].0, own[1]), (2, SENDER, (RECEIVER, 520)), "{own:?}");
}

#[test]
fn a_message_that_is_late_before_it_leaves_is_dropped() {
    let lifetime = SimDuration::from_millis(500);
    let stream = Attributes { deadline: Some(lifetime), ..in_datagrams() };
    let mut pipe = connected(&spec(|_| ()), &[stream]);
    pipe.rate = BitRate::from_bps(100_000);
    (0..40).for_each(|_| pipe.write(0, 1_500));
    pipe.run(ms(20_000), |_| false);
    let (arrived, lost, dropped) = fates(&pipe, SENDER);
    assert!(frames(&pipe).iter().all(|(at, _)| *at <= ms(200) + lifetime));
    assert!(arrived.len() > 10 && lost.is_empty() && dropped.len() > 10, "{}", arrived.len());
    // What is left of a message is dropped at once, in the order of the messages.
    let whole = arrived.iter().filter(|(_, id)| *id == 1).count() as u64;
    let cut = arrived.len() as u64 - 2 * whole;
    let expected: Vec<_> =
        (whole..40).map(|message| (message, u64::from(cut > 0 && message == whole))).collect();
    assert_eq!(dropped, expected);
    assert_eq!(pipe.ends[SENDER].send_buffer().unwrap().backlog(), 0);
    assert_eq!(pipe.sent[0], 60_000, "dropped bytes are done with");
}

/// RFC 9221 section 5.3: "DATAGRAM frames do not provide any explicit flow control signaling and do not contribute to any per-flow or
/// connection-wide data limit."
#[test]
fn flow_control_holds_streams_back_but_not_datagrams() {
    for small in ["connection", "stream"] {
        let window = Window::Bytes(Bytes::new(3_000));
        let spec = spec(|spec| match small {
            "stream" => spec.stream_window = window,
            _ => spec.connection_window = window,
        });
        let mut pipe = connected(&spec, &[Attributes::default(), in_datagrams()]);
        pipe.write(0, 20_000);
        (0..5).for_each(|_| pipe.write(1, 1_000));
        pipe.run(ms(201), |_| false);
        assert_eq!(pipe.sent, [3_000, 5_000], "{small}");
        pipe.run(ms(2_000), |_| false);
        assert_eq!((pipe.delivered[0], fates(&pipe, SENDER).0.len()), (20_000, 5), "{small}");
    }
}

/// Fair queueing shares bytes by weights, although datagrams are not cut to their shares.
#[test]
fn datagrams_keep_to_their_fair_share() {
    for (weights, datagram) in [([1, 1], 1_000), ([1, 1], 1_220), ([3, 1], 700), ([1, 4], 1_220)] {
        let spec = spec(|spec| spec.scheduler = scheduler("wfq", &weights));
        let mut pipe = connected(&spec, &[in_datagrams(), Attributes::default()]);
        pipe.rate = BitRate::from_bps(10_000_000);
        (0..2_000).for_each(|_| pipe.write(0, datagram));
        pipe.write(1, 2_000_000);
        pipe.run(ms(60_000), |pipe| pipe.sent.iter().sum::<u64>() > 400_000);
        let (sent, [own, other]) = (&pipe.sent, weights.map(|weight| weight as f64));
        let share = sent[0] as f64 / (sent[0] + sent[1]) as f64;
        let fair = own / (own + other);
        assert!((share - fair).abs() < 0.02, "{weights:?} {datagram}: {share} for {fair}");
    }
}

/// Whatever the scheduler, everything leaves, and packets are full while both wait.
#[test]
fn every_scheduler_serves_datagrams_beside_streams() {
    for kind in ["rr", "fq", "bp", "stbp", "max_delay", "priority", "edf"] {
        let spec = spec(|spec| spec.scheduler = scheduler(kind, &[]));
        let urgent = Attributes {
            urgency: 0,
            deadline: Some(SimDuration::from_secs(100)),
            ..in_datagrams()
        };
        let mut pipe = connected(&spec, &[Attributes::default(), urgent, in_datagrams()]);
        pipe.write(0, 200_000);
        (0..100).for_each(|number| pipe.write(1 + number % 2, 900 + 13 * number as u64));
        pipe.run(ms(60_000), |_| false);
        let written =
            [0, 1].map(|odd| (0..100).filter(|n| n % 2 == odd).map(|n| 900 + 13 * n).sum());
        assert_eq!(pipe.sent, [200_000, written[0], written[1]], "{kind}");
        assert_eq!(pipe.delivered[0], 200_000, "{kind}");
        let first_frames = frames(&pipe);
        if kind == "priority" {
            assert_eq!(first_frames[0].0, ms(200), "the most urgent leave first");
        }
    }
}

#[test]
fn datagrams_of_the_application_go_both_ways() {
    let mut pipe = connect(&spec(|_| ()), &[in_datagrams()], 2);
    let part = |message, id, stream: usize, payload| {
        let stream = stream.into();
        Part { message, id, stream, payload }
    };
    let there = [part(0, 77, 0, 1_220), part(0, 78, 0, 30), part(1, 79, 0, 500)];
    let back = [part(5, 1 << 40, 1, 40), part(6, 2, 1, 41)];
    // Before the handshake, too.
    for datagram in there {
        pipe.input(Input::Datagram { datagram, created: pipe.now });
    }
    (pipe.sent, pipe.delivered, pipe.room) = (vec![0; 2], vec![0; 2], vec![0; 2]);
    for datagram in back {
        pipe.input_at(RECEIVER, Input::Datagram { datagram, created: pipe.now });
    }
    pipe.run(ms(1_000), |_| false);
    let unmarked = |datagram| Report::Datagram { datagram, is_marked: false };
    let arrived = |at| {
        let at = pipe.datagrams.iter().filter(move |(_, end, _)| *end == at);
        at.map(|(_, _, report)| *report).collect::<Vec<_>>()
    };
    assert_eq!(arrived(RECEIVER), there.map(unmarked));
    assert_eq!(arrived(SENDER), back.map(unmarked));
}

#[test]
fn a_datagram_without_room_in_any_packet_is_dropped() {
    let mut pipe = connected(&spec(|_| ()), &[in_datagrams()]);
    for (id, payload) in [(0, 1_221), (1, 1_220)] {
        let datagram = Part { message: id, id, stream: 0.into(), payload };
        pipe.input(Input::Datagram { datagram, created: pipe.now });
    }
    pipe.run(ms(1_000), |_| false);
    assert_eq!(fates(&pipe, SENDER), (vec![(1, 1)], vec![], vec![(0, 0)]));
}

#[test]
fn nothing_leaves_for_a_peer_that_takes_none() {
    let mut pipe = connect(&spec(|_| ()), &[in_datagrams(), Attributes::default()], 0);
    pipe.ends[RECEIVER].prepare(|parts| parts.settings.params.max_datagram_frame_size = 0);
    pipe.write(0, 1_000);
    pipe.write(1, 5_000);
    pipe.finish();
    pipe.run(ms(2_000), |_| false);
    assert_eq!((&pipe.sent[..], pipe.delivered[1]), (&[0, 5_000][..], 5_000));
    assert!(pipe.ends.iter().all(|end| end.lost().is_none()));
}
