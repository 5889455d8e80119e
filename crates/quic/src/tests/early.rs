//! Resumption and 0-RTT data (RFC 9001 sections 4.5 and 4.6, RFC 9000 sections 7.4.1 and 17.2.3).

use leobench_base::BitRate;

use super::addresses::{MODES, Mode, hand, payload, pipe};
use super::paths::{client_over, several};
use super::*;
use crate::wire::{Ack, ConnectionId, Header, Level, LongHeader};
use crate::zero_rtt::ZeroRtt;

/// A round trip on the pipe.
const ROUND_TRIP: f64 = 40.0;

/// A pipe whose client has a ticket, and sends 0-RTT data or none.
fn resumed(mode: Mode, zero_rtt: ZeroRtt, change: impl Fn(&mut QuicSpec)) -> Pipe<QuicEndpoint> {
    pipe(mode, |spec| {
        (spec.resumption, spec.zero_rtt) = (true, zero_rtt);
        change(spec);
    })
}

/// The levels of the packets of an end that travel as structs, in order.
fn levels(pipe: &Pipe<QuicEndpoint>, end: usize) -> Vec<Vec<Level>> {
    let datagrams = pipe.passed[end].iter();
    datagrams.map(|passed| passed.packets.iter().map(|it| it.header.level()).collect()).collect()
}

/// When so many bytes have arrived, in milliseconds.
fn arrival(pipe: &mut Pipe<QuicEndpoint>, bytes: u64) -> f64 {
    pipe.write(0, bytes);
    pipe.finish();
    pipe.deliver(bytes);
    let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
    assert_eq!(lost, [None, None]);
    pipe.now.as_secs_f64() * 1e3
}

/// The notes of an end about 0-RTT data.
fn decisions(pipe: &Pipe<QuicEndpoint>, end: usize) -> Vec<&str> {
    let events = pipe.events[end].iter().filter(|(_, event)| event.kind == "early-data");
    events.map(|(_, event)| &event.detail[..]).collect()
}

/// The first data arrives after half a round trip instead of one and a half, and after one and a half again if the server
/// rejects it. Without 0-RTT data, a ticket saves bytes, but no round trip.
#[test]
fn early_data_saves_one_round_trip_unless_it_is_rejected() {
    for mode in MODES {
        for (zero_rtt, expected, said) in [
            (ZeroRtt::Unused, 1.5, [&[][..], &[][..]]),
            (ZeroRtt::Accepted, 0.5, [&["accepted"], &["accepted"]]),
            (ZeroRtt::Rejected, 1.5, [&["rejected"], &[]]),
        ] {
            let mut pipe = resumed(mode, zero_rtt, |_| ());
            let took = arrival(&mut pipe, 500);
            assert!((took - expected * ROUND_TRIP).abs() < 0.01, "{mode:?} {zero_rtt:?}: {took}");
            pipe.run(ms(500), |_| false);
            assert_eq!([SENDER, RECEIVER].map(|end| decisions(&pipe, end)), said, "{mode:?}");
            // A second connection is never begun, and nothing is lost.
            assert_eq!(pipe.count(RECEIVER, "established"), 1);
            let again = pipe.ends[SENDER].totals().retransmitted_bytes.get();
            assert_eq!(again, if zero_rtt == ZeroRtt::Rejected { 500 } else { 0 });
        }
        let full = arrival(&mut self::pipe(mode, |_| ()), 500);
        assert!((full - 1.5 * ROUND_TRIP).abs() < 0.01, "{mode:?}: {full}");
    }
}

