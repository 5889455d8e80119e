//! DATAGRAM frames (RFC 9221).

use bytes::Bytes as Payload;
use leobench_base::BitRate;

use super::*;
use crate::datagrams::{DatagramError, DatagramEvent, DatagramTotals, Datagrams, QUEUE_SIZE};

/// A pipe whose ends take DATAGRAM frames of up to so many bytes each.
fn taking(sender: u64, receiver: u64, streams: usize) -> Pipe<QuicEndpoint> {
    let mut pipe = connect(&spec(|_| ()), streams, Role::Client);
    for (end, limit) in pipe.ends.iter_mut().zip([sender, receiver]) {
        end.prepare(|parts| {
            parts.settings.params.max_datagram_frame_size = limit;
            parts.streams.keep_events();
        });
    }
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.run(ms(100), |_| false);
    pipe
}

fn send(pipe: &mut Pipe<QuicEndpoint>, data: Vec<u8>) -> Result<u64, DatagramError> {
    let sent = pipe.ends[SENDER].connection_mut().send_datagram(Payload::from(data));
    pipe.wakes[SENDER] = Some(pipe.now);
    sent
}

fn events(pipe: &mut Pipe<QuicEndpoint>, end: usize) -> Vec<DatagramEvent> {
    std::iter::from_fn(|| pipe.ends[end].connection_mut().next_datagram_event()).collect()
}

#[test]
fn a_datagram_arrives_whole_and_is_acknowledged() {
    let mut pipe = taking(0, 65_535, 1);
    for size in [0, 1, 63, 64, 1_000] {
        assert_eq!(
            send(&mut pipe, vec![7; size]),
            Ok([0, 1, 63, 64, 1_000].iter().position(|s| *s == size).unwrap() as u64)
        );
    }
    pipe.run(ms(300), |_| false);
    let received = [0, 1, 63, 64, 1_000].map(|size| DatagramEvent::Received(vec![7; size].into()));
    assert_eq!(events(&mut pipe, RECEIVER), received);
    assert_eq!(events(&mut pipe, SENDER), [0, 1, 2, 3, 4].map(DatagramEvent::Acked));
}

#[test]
fn the_largest_datagram_is_that_of_a_packet_or_of_the_peer() {
    // 1,252 bytes less a header of 1 + 8 + 4 bytes and a tag of 16; then a type and a length of two bytes.
    for (limit, largest) in [
        (65_535, Some(1_220)),
        (1_000, Some(997)),
        (66, Some(63)),
        (67, Some(64)),
        (2, Some(0)),
        (1, None),
        (0, None),
    ] {
        let mut pipe = taking(0, limit, 1);
        let allowed = pipe.ends[SENDER].connection_mut().largest_datagram();
        // 67 bytes hold a type, two bytes of length and 64 of content, 66 a type, one of length and 63.
        assert_eq!(allowed, largest, "{limit}");
        let Some(largest) = largest else {
            assert_eq!(send(&mut pipe, Vec::new()), Err(DatagramError::Unsupported));
            continue;
        };
        assert_eq!(
            send(&mut pipe, vec![0; largest as usize + 1]),
            Err(DatagramError::TooLarge(largest))
        );
        send(&mut pipe, vec![1; largest as usize]).unwrap();
        pipe.run(ms(300), |_| false);
        assert_eq!(
            events(&mut pipe, RECEIVER),
            [DatagramEvent::Received(vec![1; largest as usize].into())]
        );
    }
}

