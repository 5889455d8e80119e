//! Algorithm 2: where paths begin.

use leobench_base::{Bytes, SimTime};

use super::{ms, report, unaware, unserved};
use crate::congestion::maco::quick_start::{History, Key};
use crate::congestion::maco::{MacoSpec, SsthreshAfterLoss};
use crate::congestion::tests::flow::DATAGRAM;
use crate::congestion::tests::{acked, context};
use crate::congestion::{AckEnd, Acked, Congestion, CongestionControl, CongestionModel};
use crate::endpoint::PathId;

const FIRST: PathId = PathId(0);
const SECOND: PathId = PathId(1);

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + ms(millis)
}

fn packets(bytes: Option<Bytes>) -> f64 {
    bytes.map_or(f64::INFINITY, |bytes| bytes.get() as f64 / DATAGRAM.get() as f64)
}

fn window(controller: &dyn CongestionControl, path: PathId) -> f64 {
    packets(Some(controller.window(path)))
}

fn open(spec: &MacoSpec) -> Box<dyn CongestionControl> {
    let mut controller = spec.build(&context());
    controller.open(FIRST, at(0), DATAGRAM);
    controller
}

fn tell(controller: &mut dyn CongestionControl, path: PathId, link: usize, mbps: f64) {
    controller.on_access(path, &report(path, link, at(0), mbps));
}

/// A packet returns at a time, after 100 ms.
fn ack(controller: &mut dyn CongestionControl, path: PathId, now: u64) {
    let packet = Acked { size: DATAGRAM, ..acked(at(now), ms(100)) };
    controller.on_ack(path, &packet);
    controller.on_ack_end(path, &AckEnd::new(at(now), DATAGRAM));
}

/// Congestion at a window of so many packets.
fn congest(controller: &mut dyn CongestionControl, path: PathId, now: u64, packets: u64) {
    let window = Bytes::new(packets * DATAGRAM.get());
    controller.set_window(path, window, Some(window));
    controller.on_loss(path, &Congestion::new(at(now), at(now - 1), DATAGRAM, false));
    assert!(controller.window(path) < window);
}

fn collapse(controller: &mut dyn CongestionControl, path: PathId, now: u64) {
    controller.on_loss(path, &Congestion::new(at(now), at(now - 1), DATAGRAM, true));
}

/// 200 Mbit/s times 96 ms, and light's way of 1,100 km, which takes 3.669 ms: 2,491,731 bytes.
#[test]
fn slow_start_ends_at_the_product_of_the_first_report() {
    let mut maco = open(&MacoSpec::default());
    assert_eq!((window(&*maco, FIRST), maco.ssthresh(FIRST)), (4.0, None));
    tell(&mut *maco, FIRST, 0, 200.0);
    assert!((window(&*maco, FIRST) - 4.0).abs() < 1e-9);
    assert!(maco.ssthresh(FIRST).unwrap().get().abs_diff(2_491_731) <= 1);
    // It is the first one that counts.
    tell(&mut *maco, FIRST, 0, 20.0);
    assert!(maco.ssthresh(FIRST).unwrap().get().abs_diff(2_491_731) <= 1);
}

/// Half of the smaller of the product and the largest window, at least four packets; of its own interface if that was
/// congested, of the others otherwise. 48 Mbit/s times 99.67 ms are 498.3 packets.
#[test]
fn a_path_begins_by_the_history_of_its_interface_or_of_the_others() {
    for (link, mbps, expected) in [
        (1, 48.0, 150.0), // Interface 0 had 300 at most.
        (2, 48.0, 100.0), // Its own had 200.
        (1, 24.0, 124.6), // Its product is 249.2.
        (1, 0.1, 4.0),
    ] {
        let mut maco = open(&unaware());
        tell(&mut *maco, FIRST, 0, 48.0);
        ack(&mut *maco, FIRST, 100);
        congest(&mut *maco, FIRST, 200, 300);
        congest(&mut *maco, FIRST, 300, 250);
        // A path over interface 2, long gone.
        maco.open(PathId(7), at(400), DATAGRAM);
        tell(&mut *maco, PathId(7), 2, 48.0);
        congest(&mut *maco, PathId(7), 500, 200);
        maco.close(PathId(7));
        maco.open(SECOND, at(600), DATAGRAM);
        assert!((window(&*maco, SECOND) - 4.0).abs() < 1e-9, "without a report");
        tell(&mut *maco, SECOND, link, mbps);
        let begun = window(&*maco, SECOND);
        assert!((begun - expected).abs() < 0.1, "{link}, {mbps} Mbit/s: {begun} packets");
        assert_eq!(maco.phase(SECOND), if mbps < 1.0 { "avoidance" } else { "slow-start" });
    }
}

