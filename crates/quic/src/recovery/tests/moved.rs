//! A path that has moved to another route (RFC 9000 section 9.4).

use super::*;

#[test]
fn what_was_sent_over_the_old_route_says_nothing_about_the_new_one() {
    let mut bench = Bench::confirmed();
    (0..10).for_each(|number| _ = bench.send(at(number)));
    bench.ack(at(50), &[(0, 1)]);
    assert_eq!(bench.recovery.in_flight(), 8 * SIZE);
    bench.recovery.on_moved(at(60), &mut bench.control, SIZE);
    assert_eq!(bench.recovery.in_flight(), 0);
    assert_eq!(bench.recovery.rtt().latest(), None);
    assert_eq!(bench.recovery.rtt().smoothed(), ms(333));
    bench.calls();

    // Late acknowledgements of the old packets, and the loss of some: all of them are settled, and the controller is not told.
    assert_eq!(bench.ack(at(80), &[(5, 9)]), ((5..=9).collect(), (2..=4).collect()));
    assert_eq!(bench.recovery.rtt().latest(), None);
    let told = bench.calls();
    assert!(told.iter().all(|call| matches!(call, Call::AckEnd { in_flight: 0 })), "{told:?}");
    assert_eq!(bench.control.totals(PATH).lost_packets, 3, "they are counted");

    let new = bench.send(at(100));
    bench.ack(at(250), &[(new, new)]);
    assert_eq!(bench.recovery.rtt().latest(), Some(ms(150)));
}
