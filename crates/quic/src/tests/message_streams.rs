//! Messages in streams of their own between whole endpoints, and their cancellation by a timer (RFC 9000 section 3.1).

use leobench_transport::buffer::{Carried, OnDeadline};
use leobench_transport::endpoint::Report;

use super::*;
use crate::MESSAGE_STREAMS;

const DEADLINE: SimDuration = SimDuration::from_millis(100);

fn connected(spec: &QuicSpec) -> Pipe<QuicEndpoint> {
    let rng = RngTree::new(1);
    let address = |end| SocketAddr::from(([10, 0, 0, 1 + end as u8], 4_433));
    let cancels = Attributes {
        deadline: Some(DEADLINE),
        carried: Carried::StreamPerMessage,
        on_deadline: OnDeadline::Cancel,
        ..Attributes::default()
    };
    let ends = [(SENDER, Role::Client), (RECEIVER, Role::Server)].map(|(end, role)| {
        let config = QuicConfig {
            spec,
            role,
            sends: if end == SENDER { &[cancels] } else { &[] },
            receives: end,
            datagrams: false,
            message_streams: Some(MESSAGE_STREAMS),
            local: address(end),
            remote: address(1 - end),
            start: SimTime::ZERO,
            rng: &rng.child(if end == SENDER { "sender" } else { "receiver" }),
            plugins: &in_order(),
            qlog: None,
        };
        QuicEndpoint::new(&config).unwrap()
    });
    let mut pipe = Pipe::new(ends, 1);
    pipe.run(ms(200), |_| false);
    pipe
}

/// Reports of an end about messages of their own, with the time in ns.
fn reports(pipe: &Pipe<QuicEndpoint>, at: usize) -> Vec<(u64, Report)> {
    let own = pipe.datagrams.iter().filter(|(_, end, _)| *end == at);
    own.map(|(time, _, report)| (time.as_nanos(), *report)).collect()
}

/// When `RESET_STREAM` frames left the sender, with their final sizes.
fn resets(pipe: &Pipe<QuicEndpoint>) -> Vec<(SimTime, u64)> {
    let sent = pipe.passed[SENDER].iter().flat_map(|passed| {
        let frames = passed.packets.iter().flat_map(|packet| &packet.frames);
        frames.filter_map(|frame| match frame {
            Frame::ResetStream { final_size, .. } => Some((passed.at, *final_size)),
            _ => None,
        })
    });
    sent.collect()
}

/// The link is silent from 200 ms to 290 ms: a message of one packet is lost, and cancelled exactly at its deadline. The frame that
/// says so arrives, and the next message is delivered in 20 ms.
#[test]
fn a_lost_message_is_cancelled_exactly_at_its_deadline() {
    let mut pipe = connected(&spec(|_| ()));
    pipe.fate = Box::new(|_, _, now| {
        let silent = (ms(200)..ms(290)).contains(&now);
        (!silent).then_some(SimDuration::ZERO)
    });
    pipe.write(0, 1_000);
    pipe.run(ms(350), |_| false);
    assert_eq!(resets(&pipe), [(ms(300), 1_000)]);
    let cancelled = Report::Cancelled { stream: 0.into(), message: 0, sent: 1_000 };
    assert_eq!(reports(&pipe, SENDER).last(), Some(&(300_000_000, cancelled)));
    let after = pipe.passed[SENDER].len();
    pipe.write(0, 1_000);
    pipe.run(ms(2_000), |_| false);
    let part = Report::Part { number: 1, bytes: 1_000 };
    assert_eq!(reports(&pipe, RECEIVER), [(370_000_000, part)]);
    let again = pipe.passed[SENDER][after..].iter().flat_map(Passed::streams);
    assert!(again.into_iter().all(|(id, ..)| id == 2), "nothing of the first is sent again");
}

/// RFC 9000 section 13.3: "Cancellation of stream transmission, as carried in a `RESET_STREAM` frame, is sent until acknowledged".
#[test]
fn a_lost_reset_is_sent_again() {
    let mut pipe = connected(&spec(|_| ()));
    pipe.fate = Box::new(|_, _, now| {
        let silent = (ms(200)..ms(400)).contains(&now);
        (!silent).then_some(SimDuration::ZERO)
    });
    pipe.write(0, 1_000);
    pipe.run(ms(3_000), |_| false);
    let sent = resets(&pipe);
    assert!(sent.len() >= 2 && sent[0] == (ms(300), 1_000), "{sent:?}");
    assert!(sent.last().is_some_and(|(at, _)| *at >= ms(400)), "{sent:?}");
    assert_eq!(reports(&pipe, RECEIVER), []);
}

/// Messages of two packets every 20 ms over 5 % of random loss, each in a stream of its own: more streams than may be open at a time,
/// and every message is either delivered whole or cancelled.
#[test]
fn every_message_is_delivered_or_cancelled() {
    let mut pipe = connected(&spec(|_| ()));
    let mut rng = RngTree::new(7).rng();
    pipe.fate = Box::new(move |_, _, _| (!rng.bernoulli(0.05)).then_some(SimDuration::ZERO));
    for number in 0..500 {
        pipe.write(0, 2_000);
        pipe.run(ms(200 + 20 * (number + 1)), |_| false);
    }
    pipe.run(ms(12_000), |_| false);
    let (mut delivered, mut fates, mut cancelled) = (vec![0; 500], vec![0; 500], 0);
    for (_, report) in reports(&pipe, RECEIVER) {
        let Report::Part { number, bytes } = report else { panic!("{report:?}") };
        delivered[number as usize] += bytes;
    }
    for (_, report) in reports(&pipe, SENDER) {
        match report {
            Report::Opened { message, number, .. } => {
                fates[message as usize] = delivered[number as usize];
            }
            Report::Cancelled { message, sent, .. } => {
                assert!(sent <= 2_000);
                fates[message as usize] = 2_000;
                cancelled += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(fates.iter().all(|bytes| *bytes == 2_000), "{fates:?}");
    assert!((1..250).contains(&cancelled), "{cancelled}");
}
