//! How often the receiver acknowledges: as RFC 9000 has it, or as it is asked to (draft-ietf-quic-ack-frequency).

use leobench_base::spec::Whole;

use super::*;

const BYTES: u64 = 5_000_000;

/// Data packets, and packets of the receiver with a short header, of a transfer at a steady rate without loss.
fn counted(change: impl FnOnce(&mut QuicSpec)) -> (u64, u64) {
    let pipe = transfer(change, |_, _, _| Some(SimDuration::ZERO));
    let short = |end: usize| pipe.passed[end].iter().filter(|packet| packet.number.is_some());
    let data = short(SENDER).filter(|packet| !packet.frames.is_empty()).count();
    (data as u64, short(RECEIVER).count() as u64)
}

fn transfer(
    change: impl FnOnce(&mut QuicSpec),
    fate: impl FnMut(usize, usize, SimTime) -> Option<SimDuration> + 'static,
) -> Pipe<NoqEndpoint> {
    let mut pipe = connect(&spec(change), 1, Role::Client);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.fate = Box::new(fate);
    pipe.write(0, BYTES);
    pipe.deliver(BYTES);
    pipe
}

/// Packets of 1,280 bytes with headers pass 20 Mbit/s every 0.5 ms, so that 25 ms hold 48 of them.
#[test]
fn one_acknowledgement_for_as_many_packets_as_were_asked_for() {
    for (threshold, per_ack) in [(0, 1), (1, 2), (3, 4), (9, 10), (29, 30)] {
        let (data, acks) = counted(|spec| spec.ack_eliciting_threshold = Whole::nearest(threshold));
        let expected = data / per_ack;
        // The request takes a round trip to arrive, and delays end the waiting in slow start and at the end.
        assert!(
            acks.abs_diff(expected) <= expected / 20 + 20,
            "threshold {threshold}: {acks} for {data} packets"
        );
    }
}

#[test]
fn no_acknowledgement_waits_longer_than_was_asked_for() {
    // Far below the threshold: a delay of 5 ms ends the waiting, after some 10 packets; that of 25 ms after some 49.
    let acks = |millis| {
        let (data, acks) = counted(|spec| {
            spec.ack_eliciting_threshold = Whole::nearest(1_000);
            spec.max_ack_delay = SimDuration::from_millis(millis);
        });
        data as f64 / acks as f64
    };
    let (short, long) = (acks(5), acks(25));
    assert!((8.0..=12.0).contains(&short), "{short} packets per acknowledgement within 5 ms");
    assert!((38.0..=54.0).contains(&long), "{long} packets per acknowledgement within 25 ms");
}

#[test]
fn without_a_wish_nothing_is_asked_for() {
    let asked = |change: fn(&mut QuicSpec)| {
        transfer(change, |_, _, _| Some(SimDuration::ZERO)).count(SENDER, "ack-frequency")
    };
    assert_eq!(asked(|_| ()), 0);
    assert_eq!(asked(|spec| spec.ack_eliciting_threshold = Whole::nearest(9)), 1);
    assert_eq!(asked(|spec| spec.max_ack_delay = SimDuration::from_millis(10)), 1);
}

/// The stack does not repeat a request that is lost (noq-proto 1.4.0): the receiver goes on as by default, and the events
/// say so.
#[test]
fn a_request_that_is_lost_is_told() {
    let ask = |spec: &mut QuicSpec| spec.ack_eliciting_threshold = Whole::nearest(9);
    let acks = |pipe: &Pipe<NoqEndpoint>| pipe.passed[RECEIVER].len();
    let whole = acks(&transfer(ask, |_, _, _| Some(SimDuration::ZERO)));
    let mut lost = 0;
    for dropped in 0..8 {
        let pipe = transfer(ask, move |end, order, _| {
            (end == RECEIVER || order != dropped).then_some(SimDuration::ZERO)
        });
        let told = pipe.count(SENDER, "ack-frequency");
        let heeded = acks(&pipe) < 2 * whole;
        assert_eq!(told, if heeded { 1 } else { 2 }, "{} acknowledgements", acks(&pipe));
        lost += u32::from(!heeded);
    }
    assert_eq!(lost, 1, "one datagram carries the request");
}