#[test]
fn a_report_after_the_first_acknowledgement_sets_the_threshold_only() {
    let mut maco = open(&unaware());
    tell(&mut *maco, FIRST, 0, 48.0);
    congest(&mut *maco, FIRST, 200, 300);
    maco.open(SECOND, at(600), DATAGRAM);
    ack(&mut *maco, SECOND, 700);
    let before = window(&*maco, SECOND);
    tell(&mut *maco, SECOND, 1, 48.0);
    assert!((window(&*maco, SECOND) - before).abs() < 1e-9);
    // The delay has been measured: 100 ms.
    assert!((packets(maco.ssthresh(SECOND)) - 500.0).abs() < 0.1);
}

/// Acknowledgements at 48 Mbit/s for two round trips, and then silence: half of 300 packets, and slow start to the mean
/// product of 500.
#[test]
fn persistent_congestion_starts_again_by_history() {
    let steady = |spec: &MacoSpec| {
        let mut maco = open(spec);
        tell(&mut *maco, FIRST, 0, 96.0);
        for packet in 0..1_500 {
            let now = SimTime::ZERO + ms(100) + ms(1) * packet / 5;
            let packet = Acked { size: DATAGRAM, cwnd_limited: false, ..acked(now, ms(100)) };
            maco.on_ack(FIRST, &packet);
            maco.on_ack_end(FIRST, &AckEnd::new(now, DATAGRAM));
        }
        maco
    };
    let mut maco = steady(&unaware());
    collapse(&mut *maco, FIRST, 900);
    let mut begun = steady(&unaware());
    congest(&mut *begun, FIRST, 500, 300);
    collapse(&mut *begun, FIRST, 900);
    assert!((window(&*begun, FIRST) - 150.0).abs() < 0.1, "{}", window(&*begun, FIRST));
    let threshold = packets(begun.ssthresh(FIRST));
    // A hundredth of the time is that before the first sample, when the product was twice as large.
    assert!((threshold / 500.0 - 1.0).abs() < 0.02, "{threshold} packets");
    assert_eq!(begun.phase(FIRST), "slow-start");
    // An undo brings the window back.
    begun.on_spurious_loss(FIRST);
    assert!((window(&*begun, FIRST) - 150.0).abs() < 0.1);
    // Without quick start, as with others.
    let mut plain = steady(&MacoSpec { quick_start: false, ..unaware() });
    congest(&mut *plain, FIRST, 500, 300);
    collapse(&mut *plain, FIRST, 900);
    assert!((window(&*plain, FIRST) - 2.0).abs() < 1e-9);
    let fresh = MacoSpec { quick_start: false, ..MacoSpec::default() };
    assert!((window(&*open(&fresh), FIRST) - 10.0).abs() < 1e-9);
}

/// The congestion before was none, so that it counts for nobody.
#[test]
fn an_undone_reduction_is_not_remembered() {
    let mut maco = open(&unaware());
    tell(&mut *maco, FIRST, 0, 48.0);
    congest(&mut *maco, FIRST, 200, 100);
    congest(&mut *maco, FIRST, 300, 300);
    maco.on_spurious_loss(FIRST);
    assert!((window(&*maco, FIRST) - 300.0).abs() < 1e-9);
    maco.open(SECOND, at(600), DATAGRAM);
    tell(&mut *maco, SECOND, 1, 48.0);
    assert!((window(&*maco, SECOND) - 50.0).abs() < 1e-9);
}