/// RFC 9001 figure 1 and section 4.9.3, RFC 9000 sections 13.2.6 and 17.2.3: 0-RTT packets share a datagram with the Initial
/// packet, and their numbers and acknowledgements are those of 1-RTT packets, of which the first follows without a gap.
#[test]
fn packets_are_of_their_types_and_numbers() {
    let mut pipe = resumed(Mode::Structs, ZeroRtt::Accepted, |_| ());
    pipe.write(0, 4_000);
    pipe.run(ms(50), |_| false);
    pipe.write(0, 4_000);
    pipe.run(ms(500), |_| false);
    let [initial, handshake, early, data] =
        [Level::Initial, Level::Handshake, Level::ZeroRtt, Level::OneRtt];
    let sent = levels(&pipe, SENDER);
    assert_eq!(sent[..4], [vec![initial, early], vec![early], vec![early], vec![early]]);
    assert_eq!(sent[4][..2], [initial, handshake], "{sent:?}");
    assert!(sent[4..].iter().flatten().skip(2).all(|level| *level == data), "{sent:?}");
    assert_eq!(pipe.passed[SENDER][0].size, 1_252);
    // The server acknowledges before the handshake is complete.
    assert_eq!(levels(&pipe, RECEIVER)[0], [initial, handshake, data]);
    let acks = |packet: &QuicPacket| packet.frames.iter().any(|it| matches!(it, Frame::Ack(_)));
    let packets = || pipe.passed[SENDER].iter().flat_map(|passed| &passed.packets);
    let of_data = packets().filter(|packet| [early, data].contains(&packet.header.level()));
    let numbers: Vec<_> = of_data.map(|packet| packet.header.number().value).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
    assert!(packets().all(|packet| packet.header.level() != early || !acks(packet)));
    let first = &pipe.passed[RECEIVER][0].packets[2];
    assert!(acks(first), "{first:?}");
    assert_eq!(pipe.delivered, [8_000]);
}

/// A handshake with a ticket is smaller by the certificate and its signature, and larger by the ticket and what chooses it.
#[test]
fn a_ticket_stands_for_the_certificate() {
    let sizes = |resumption| {
        let mut pipe = pipe(Mode::Structs, |spec| spec.resumption = resumption);
        pipe.run(ms(45), |_| false);
        [SENDER, RECEIVER]
            .map(|end| pipe.passed[end].iter().map(|passed| passed.size).collect::<Vec<_>>())
    };
    let [full, short] = [false, true].map(sizes);
    // The client's first datagram is padded. The server's flight of 2,490 bytes takes three; of 232 bytes one, also padded.
    assert_eq!((full[0][0], short[0][0]), (1_200, 1_200));
    assert_eq!((full[1].len(), &short[1][..]), (3, &[1_200][..]), "{full:?}");
    assert!(full[1].iter().sum::<u64>() > 2_490);
}

/// An answer to 0-RTT data may leave before the handshake is complete: a server that sends to such a client has its data there
/// after one round trip instead of two.
#[test]
fn a_server_answers_early() {
    for (zero_rtt, expected) in
        [(ZeroRtt::Unused, 2.0), (ZeroRtt::Accepted, 1.0), (ZeroRtt::Rejected, 2.0)]
    {
        for protection in [Protected::Null, Protected::Tls] {
            let spec = spec(|spec| {
                (spec.resumption, spec.zero_rtt, spec.protection) = (true, zero_rtt, protection);
            });
            let took = arrival(&mut connect(&spec, 1, Role::Server), 500);
            assert!(
                (took - expected * ROUND_TRIP).abs() < 0.01,
                "{protection:?} {zero_rtt:?}: {took}"
            );
        }
    }
}

/// A Retry does not reject 0-RTT data: it is sent again with the token, and packet numbers go on (RFC 9000 section 17.2.5.3).
#[test]
fn early_data_follows_a_retry() {
    for mode in MODES {
        let run = |zero_rtt| {
            let mut pipe = resumed(mode, zero_rtt, |spec| spec.retry = true);
            let took = arrival(&mut pipe, 3_000);
            (pipe, took)
        };
        let ((pipe, early), (_, late)) = (run(ZeroRtt::Accepted), run(ZeroRtt::Unused));
        assert!((early - 1.5 * ROUND_TRIP).abs() < 0.01, "{mode:?}: {early}");
        assert!((late - 2.5 * ROUND_TRIP).abs() < 0.01, "{mode:?}: {late}");
        let packets = pipe.passed[SENDER].iter().flat_map(|passed| &passed.packets);
        let of_data = packets.filter(|packet| packet.header.level().space() as usize == 2);
        let numbers: Vec<_> = of_data.map(|packet| packet.header.number().value).collect();
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
    }
}

