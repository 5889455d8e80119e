//! Persistent congestion (RFC 9002 section 7.6).

use super::*;

/// A path whose probe timeout is two seconds, as in section 7.6.3, and on which packet 0 was acknowledged long ago.
fn example() -> Bench {
    let mut bench = Bench::confirmed();
    bench.send(at(0));
    bench.ack(at(200), &[(0, 0)]);
    let rest = bench.recovery.rtt().probe_timeout();
    bench.recovery.set_max_ack_delay(SimDuration::from_secs(2) - rest);
    bench
}

/// The times of section 7.6.3, which begin here ten seconds later.
fn secs(tenths: u64) -> SimTime {
    at(10_000 + 100 * tenths)
}

/// Sends a packet at each of these times, in tenths of a second.
fn send_at(bench: &mut Bench, tenths: &[u64]) {
    for tenths in tenths {
        bench.send(secs(*tenths));
    }
}

/// The smoothed round-trip time stays what it is, and its variation shrinks: the example counts from packet 1.
#[test]
fn the_example_of_section_7_6_3() {
    let mut bench = example();
    send_at(&mut bench, &[0, 10]);
    bench.ack(secs(2) + ms(1_000), &[(1, 1)]);
    // Set the timeout to two seconds again, after the new sample.
    let rest = bench.recovery.rtt().probe_timeout();
    bench.recovery.set_max_ack_delay(SimDuration::from_secs(2) - rest);
    send_at(&mut bench, &[20, 30, 40, 50, 60]);
    let probe = Some(Probe { space: Space::Data, packets: 2 });
    assert_eq!(bench.expire(), (secs(80), probe, vec![]), "PTO 1");
    send_at(&mut bench, &[80]);
    assert_eq!(bench.expire(), (secs(120), probe, vec![]), "PTO 2");
    send_at(&mut bench, &[120]);
    bench.calls();
    assert_eq!(bench.ack(secs(122), &[(9, 9)]), (vec![9], (2..=8).collect()));
    assert!(bench.out.persistent, "7 seconds are more than 6");
    let loss = Call::Loss { sent: secs(80), lost: 7 * SIZE, persistent: true };
    assert!(bench.calls().contains(&loss));
    let events = bench.events();
    assert_eq!(events.last().unwrap().0, "persistent-congestion");
    assert_eq!(bench.recovery.rtt().rtt().min, ms(200));
}

/// Losses between the first packet and the last one of these times, in tenths of a second, of which some are acknowledged.
fn is_persistent(bench: &mut Bench, sent: &[u64], acked: &[u64]) -> bool {
    let first = bench.recovery.next_number(Space::Data).value;
    send_at(bench, sent);
    let last = *sent.last().unwrap();
    let end = secs(last + 20);
    bench.send(end);
    let mut ranges: Vec<(u64, u64)> =
        acked.iter().map(|index| (first + index, first + index)).collect();
    let newest = first + sent.len() as u64;
    ranges.push((newest, newest));
    bench.ack(end + ms(200), &ranges);
    assert_eq!(bench.out.lost.len(), sent.len() - acked.len());
    bench.out.persistent
}

/// Section 7.6.1: the duration must be exceeded. After another sample of 200 ms it is 3 * (2 s - 4 * 25 ms).
#[test]
fn the_duration_must_be_exceeded() {
    assert!(!is_persistent(&mut example(), &[0, 57], &[]));
    assert!(is_persistent(&mut example(), &[0, 58], &[]));
    assert!(is_persistent(&mut example(), &[0, 30, 58], &[]));
}

/// Section 7.6.2: nothing sent between them is acknowledged.
#[test]
fn an_acknowledged_packet_in_between_refutes_it() {
    assert!(!is_persistent(&mut example(), &[0, 30, 58], &[1]));
    assert!(is_persistent(&mut example(), &[0, 30, 90], &[0]), "before both");
    assert!(is_persistent(&mut example(), &[0, 58, 60, 61], &[2]), "after both");
    // Acknowledged before the others were lost.
    let mut bench = example();
    send_at(&mut bench, &[0, 29, 30]);
    bench.ack(secs(30), &[(2, 2)]);
    let (send, end) = (bench.send(secs(59)), bench.send(secs(90)));
    assert_eq!((send, end), (4, 5));
    assert_eq!(bench.ack(secs(92), &[(5, 5)]).1, [3, 4]);
    assert!(!bench.out.persistent, "3.1 s");
}

/// Section 7.6.2: "these two packets MUST be ack-eliciting".
#[test]
fn only_ack_eliciting_packets_count() {
    for eliciting in [false, true] {
        let mut bench = example();
        // In flight, but not ack-eliciting: padding.
        bench.send_as(secs(0), Space::Data, |sent| sent.ack_eliciting = eliciting);
        send_at(&mut bench, &[1, 58, 90]);
        assert_eq!(bench.ack(secs(92), &[(4, 4)]).1, [1, 2, 3]);
        assert_eq!(bench.out.persistent, eliciting);
    }
}

/// Section 7.6.2: a sample must exist before the first of them.
#[test]
fn packets_sent_before_the_first_sample_do_not_count() {
    let mut bench = Bench::confirmed();
    (0..100).for_each(|second| _ = bench.send(at(1_000 * second)));
    bench.ack(at(99_200), &[(99, 99)]);
    assert_eq!(bench.out.lost.len(), 99);
    assert!(!bench.out.persistent);
}

/// Section 7.6.2 speaks of packets declared lost, whenever that was.
#[test]
fn losses_found_one_after_another_count_together() {
    let mut bench = example();
    send_at(&mut bench, &[0, 60, 60, 60]);
    assert_eq!(bench.ack(secs(60) + ms(200), &[(4, 4)]).1, [1]);
    assert!(!bench.out.persistent, "a single packet");
    assert_eq!(bench.expire().2, [2, 3]);
    assert!(bench.out.persistent, "six seconds later");
}

/// A packet sent between the lost ones was acknowledged in another space.
#[test]
fn other_spaces_refute_it_too() {
    for acknowledged in [false, true] {
        let mut bench = example();
        bench.send(secs(0));
        bench.send_in(secs(30), Space::Handshake);
        if acknowledged {
            bench.ack_in(secs(31), Space::Handshake, &[(0, 0)]);
        }
        bench.send(secs(70));
        bench.send(secs(100));
        bench.ack(secs(102), &[(3, 3)]);
        assert_eq!(numbers(&bench.out.lost), [1, 2]);
        assert_eq!(bench.out.persistent, !acknowledged);
    }
}

/// Section 5.2: the minimum is then the newest sample.
#[test]
fn the_minimum_starts_anew() {
    let mut bench = example();
    send_at(&mut bench, &[0, 90, 100]);
    bench.ack(secs(100) + ms(700), &[(3, 3)]);
    assert!(bench.out.persistent);
    assert_eq!(bench.recovery.rtt().rtt().min, ms(700));
}