#[test]
fn a_lost_datagram_is_reported_and_not_sent_again() {
    let mut pipe = taking(0, 65_535, 1);
    let first = pipe.passed[SENDER].len();
    // Of the next packets of the sender, every fifth is lost.
    pipe.fate = Box::new(move |end, number, _| {
        (end != SENDER || (number - first) % 5 != 2).then_some(SimDuration::ZERO)
    });
    for number in 0..40_u8 {
        assert_eq!(send(&mut pipe, vec![number; 1_000]), Ok(number.into()));
    }
    pipe.write(0, 50_000);
    pipe.deliver(50_000);
    pipe.run(ms(3_000), |_| false);
    let received = events(&mut pipe, RECEIVER).into_iter().map(|event| match event {
        DatagramEvent::Received(data) => u64::from(data[0]),
        other => panic!("{other:?}"),
    });
    let received: Vec<u64> = received.collect();
    let (mut acked, mut lost) = (Vec::new(), Vec::new());
    for event in events(&mut pipe, SENDER) {
        match event {
            DatagramEvent::Acked(number) => acked.push(number),
            DatagramEvent::Lost(number) => lost.push(number),
            DatagramEvent::Received(data) => panic!("{data:?}"),
        }
    }
    assert_eq!(lost, [2, 7, 12, 17, 22, 27, 32, 37]);
    assert_eq!(received, (0..40).filter(|number| number % 5 != 2).collect::<Vec<_>>());
    acked.sort_unstable();
    assert_eq!(acked, received);
    let totals = pipe.ends[SENDER].connection_mut().datagram_totals();
    assert_eq!(totals, DatagramTotals { sent: 40, lost: 8, ..DatagramTotals::default() });
    let datagrams = pipe.passed[SENDER].iter().flat_map(|passed| &passed.packets);
    let frames = datagrams.flat_map(|packet| &packet.frames);
    assert_eq!(frames.filter(|frame| matches!(frame, Frame::Datagram { .. })).count(), 40);
}

#[test]
fn a_full_queue_refuses_and_the_window_holds() {
    let mut pipe = taking(0, 65_535, 1);
    let mut taken = 0;
    while send(&mut pipe, vec![0; 1_000]).is_ok() {
        taken += 1;
    }
    assert_eq!(taken, QUEUE_SIZE / 1_000);
    assert_eq!(send(&mut pipe, vec![0; 1_000]), Err(DatagramError::Full));
    let window = pipe.path().cwnd.get();
    pipe.run(pipe.now + SimDuration::from_millis(1), |_| false);
    let in_flight = pipe.path().in_flight.unwrap().get();
    assert!(in_flight > 0 && in_flight <= window, "{in_flight} of {window}");
    pipe.run(ms(20_000), |_| false);
    assert_eq!(pipe.ends[RECEIVER].connection_mut().datagram_totals().received, taken as u64);
    assert_eq!(events(&mut pipe, RECEIVER).len(), taken);
}

#[test]
fn the_oldest_are_dropped_if_the_application_takes_none() {
    let mut datagrams = Datagrams::new(65_535, true);
    for number in 0..2_000_u32 {
        let data = number.to_be_bytes().repeat(250);
        datagrams.on_frame(&data.into(), 1_003).unwrap();
    }
    let kept = QUEUE_SIZE / 1_000;
    assert_eq!(datagrams.totals().overrun, 2_000 - kept as u64);
    let first = (2_000 - kept as u32).to_be_bytes().repeat(250);
    assert_eq!(datagrams.next_event(), Some(DatagramEvent::Received(first.into())));
}

#[test]
fn what_was_not_offered_closes_the_connection() {
    for (limit, size, reason) in
        [(0, 0, "none were offered"), (100, 98, "larger datagram than offered")]
    {
        let mut pipe = taking(0, limit, 1);
        // The sender believes in a larger limit.
        pipe.ends[SENDER].connection_mut().believe_in_datagrams(65_535);
        send(&mut pipe, vec![0; size]).unwrap();
        pipe.run(ms(400), |_| false);
        let [told, own] =
            [SENDER, RECEIVER].map(|end| pipe.ends[end].lost().unwrap().reason.clone());
        assert!(own.contains("PROTOCOL_VIOLATION") && own.contains(reason), "{own}");
        assert!(told.contains("0xa"), "{told}");
    }
}

#[test]
fn datagrams_leave_room_for_streams() {
    let mut pipe = taking(0, 65_535, 2);
    for _ in 0..100 {
        send(&mut pipe, vec![0; 400]).unwrap();
    }
    (0..2).for_each(|stream| pipe.write(stream, 40_000));
    pipe.deliver(80_000);
    let shared = pipe.passed[SENDER].iter().flat_map(|passed| &passed.packets).filter(|packet| {
        let has = |wanted: fn(&Frame) -> bool| packet.frames.iter().any(wanted);
        has(|frame| matches!(frame, Frame::Datagram { .. }))
            && has(|frame| matches!(frame, Frame::Stream { .. }))
    });
    assert!(shared.count() >= 30);
}