/// After an outage of whatever kind, the first flight is repeated whole, and 0-RTT data saves its round trip all the same.
#[test]
fn early_data_saves_its_round_trip_after_an_outage() {
    for mode in MODES {
        let run = |zero_rtt| {
            let mut pipe = resumed(mode, zero_rtt, |_| ());
            pipe.fate = Box::new(|_, _, at| (at >= ms(500)).then_some(SimDuration::ZERO));
            arrival(&mut pipe, 500)
        };
        let [early, late, rejected] =
            [ZeroRtt::Accepted, ZeroRtt::Unused, ZeroRtt::Rejected].map(run);
        assert!(
            early > 500.0 && (late - early - ROUND_TRIP).abs() < 0.01,
            "{mode:?}: {early} {late}"
        );
        assert!((rejected - late).abs() < 0.01, "{mode:?}: {rejected} {late}");
    }
}

/// A server processes no 0-RTT packet that it has no keys for: one that overtakes the Initial packet is sent again later.
#[test]
fn early_packets_that_overtake_the_hello_are_dropped() {
    let mut pipe = resumed(Mode::Structs, ZeroRtt::Accepted, |_| ());
    pipe.fate = Box::new(|end, number, _| {
        Some(SimDuration::from_millis(if end == SENDER && number == 0 { 5 } else { 0 }))
    });
    let took = arrival(&mut pipe, 4_000);
    assert!(took > 1.5 * ROUND_TRIP, "{took}");
    assert_eq!(decisions(&pipe, SENDER), ["accepted"]);
}

/// Gives the client of a pipe other memories of the server's parameters than they are.
fn remember(pipe: &mut Pipe<QuicEndpoint>, change: impl Fn(&mut crate::wire::TransportParameters)) {
    pipe.ends[SENDER].prepare(|parts| {
        let crate::crypto::Crypto::Null(Some(earlier)) = &mut parts.crypto else { panic!() };
        let mut params = crate::wire::TransportParameters::of_server(&earlier.params).unwrap();
        change(&mut params);
        earlier.params.clear();
        params.write(&mut earlier.params);
    });
}

/// RFC 9000 section 7.4.1: 0-RTT packets keep the remembered limits, and those of now are for 1-RTT packets.
#[test]
fn remembered_limits_hold_for_early_data() {
    for (of_stream, of_connection) in [(700, 5_000), (5_000, 700)] {
        let mut pipe = resumed(Mode::Structs, ZeroRtt::Accepted, |_| ());
        remember(&mut pipe, |params| {
            (params.initial_max_stream_data_uni, params.initial_max_data) =
                (of_stream, of_connection);
        });
        let took = arrival(&mut pipe, 3_000);
        assert!((took - 1.5 * ROUND_TRIP).abs() < 0.01, "{took}");
        let end = |level| {
            let packets = pipe.passed[SENDER].iter().flat_map(|passed| &passed.packets);
            let of_level = packets.filter(|packet| packet.header.level() == level);
            let frames = of_level.flat_map(|packet| &packet.frames);
            let ends = frames.filter_map(|frame| match frame {
                Frame::Stream { offset, len, .. } => Some(offset + len),
                _ => None,
            });
            ends.max()
        };
        assert_eq!((end(Level::ZeroRtt), end(Level::OneRtt)), (Some(700), Some(3_000)));
    }
}

/// RFC 9000 section 7.4.1 lists what a client must not remember: an exponent or a token of the earlier connection would show in
/// the round-trip time, and in what ends the connection.
#[test]
fn other_remembered_values_have_no_effect() {
    let token = crate::wire::ResetToken([7; 16]);
    let run = |change: fn(&mut crate::wire::TransportParameters)| {
        let mut pipe = resumed(Mode::Structs, ZeroRtt::Accepted, |_| ());
        remember(&mut pipe, change);
        pipe.write(0, 3_000);
        pipe.run(ms(300), |_| false);
        let mut reset = vec![0x41; 40];
        reset.extend_from_slice(&token.0);
        hand(&mut pipe, SENDER, Body::Udp(Box::new(Datagram::StatelessReset(reset.into()))));
        assert_eq!(pipe.ends[SENDER].lost(), None);
        pipe.passed
    };
    let plain = run(|_| ());
    let others = run(|params| {
        (params.ack_delay_exponent, params.max_ack_delay) = (20, 16_000);
        params.stateless_reset_token = Some(crate::wire::ResetToken([7; 16]));
        params.original_destination = ConnectionId::new(&[5; 8]);
        params.initial_source = ConnectionId::new(&[6; 8]);
        params.retry_source = ConnectionId::new(&[7; 8]);
    });
    assert!(plain == others, "the same packets at the same times");
}

