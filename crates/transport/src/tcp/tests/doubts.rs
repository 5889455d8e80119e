//! Ambiguous acknowledgements of segments that were sent more than once.

use super::script::play;
use super::*;

#[test]
fn an_acknowledgement_that_covers_a_retransmission_is_no_sample() {
    // Without timestamps: the second segment was sent once, but the round trip it seems to have taken is that of what
    // repaired the loss. Nothing is measured, and the timeout of 300 ms stays doubled.
    play(
        true,
        |_| (),
        "0    write 3000
         0    > 0-3000
         200  ! probe
         200  > 2000-3000
         500  ! timeout
         500  ! congestion
         500  > 0-1000
         900  < ack 3000
         900  ! undo
         950  write 1000
         950  > 3000-4000
         1550 ! timeout
         1550 ! congestion
         1550 > 3000-4000",
    );
}

#[test]
fn the_timestamp_tells_what_a_retransmission_hides() {
    // The acknowledgement echoes the retransmission of 500 ms: a sample of 50 ms. The smoothed round-trip time is
    // 93.75 ms then, its variation 50 ms, and the timeout, which a probe does not exceed, 293.75 ms.
    play(
        true,
        |spec| spec.timestamps = true,
        "0    write 3000
         0    > 0-3000
         200  ! probe
         200  > 2000-3000
         500  ! timeout
         500  ! congestion
         500  > 0-1000
         550  < ack 3000 echo 500
         550  ! undo
         600  write 1000
         600  > 3000-4000
         893.75 ! probe
         893.75 > 3000-4000",
    );
}

#[test]
fn a_delayed_acknowledgement_of_two_repairs_takes_nothing_back() {
    // Both were lost. It echoes the first of what it acknowledges (RFC 7323 section 4.3), which is older than the second.
    play(
        true,
        |spec| spec.timestamps = true,
        "0    write 10000
         0    > 0-10000
         100  < ack 0 sack 2000-6000
         100  ! congestion
         100  > 0-1000
         105  < ack 0 sack 2000-10000
         105  > 1000-2000
         200  < ack 10000 echo 100",
    );
}

#[test]
fn what_the_repair_of_a_gap_brings_proves_nothing() {
    // Without selective acknowledgements, and all duplicate ones lost: the first segment was lost, four behind it had come.
    // New data may leave (RFC 5682 section 2.1, step 2), but nothing is taken back, and what a duplicate acknowledgement
    // asks for is sent again.
    play(
        true,
        |spec| spec.sack = false,
        "0    write 20000
         0    > 0-10000
         300  ! timeout
         300  ! congestion
         300  > 0-1000
         400  < ack 5000
         400  > 10000-12000
         500  < ack 5000
         500  > 5000-6000",
    );
}

#[test]
fn after_a_lost_syn_data_is_given_three_seconds() {
    // Without timestamps there is no sample (RFC 6298 section 5.7); with them there is, of 40 ms. Selective acknowledgements
    // would bring a probe before.
    for (timestamps, again) in [(false, 1_040 + 3_000), (true, 1_040 + 40 + 200)] {
        let spec = spec(|spec| (spec.timestamps, spec.sack) = (timestamps, false));
        let mut pipe = connect(&spec, Role::Client);
        // The SYN, and the first data.
        pipe.fate = Box::new(|end, number, _| {
            (end != SENDER || number % 3 != 0).then_some(SimDuration::ZERO)
        });
        pipe.write(0, 1_000);
        pipe.deliver(1_000);
        let data = pipe.passed[SENDER].iter().filter(|passed| passed.segment.payload > 0);
        let times: Vec<_> = data.map(|passed| passed.at).collect();
        assert_eq!(times[0], ms(1_040), "timestamps {timestamps}: {times:?}");
        assert_eq!(times[1], ms(again), "timestamps {timestamps}: {times:?}");
    }
}