/// A path whose satellite goes, and comes back: it starts again if nothing returned for more than a round trip, and only then.
#[test]
fn a_path_that_comes_back_starts_again() {
    for (last, expected) in [(1_050, 100.0), (1_500, 400.0)] {
        let mut maco = open(&unaware());
        tell(&mut *maco, FIRST, 0, 48.0);
        ack(&mut *maco, FIRST, 100);
        congest(&mut *maco, FIRST, 200, 200);
        let now = Bytes::new(400 * DATAGRAM.get());
        maco.set_window(FIRST, now, Some(now));
        maco.on_access(FIRST, &unserved(FIRST, 0, at(1_000)));
        maco.on_access(FIRST, &unserved(FIRST, 0, at(1_200)));
        let packet = Acked { size: DATAGRAM, cwnd_limited: false, ..acked(at(last), ms(100)) };
        maco.on_ack(FIRST, &packet);
        maco.on_access(FIRST, &report(FIRST, 0, at(2_000), 48.0));
        let begun = window(&*maco, FIRST);
        assert!((begun - expected).abs() < 0.1, "{last} ms: {begun} packets");
    }
}

#[test]
fn history_survives_a_handover_unless_told_otherwise() {
    for (history_survives, expected) in [(true, 150.0), (false, 4.0)] {
        let mut maco = open(&MacoSpec { history_survives, ..unaware() });
        tell(&mut *maco, FIRST, 0, 48.0);
        congest(&mut *maco, FIRST, 200, 300);
        let mut other = report(FIRST, 0, at(300), 48.0);
        other.service.as_mut().unwrap().satellite = 2.into();
        maco.on_access(FIRST, &other);
        maco.open(SECOND, at(600), DATAGRAM);
        tell(&mut *maco, SECOND, 0, 48.0);
        assert!((window(&*maco, SECOND) - expected).abs() < 1e-9);
    }
}

#[test]
fn history_holds_the_last_windows_and_few_interfaces() {
    let mut history = History::default();
    let key = |number: usize| Key::Link(number.into());
    for window in [900.0, 100.0, 300.0, 200.0] {
        history.record(key(0), window, 3);
    }
    assert_eq!(history.largest(key(0)), Some(300.0));
    history.take_back(key(0));
    history.take_back(key(0));
    assert_eq!(history.largest(key(0)), Some(100.0));
    history.record(Key::Path(PathId(3)), 700.0, 3);
    assert_eq!((history.largest(key(0)), history.largest(key(9))), (Some(100.0), Some(700.0)));
    history.identify(PathId(3), 9.into(), 3);
    assert_eq!(history.largest(key(9)), Some(700.0));
    (0..10_000).for_each(|path| history.record(Key::Path(PathId(path)), 1.0, 3));
    assert_eq!(history.largest(key(9)), Some(1.0), "forgotten");
}

#[test]
fn after_a_loss_the_threshold_is_the_window_or_the_product() {
    for (ssthresh_after_loss, expected) in
        [(SsthreshAfterLoss::Window, 100.0), (SsthreshAfterLoss::Bdp, 500.0)]
    {
        let mut maco = open(&MacoSpec { ssthresh_after_loss, ..unaware() });
        tell(&mut *maco, FIRST, 0, 48.0);
        ack(&mut *maco, FIRST, 100);
        ack(&mut *maco, FIRST, 101);
        congest(&mut *maco, FIRST, 200, 200);
        let threshold = packets(maco.ssthresh(FIRST));
        assert!((threshold - expected).abs() < 0.1, "{threshold} packets");
    }
}

/// Without the store reports are not even looked at.
#[test]
fn without_the_store_reports_count_for_nothing() {
    let mut maco = open(&MacoSpec { store: false, ..unaware() });
    tell(&mut *maco, FIRST, 0, 48.0);
    assert_eq!((window(&*maco, FIRST), maco.ssthresh(FIRST)), (4.0, None));
    assert!(MacoSpec::default().needs_access());
    assert!(!MacoSpec { store: false, ..MacoSpec::default() }.needs_access());
}
