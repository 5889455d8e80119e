//! `CoDel` against the pseudocode of RFC 8289 section 5, worked by hand.

use super::*;

const MS: u64 = 1_000;

/// Dequeues every 100 us from a queue whose packets all wait 10 ms; when drops happen, in units of 100 us.
struct Standing {
    probe: Probe,
    /// Tick and number of the packets dropped at it.
    drops: Vec<u64>,
    marks: Vec<u64>,
    tick: u64,
    next: u64,
    ecn: Ecn,
}

impl Standing {
    fn new(json: &str, ecn: Ecn) -> Self {
        let probe = Probe::new(json);
        Self { probe, drops: Vec::new(), marks: Vec::new(), tick: 0, next: 0, ecn }
    }

    /// Keeps ten packets waiting, each of which came `delay` microseconds ago when it is dequeued, for `ticks`.
    fn run(&mut self, ticks: u64, delay: u64) {
        for _ in 0..ticks {
            self.tick += 1;
            let now = 100 * MS + 100 * self.tick;
            while self.probe.queue.backlog().packets < 10 {
                let mut packet = packet(self.next, 1000);
                packet.meta.ecn = self.ecn;
                self.probe.offer_packet(now - delay, packet);
                self.next += 1;
            }
            let packet = self.probe.take_packet(now).unwrap();
            let dropped = self.probe.fates.drops.drain(..).count();
            self.drops.extend(std::iter::repeat_n(self.tick, dropped));
            if !self.probe.fates.marks.is_empty() {
                assert_eq!(packet.meta.id, self.probe.fates.marks[0].meta.id);
                assert_eq!(self.probe.fates.marks.drain(..).count(), 1);
                self.marks.push(self.tick);
            }
        }
    }
}

/// The first tick (of 100 us) not before each of the times in milliseconds after `from`.
fn ticks(from: u64, times: &[f64]) -> Vec<u64> {
    times.iter().map(|time| from + (time * 10.0).ceil() as u64).collect()
}

#[test]
fn drops_come_at_intervals_over_the_square_root_of_their_number() {
    let mut queue = Standing::new(r#""codel""#, Ecn::NotEct);
    queue.run(5_000, 10 * MS);
    // Above the target since the first dequeue: the first drop one interval later, the next 100, 70.7, 57.7, 50 and
    // 44.7 ms after each other (section 5.6).
    let gaps = [0.0, 100.0, 70.710_678, 57.735_027, 50.0, 44.721_36];
    let mut sum = 0.0;
    let times: Vec<f64> = gaps
        .map(|gap| {
            sum += gap;
            sum
        })
        .to_vec();
    assert_eq!(queue.drops[..6], ticks(1 + 1_000, &times));
    assert_eq!(
        queue.drops.len(),
        7,
        "{:?}: the next after 40.8 ms, the one after that beyond the run",
        queue.drops
    );
}

#[test]
fn a_delay_that_falls_below_the_target_once_starts_the_interval_anew() {
    let mut queue = Standing::new(r#""codel""#, Ecn::NotEct);
    queue.run(990, 10 * MS);
    // The packets already waiting came 10 ms before: only the newest are fast.
    queue.run(30, 4 * MS);
    queue.run(990, 10 * MS);
    assert_eq!(queue.drops, [0; 0]);
    queue.run(200, 10 * MS);
    assert_eq!(queue.drops.len(), 1);
}

/// Enters the dropping state for five drops, leaves it, and enters it again after about `pause` milliseconds; the gap
/// to the second drop then, in ticks.
fn gap_after(pause: u64) -> u64 {
    let mut queue = Standing::new(r#""codel""#, Ecn::NotEct);
    // Drops at 100.1 ms, and 100, 170.7, 228.4 and 278.4 ms after it.
    queue.run(3_800, 10 * MS);
    assert_eq!(queue.drops.len(), 5);
    queue.run(10 * pause, MS);
    assert_eq!(queue.drops.len(), 5);
    queue.run(2_500, 10 * MS);
    queue.drops[6] - queue.drops[5]
}

#[test]
fn a_dropping_state_soon_after_another_takes_its_rate_up() {
    // count was 1 at the first entry and 5 at its end: four more, so that the next gap is 100 ms / sqrt(4).
    assert_eq!(gap_after(200), 500);
    // Later than 16 intervals after the drop that did not come, it starts from one.
    assert_eq!(gap_after(1_400), 500);
    assert_eq!(gap_after(1_700), 1_000);
}

#[test]
fn marks_come_in_the_place_of_drops() {
    let mut dropping = Standing::new(r#""codel""#, Ecn::NotEct);
    let mut marking = Standing::new(r#""codel""#, Ecn::Ect0);
    let mut stubborn = Standing::new(r#"{"kind": "codel", "ecn": false}"#, Ecn::Ect0);
    for queue in [&mut dropping, &mut marking, &mut stubborn] {
        queue.run(4_000, 10 * MS);
    }
    assert_eq!(dropping.drops.len(), 5);
    assert_eq!((&marking.marks, &marking.drops), (&dropping.drops, &Vec::new()));
    assert_eq!((&stubborn.drops, &stubborn.marks), (&dropping.drops, &Vec::new()));
}

#[test]
fn a_queue_of_one_packet_is_left_alone() {
    let mut probe = Probe::new(r#""codel""#);
    for number in 0..5_000 {
        // Behind the one that goes, one waits, of the largest size seen; both came 50 ms ago.
        let now = 100 * MS + 100 * number;
        while probe.queue.backlog().packets < 2 {
            probe.offer(now - 50 * MS, 0, 1500, 1);
        }
        assert!(probe.take(now).is_some());
    }
    assert_eq!(probe.dropped(), [0; 0]);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refused = |keys: &str, place: &str, problem: &str| {
        for kind in ["codel", "fq_codel"] {
            let json = format!(r#"{{"kind": "{kind}", {keys}}}"#);
            assert_refused::<QueueSpec>(&json, place, problem);
        }
    };
    refused(r#""target": "100 ms""#, "target", "is not below the interval, 100 ms");
    refused(r#""interval": "5 ms""#, "target", "is not below the interval, 5 ms");
    refused(r#""interval": "0 s""#, "interval", "is zero");
    refused(r#""target": "0 s""#, "target", "is zero");
    refused(r#""limit": "0 packets""#, "limit", "is zero");
}
