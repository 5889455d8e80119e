//! Corner cases of loss recovery, each as a script of a few lines.
//!
//! With a first sample of 100 ms, the smoothed round-trip time is 100 ms, the retransmission timeout 300 ms (four times its
//! variance of 50 ms are 200), and a tail loss probe leaves 200 ms after the last event (RFC 8985 section 7.2). The window
//! is ten segments at first, and halves.

use leobench_base::spec::Window;
use leobench_base::{Bytes, SimDuration};

use super::script::play;
use crate::tcp::TcpSpec;

/// Plays it with the sender as it is by default, but for timestamps.
fn sender(script: &str) {
    play(true, |_| (), script);
}

#[test]
fn tail_loss_is_found_by_a_probe() {
    // PRR lets a segment go for every one delivered as long as nothing advances, two when it does (RFC 9937).
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 6000
         300  ! probe
         300  > 9000-10000
         400  < ack 6000 sack 9000-10000
         400  ! congestion
         400  > 6000-7000
         500  < ack 7000 sack 9000-10000
         500  > 7000-9000
         600  < ack 10000",
    );
}

#[test]
fn a_probe_is_new_data_if_there_is_any() {
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 10000 win 1500
         150  write 3000
         150  > 10000-11000
         160  < ack 10000 win 9000
         160  > 11000-13000
         300  < ack 13000
         400  finish
         400  > fin",
    );
}

#[test]
fn after_new_data_the_probe_is_no_later_than_the_timeout_of_the_oldest_segment() {
    // Which was sent at 0. The new data alone would be probed at 380 ms.
    sender(
        "0    write 2000
         0    > 0-2000
         100  < ack 1000
         180  write 1000
         180  > 2000-3000
         300  ! probe
         300  > 2000-3000
         310  < ack 3000",
    );
}

#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    sender(
        "0    write 13000
         0    > 0-10000
         100  < ack 0 sack 1000-2000
         100  > 10000-11000
         101  < ack 0 sack 1000-3000
         101  > 11000-12000
         102  < ack 0 sack 1000-4000
         102  ! congestion
         102  > 0-1000
         103  < ack 0 sack 1000-10000
         103  > 12000-13000
         200  < ack 0 sack 1000-11000
         201  < ack 0 sack 1000-12000
         203  < ack 0 sack 1000-13000
         203  > 0-1000
         303  < ack 13000",
    );
}

#[test]
fn reordering_is_no_loss() {
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 0 sack 1000-2000
         101  < ack 0 sack 1000-3000
         120  < ack 3000
         121  < ack 10000",
    );
}

#[test]
fn what_is_overtaken_for_a_quarter_of_a_round_trip_is_lost() {
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 0 sack 1000-2000
         125  ! congestion
         125  > 0-1000
         225  < ack 10000",
    );
}

#[test]
fn once_reordering_is_seen_three_segments_are_no_loss() {
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 0 sack 1000-3000
         110  < ack 3000 
         111  < ack 3000 sack 4000-9000
         124  < ack 9000
         125  < ack 10000",
    );
}

#[test]
fn a_receiver_may_renege() {
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 1000 sack 2000-10000
         100  ! congestion
         100  > 1000-2000
         200  < ack 2000
         500  ! timeout
         500  ! congestion
         500  > 2000-3000
         600  < ack 3000
         600  > 3000-5000
         700  < ack 10000",
    );
}

#[test]
fn the_timeout_doubles() {
    sender(
        "0     write 1000
         0     > 0-1000
         300   ! probe
         300   > 0-1000
         600   ! timeout
         600   ! congestion
         600   > 0-1000
         1200  ! timeout
         1200  > 0-1000
         2400  ! timeout
         2400  > 0-1000
         4800  ! timeout
         4800  > 0-1000
         4900  < ack 1000",
    );
}

#[test]
fn a_shut_window_is_probed_at_growing_intervals() {
    sender(
        "0     write 4000
         0     > 0-4000
         100   < ack 4000 win 0
         200   write 3000
         500   > probe
         500   < ack 4000 win 0
         1100  > probe
         1100  < ack 4000 win 0
         2300  > probe
         2300  < ack 4000 win 2000
         2300  > 4000-6000
         2400  < ack 6000 win 9000
         2400  > 6000-7000
         2500  < ack 7000",
    );
}

#[test]
fn a_silly_window_is_waited_out() {
    // Less than a segment of room, and less than half of the largest window: only the timer lets it go.
    sender(
        "0    write 4000
         0    > 0-4000
         100  < ack 4000 win 300
         200  write 3000
         500  > 4000-4300
         600  < ack 4300 win 9000
         600  > 4300-7000
         700  < ack 7000",
    );
}