/// RFC 9000 section 7.4.1: a server that accepts 0-RTT data must not reduce a limit.
#[test]
fn a_server_that_reduces_a_limit_is_left() {
    let mut pipe = resumed(Mode::Structs, ZeroRtt::Accepted, |spec| {
        spec.stream_window = leobench_base::spec::Window::Bytes(leobench_base::Bytes::new(2_000));
    });
    remember(&mut pipe, |params| params.initial_max_stream_data_uni = 2_001);
    pipe.write(0, 500);
    pipe.run(ms(500), |_| false);
    let lost = pipe.ends[SENDER].lost().map(|lost| lost.reason.clone()).unwrap_or_default();
    assert!(lost.contains("PROTOCOL_VIOLATION") && lost.contains("limits"), "{lost}");
}

/// Rejected data is sent anew by the limits of now, however much larger the remembered ones were: the server closes the
/// connection of a client that exceeds its limits.
#[test]
fn rejected_data_keeps_the_limits_of_now() {
    use leobench_base::spec::Window::Bytes;
    for (of_stream, of_connection) in [(1_500, 1 << 40), (1 << 40, 1_500), (1_200, 2_500)] {
        let windows = |spec: &mut QuicSpec| {
            spec.stream_window = Bytes(leobench_base::Bytes::new(of_stream));
            spec.connection_window = Bytes(leobench_base::Bytes::new(of_connection));
        };
        let spec = spec(|spec| {
            (spec.resumption, spec.zero_rtt) = (true, ZeroRtt::Rejected);
            windows(spec);
        });
        let mut pipe = connect(&spec, 3, Role::Client);
        remember(&mut pipe, |params| {
            (params.initial_max_stream_data_uni, params.initial_max_data) = (1 << 40, 1 << 40);
        });
        // The server lets it open two of its three streams at first, and the third when it asks.
        pipe.ends[RECEIVER].prepare(|parts| parts.settings.params.initial_max_streams_uni = 2);
        (0..3).for_each(|stream| pipe.write(stream, 6_000));
        pipe.run(ms(30), |_| false);
        (0..3).for_each(|stream| pipe.write(stream, 6_000));
        pipe.finish();
        pipe.run(ms(9_000), |pipe| pipe.delivered.iter().sum::<u64>() >= 36_000);
        let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
        assert_eq!((&pipe.delivered[..], lost), (&[12_000; 3][..], [None, None]));
        // The client learns of the rejection after 40 ms, asks, and has its answer after 80.
        let third = pipe.passed[SENDER].iter().filter(|passed| passed.at >= ms(40));
        let third = third.filter(|passed| passed.streams().any(|(stream, ..)| stream == 2));
        assert!(third.map(|passed| passed.at).min() >= Some(ms(80)));
        let again = pipe.ends[SENDER].totals();
        assert!(again.retransmitted_bytes.get() >= 10_000, "{again:?}");
    }
}

/// RFC 9001 section 4.6.2.
#[test]
fn an_acknowledgement_of_rejected_packets_is_a_violation() {
    let mut pipe = resumed(Mode::Structs, ZeroRtt::Rejected, |_| ());
    pipe.write(0, 3_000);
    pipe.run(ms(70), |_| false);
    let to_client = pipe.flying.values_mut().filter(|(end, _)| *end == SENDER);
    let packets = to_client.filter_map(|(_, packet)| packets_mut(&mut packet.body)?.last_mut());
    let mut ranges =
        packets.flat_map(|packet| &mut packet.frames).filter_map(|frame| match frame {
            Frame::Ack(Ack { ranges, .. }) => ranges.last_mut(),
            _ => None,
        });
    ranges.next().expect("an acknowledgement").smallest = 0;
    drop(ranges);
    pipe.run(ms(200), |_| false);
    let lost = pipe.ends[SENDER].lost().map(|lost| lost.reason.clone()).unwrap_or_default();
    assert!(lost.contains("PROTOCOL_VIOLATION") && lost.contains("rejected"), "{lost}");
}