#[test]
fn loss_of_data_and_of_its_acknowledgements_together() {
    // Segments 2 and 6 are lost, and every acknowledgement but the last two.
    sender(
        "0    write 12000
         0    > 0-10000
         109  < ack 1000 sack 6000-10000 2000-5000
         109  ! congestion
         109  > 1000-2000
         109  > 5000-6000
         109  > 10000-12000
         209  < ack 12000",
    );
}

#[test]
fn a_mark_is_answered_and_told_of_once_a_round_trip() {
    play(
        true,
        |spec| spec.ecn = true,
        "0    write 30000
         0    > 0-10000
         100  < ack 2000 ece
         100  ! congestion
         100  > 10000-11000 cwr
         101  < ack 4000 ece
         101  > 11000-12000
         102  < ack 6000 ece
         102  > 12000-13000
         103  < ack 8000
         104  < ack 10000
         104  > 13000-15000
         200  < ack 12000
         200  > 15000-17000",
    );
}

#[test]
fn a_delay_without_loss_is_found_out_by_f_rto() {
    // Without timestamps: new data goes out after the timeout, and what was not sent again is acknowledged.
    sender(
        "0    write 20000
         0    > 0-10000
         200  ! probe
         200  > 10000-11000
         500  ! timeout
         500  ! congestion
         500  > 0-1000
         510  < ack 1000
         510  > 11000-13000
         511  < ack 2000
         511  ! undo
         512  < ack 11000
         512  > 13000-20000",
    );
}

#[test]
fn a_delay_without_loss_is_found_out_by_timestamps() {
    play(
        true,
        |spec| spec.timestamps = true,
        "0    write 20000
         0    > 0-10000
         200  ! probe
         200  > 10000-11000
         500  ! timeout
         500  ! congestion
         500  > 0-1000
         510  < ack 1000 echo 0
         510  ! undo
         512  < ack 11000 echo 200
         512  > 11000-20000",
    );
}

#[test]
fn late_segments_are_found_out_by_duplicates() {
    sender(
        "0    write 10000
         0    > 0-10000
         100  < ack 0 sack 1000-4000
         100  ! congestion
         100  > 0-1000
         110  < ack 10000
         200  < ack 10000 sack 0-1000
         200  ! undo",
    );
}

#[test]
fn without_selective_acknowledgements_three_duplicates_are_a_loss() {
    // Segments 1 and 5 are lost: the second is repaired as soon as the first one is (RFC 6582 section 3.2). Before that, two
    // segments leave beside the window (RFC 3042), and then as many as PRR lets go.
    play(
        true,
        |spec| spec.sack = false,
        "0    write 20000
         0    > 0-10000
         100  < ack 0
         100  > 10000-11000
         101  < ack 0
         101  > 11000-12000
         102  < ack 0
         102  ! congestion
         102  > 0-1000
         103  < ack 0
         104  < ack 0
         105  < ack 0
         105  > 12000-13000
         106  < ack 0
         107  < ack 0
         200  < ack 0
         200  > 13000-14000
         201  < ack 0
         201  > 14000-15000
         202  < ack 4000
         202  > 4000-5000
         202  > 15000-16000",
    );
}

#[test]
fn duplicates_from_the_repairs_of_a_recovery_begin_no_other() {
    // The first segment was overtaken. What is sent again brings duplicates, which cover nothing beyond the recovery (RFC 6582
    // section 3.2, step 1). Once something beyond it has arrived, three are a loss again.
    play(
        true,
        |spec| spec.sack = false,
        "0    write 40000
         0    > 0-10000
         100  < ack 0
         100  > 10000-11000
         101  < ack 0
         101  > 11000-12000
         102  < ack 0
         102  ! congestion
         102  > 0-1000
         110  < ack 12000
         110  > 12000-17000
         150  < ack 12000
         151  < ack 12000
         152  < ack 12000
         153  < ack 12000
         210  < ack 13000
         210  > 17000-18000
         211  < ack 13000
         211  > 18000-19000
         212  < ack 13000
         212  > 19000-20000
         213  < ack 13000
         213  ! congestion
         213  > 13000-14000",
    );
}

#[test]
fn an_idle_time_restarts_the_window() {
    sender(
        "0    write 60000
         0    > 0-10000
         100  < ack 10000
         100  > 10000-30000
         200  < ack 30000
         200  > 30000-60000
         300  < ack 60000
         2000 write 50000
         2000 > 60000-70000
         2100 < ack 70000
         2100 > 70000-90000",
    );
}