/// A first flight that somebody sends again to the server begins another connection there, without the ticket: neither its
/// 0-RTT data nor a short handshake comes of it (RFC 8446 section 8).
#[test]
fn a_replay_gets_a_whole_handshake_and_delivers_nothing() {
    let mut pipe = resumed(Mode::Structs, ZeroRtt::Accepted, |_| ());
    pipe.write(0, 500);
    pipe.run(ms(300), |_| false);
    assert_eq!(pipe.delivered, [500]);
    let mut packets = pipe.passed[SENDER][0].packets.clone();
    let other = ConnectionId::new(&[9; 8]).unwrap();
    for packet in &mut packets {
        let (Header::Initial(long) | Header::ZeroRtt(long)) = &mut packet.header else { panic!() };
        let LongHeader { destination, .. } = &mut **long;
        *destination = other;
    }
    let replay = Body::Udp(Box::new(Datagram::Packets(packets.into())));
    let answers = hand(&mut pipe, RECEIVER, replay);
    let size: u64 = answers.iter().map(payload).sum();
    assert!(size > 2_400, "{size} bytes of a whole handshake");
    pipe.run(ms(600), |_| false);
    assert_eq!((pipe.delivered[0], decisions(&pipe, RECEIVER)), (500, vec!["accepted"]));
}

/// Whatever the windows, the losses, the order of packets and the server's decision, all data arrives once.
#[test]
fn nothing_is_lost_or_repeated() {
    for seed in 0..120_u64 {
        for mode in MODES {
            let (zero_rtt, windows) = (
                if seed % 2 == 0 { ZeroRtt::Accepted } else { ZeroRtt::Rejected },
                [seed % 3 > 0, seed % 5 > 0].map(|unlimited| !unlimited),
            );
            let mut pipe = resumed(mode, zero_rtt, |spec| {
                use leobench_base::spec::Window::Bytes;
                let size = leobench_base::Bytes::new(1_000 + seed * 97);
                if windows[0] {
                    spec.stream_window = Bytes(size);
                }
                if windows[1] {
                    spec.connection_window = Bytes(size);
                }
                spec.retry = seed % 7 == 0;
            });
            pipe.rate = BitRate::from_bps(10_000_000);
            pipe.fate = Box::new(move |end, number, _| {
                let dice = leobench_base::mix(seed << 20 | (end << 16) as u64 | number as u64);
                (dice % 100 >= 8).then(|| SimDuration::from_micros(dice / 100 % 8_000))
            });
            pipe.write(0, 40_000);
            pipe.finish();
            pipe.deliver(40_000);
            pipe.run(pipe.now + SimDuration::from_secs(20), |_| false);
            let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
            assert_eq!(lost, [None, None], "seed {seed} {mode:?}");
        }
    }
}

/// The first path has 0-RTT packets, others follow, and their packet numbers have nothing to do with it.
#[test]
fn further_paths_follow_early_data() {
    for zero_rtt in [ZeroRtt::Accepted, ZeroRtt::Rejected] {
        let mut spec = several(2, |_| ());
        (spec.resumption, spec.zero_rtt) = (true, zero_rtt);
        let mut pipe = client_over(&spec, &[(20, 10_000_000), (30, 10_000_000)], 2);
        pipe.write(0, 600_000);
        pipe.finish();
        pipe.deliver(600_000);
        let lost = [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().cloned());
        assert_eq!(lost, [None, None], "{zero_rtt:?}");
        let first = pipe.passed[SENDER][0].source;
        assert!(pipe.passed[SENDER].iter().any(|passed| passed.source.ip() != first.ip()));
        assert_eq!(decisions(&pipe, SENDER).len(), 1);
    }
}