#[test]
fn an_undone_loss_is_declared_again_only_by_the_timeout() {
    // The first segment was late, and nothing but its retransmission is out. RACK takes the others for lost no more, though
    // they were sent more than a round trip and a quarter before.
    play(
        true,
        |spec| spec.timestamps = true,
        "0    write 10000
         0    > 0-10000
         100  < ack 0 sack 9000-10000 echo 0
         125  ! congestion
         125  > 0-1000
         130  < ack 1000 sack 9000-10000 echo 0
         130  ! undo
         131  < ack 3000 sack 9000-10000 echo 0
         438.15625 ! timeout
         438.15625 ! congestion
         438.15625 > 3000-4000
         539  < ack 4000 sack 9000-10000 echo 439
         539  > 4000-6000",
    );
}

/// A receiver whose window is at its limit from the start.
fn constant_window(spec: &mut TcpSpec) {
    spec.receive_buffer = Window::Bytes(Bytes::new(64 << 10));
}

#[test]
fn acknowledgements_do_not_wait_while_the_window_grows() {
    // At 100 ms the capacity grows from 65,536 to 105,600 bytes: with 16,000 read in a round trip, to 48,000, and the
    // growth over the initial window twice over. The window follows by two segments for every one of the next 21.
    let quick = |segments: std::ops::RangeInclusive<u64>, time: u64| {
        let acks: Vec<_> = segments.map(|segment| format!("{time} > ack {segment}000")).collect();
        acks.join("\n")
    };
    let (first, second) = (quick(1..=16, 0), quick(17..=37, 100));
    let script = format!(
        "0    < 0-16000
         {first}
         100  < 16000-38000 echo 0
         {second}
         140  > ack 38000
         150  < 38000-39000 echo 50
         151  < 39000-40000 echo 51
         151  > ack 40000"
    );
    play(false, |spec| spec.timestamps = true, &script);
}

#[test]
fn acknowledgements_wait_for_a_second_segment_or_40_ms() {
    // But for the first sixteen.
    let quick: Vec<_> = (1..=16).map(|segment| format!("0 > ack {segment}000")).collect();
    let script = "100  < 16000-17000
         140  > ack 17000
         200  < 17000-18000
         201  < 18000-19000
         201  > ack 19000";
    play(false, constant_window, &format!("0 < 0-16000\n{}\n{script}", quick.join("\n")));
}

#[test]
fn as_many_segments_are_acknowledged_together_as_was_asked_for() {
    let quick: Vec<_> = (1..=16).map(|segment| format!("0 > ack {segment}000")).collect();
    let script = "100  < 16000-17000
         140  > ack 17000
         200  < 17000-18000
         201  < 18000-19000
         202  < 19000-20000
         202  > ack 20000
         203  < 20000-21000
         204  < 21000-22000
         243  > ack 22000";
    play(
        false,
        |spec| {
            constant_window(spec);
            spec.ack_every = leobench_base::spec::Whole::nearest(3);
        },
        &format!("0 < 0-16000\n{}\n{script}", quick.join("\n")),
    );
}

#[test]
fn blocks_are_reported_the_latest_first_and_duplicates_before_them() {
    play(
        false,
        |spec| spec.delayed_ack = SimDuration::ZERO,
        "0   < 0-1000
         0   > ack 1000
         1   < 2000-3000
         1   > ack 1000 sack 2000-3000
         2   < 4000-5000
         2   > ack 1000 sack 4000-5000 2000-3000
         3   < 6000-7000
         3   > ack 1000 sack 6000-7000 4000-5000 2000-3000
         4   < 3000-4000
         4   > ack 1000 sack 2000-5000 6000-7000
         5   < 3000-4000
         5   > ack 1000 sack 3000-4000 2000-5000 6000-7000
         6   < 0-1000
         6   > ack 1000 sack 0-1000 2000-5000 6000-7000
         7   < 1000-2000
         7   > ack 5000 sack 6000-7000
         8   < 5000-6000
         8   > ack 7000
         9   < 7000-8000 fin
         9   > ack 8001
         9   > fin",
    );
}

#[test]
fn a_mark_is_echoed_until_it_is_answered() {
    play(
        false,
        |spec| (spec.ecn, spec.delayed_ack) = (true, SimDuration::ZERO),
        "0   < 0-1000
         0   > ack 1000
         1   < 1000-2000 ce
         1   > ack 2000 ece
         2   < 2000-3000
         2   > ack 3000 ece
         3   < 3000-4000 cwr
         3   > ack 4000
         4   < 4000-5000 ce cwr
         4   > ack 5000 ece",
    );
}

#[test]
fn a_reader_that_stops_shuts_the_window_and_opens_it_again() {
    play(
        false,
        |spec| {
            spec.delayed_ack = SimDuration::ZERO;
            spec.receive_buffer = Window::Bytes(Bytes::new(4_000));
        },
        "0   stop
         1   < 0-1000
         1   > ack 1000
         2   < 1000-4000
         2   > ack 2000
         2   > ack 3000
         2   > ack 4000 win 0
         50  < 4000-5000
         50  > ack 4000 win 0
         99  read
         99  > ack 4000",
    );
}
