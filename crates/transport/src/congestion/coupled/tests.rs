//! The adapter, with an algorithm that writes down what it sees.

use leobench_base::{BitRate, SimDuration};

use super::*;
use crate::congestion::tests::{acked, context, flow::DATAGRAM};
use crate::congestion::{BaliaSpec, CongestionModel, LiaSpec, NewRenoSpec, OliaSpec};

/// Paths as an algorithm sees them: a window, a round-trip time in milliseconds, and what is shown, of each. The call is
/// about the path at `own`.
pub fn paths<S: Copy, M: Default>(views: &[(f64, u64, S)], own: usize) -> Paths<S, M> {
    let views = views.iter().enumerate().map(|(at, (window, millis, shown))| {
        let path = PathId(at as u32);
        let mut view =
            View { path, window: *window, rtt: None, seconds: 0.0, rate: 0.0, shown: *shown };
        let rtt = SimDuration::from_millis(*millis);
        view.measure(Rtt { latest: rtt, smoothed: rtt, min: rtt });
        view
    });
    Paths { views: views.collect(), own, memory: M::default() }
}

/// An algorithm that grows by a byte for each packet acknowledged on its own path, and by a hundred for what the other
/// paths show: the number of their forecasts and packets.
#[derive(Clone, Debug, Default)]
struct Probe {
    packets: u64,
    forecasts: u64,
}

impl Avoidance for Probe {
    type Paths = Paths<(u64, u64)>;

    fn acked(&mut self, _acked: &Acked) {
        self.packets += 1;
    }

    fn forecast(&mut self, _forecast: &Forecast) {
        self.forecasts += 1;
    }

    fn growth(&mut self, window: f64, _acked: &Acked, paths: &Self::Paths) -> f64 {
        assert!((paths.own().window - window).abs() < 1e-9);
        let seen = paths.others().map(|view| view.shown.0 + 10_000 * view.shown.1).sum::<u64>();
        self.packets as f64 + 100.0 * seen as f64
    }

    fn reduced(&mut self, window: f64, paths: &Self::Paths) -> f64 {
        window / (1.0 + paths.measured().count() as f64)
    }

    fn restored(&mut self, later: &Self) {
        *self = later.clone();
    }
}

impl CoupledAvoidance for Probe {
    type Shown = (u64, u64);
    type Memory = ();

    fn shown(&self) -> (u64, u64) {
        (self.packets, self.forecasts)
    }
}

const RTT: SimDuration = SimDuration::from_millis(100);
const FIRST: PathId = PathId(0);
const SECOND: PathId = PathId(1);
const FORECAST: Forecast = Forecast {
    path: SECOND,
    at: SimTime::ZERO,
    base_rtt: Some(RTT),
    bottleneck: None,
    handover: None,
};

fn at(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A packet returns on a path, at a time and after a round-trip time in milliseconds.
fn ack(controller: &mut dyn CongestionControl, path: PathId, [now, rtt]: [u64; 2]) {
    let packet = Acked { size: DATAGRAM, ..acked(at(now), SimDuration::from_millis(rtt)) };
    controller.on_ack(path, &packet);
}

/// A packet sent at a time, in milliseconds, is lost a round trip later.
fn lose(controller: &mut dyn CongestionControl, path: PathId, sent: u64) {
    controller.on_loss(path, &Congestion::new(at(sent) + RTT, at(sent), DATAGRAM, false));
}

fn growth(
    controller: &mut dyn CongestionControl,
    path: PathId,
    act: impl FnOnce(&mut dyn CongestionControl),
) -> u64 {
    let before = controller.window(path).get();
    act(controller);
    controller.window(path).get() - before
}

/// Both paths at 60 kB, out of slow start and recovery, and without a packet returned since.
fn in_avoidance(controller: &mut dyn CongestionControl) {
    for path in [FIRST, SECOND] {
        controller.open(path, SimTime::ZERO, DATAGRAM);
        controller.set_window(path, Bytes::new(60_000), Some(Bytes::new(60_000)));
    }
}

#[test]
fn an_algorithm_sees_all_paths_and_changes_its_own() {
    let mut controller = Coupled::new(&Opening::default(), &context(), |_| Probe::default());
    in_avoidance(&mut controller);
    // Nothing returned on the second path yet: it counts for nothing.
    for packets in 1..=3 {
        let grown = growth(&mut controller, FIRST, |all| ack(all, FIRST, [200, 100]));
        assert_eq!(grown, packets);
    }
    assert_eq!(controller.window(SECOND), Bytes::new(60_000));
    let grown = growth(&mut controller, SECOND, |all| ack(all, SECOND, [300, 50]));
    assert_eq!(grown, 1 + 100 * 3);
    controller.on_forecast(SECOND, &FORECAST);
    let grown = growth(&mut controller, FIRST, |all| ack(all, FIRST, [300, 100]));
    assert_eq!(grown, 4 + 100 * 10_001);
    // Two paths have a round-trip time: to a third of the window, and back with what was learned.
    let before = controller.window(FIRST);
    lose(&mut controller, FIRST, 400);
    assert_eq!(controller.window(FIRST).get(), before.get() / 3);
    ack(&mut controller, FIRST, [450, 100]);
    controller.on_spurious_loss(FIRST);
    assert_eq!(controller.window(FIRST), before);
    let grown = growth(&mut controller, FIRST, |all| ack(all, FIRST, [600, 100]));
    assert_eq!(grown, 6 + 100 * 10_001, "the fifth packet was acknowledged in recovery");
    // A closed path is seen by nobody, and says nothing.
    controller.close(SECOND);
    ack(&mut controller, SECOND, [700, 50]);
    let grown = growth(&mut controller, FIRST, |all| ack(all, FIRST, [700, 100]));
    assert_eq!((grown, controller.phase(SECOND)), (7, "closed"));
    assert!(!controller.set_window(SECOND, Bytes::new(1), None));
}

fn three() -> [Box<dyn CongestionModel>; 3] {
    [Box::new(LiaSpec::default()), Box::new(OliaSpec::default()), Box::new(BaliaSpec::default())]
}

/// A second path opens beside one that is established, closes, and opens again: it starts as a path alone does, and the
/// first grows as NewReno does while nothing has arrived over the second, and by less from then on.
#[test]
fn a_path_counts_from_its_first_acknowledgement_until_it_closes() {
    for model in three() {
        let (mut all, mut alone) =
            (model.build(&context()), NewRenoSpec::default().build(&context()));
        for controller in [&mut all, &mut alone] {
            controller.open(FIRST, SimTime::ZERO, DATAGRAM);
            controller.set_window(FIRST, Bytes::new(60_000), Some(Bytes::new(60_000)));
        }
        let mut now = 1_000;
        let mut first = |all: &mut Box<dyn CongestionControl>, packets: u64| {
            growth(&mut **all, FIRST, |all| {
                for _ in 0..packets {
                    now += 2;
                    ack(all, FIRST, [now, 100]);
                }
            })
        };
        assert_eq!(first(&mut all, 50), first(&mut alone, 50));
        for (id, opened) in [(1, 1_500), (2, 3_000)] {
            let second = PathId(id);
            all.open(second, at(opened), DATAGRAM);
            assert_eq!(all.window(second), Bytes::new(10 * DATAGRAM.get()));
            assert_eq!((all.phase(second), all.ssthresh(second)), ("slow-start", None));
            assert_eq!(first(&mut all, 50), first(&mut alone, 50));
            for packet in 0..40 {
                ack(&mut *all, second, [opened + 100 + packet, 100]);
            }
            // Slow start is as ever.
            assert_eq!(all.window(second), Bytes::new(50 * DATAGRAM.get()));
            let (coupled, reno) = (first(&mut all, 50), first(&mut alone, 50));
            assert!(coupled < reno / 2, "{coupled} bytes beside another path, {reno} alone");
            all.close(second);
            all.set_window(FIRST, alone.window(FIRST), None);
            // The windows are equal but for a byte that was not whole yet.
            let (again, reno) = (first(&mut all, 50), first(&mut alone, 50));
            assert!(again.abs_diff(reno) <= 1, "{again} bytes after the close, {reno} alone");
            all.set_window(FIRST, alone.window(FIRST), None);
            alone.set_window(FIRST, alone.window(FIRST), None);
        }
    }
}

/// A path that opens again under its number starts afresh, and the others do not see it until it is measured anew.
#[test]
fn a_path_reopened_starts_afresh() {
    for model in three() {
        let mut all = model.build(&context());
        in_avoidance(&mut *all);
        ack(&mut *all, FIRST, [100, 100]);
        ack(&mut *all, SECOND, [100, 100]);
        lose(&mut *all, SECOND, 200);
        all.open(SECOND, at(400), Bytes::new(1_000));
        assert_eq!(all.window(SECOND), Bytes::new(10_000));
        assert_eq!((all.phase(SECOND), all.ssthresh(SECOND)), ("slow-start", None));
        let window = all.window(FIRST).get();
        let grown = growth(&mut *all, FIRST, |all| {
            for packet in 0..50 {
                ack(all, FIRST, [500 + packet, 100]);
            }
        });
        // 50 packets of NewReno at this window, the window's own growth within included.
        let reno = 50.0 * 1_200.0 * 1_200.0 / window as f64;
        assert!((grown as f64 / reno - 1.0).abs() < 0.02, "{grown} bytes, {reno} alone");
    }
}

/// Losses on one path leave the window of the other alone, and change its growth: by RFC 6356, with windows of 60 and 30 kB
/// at 100 ms, the first grows by 60 / 90^2 of a packet in a kB instead of 60 / 120^2.
#[test]
fn a_loss_on_one_path_changes_the_growth_of_the_other() {
    let mut all = LiaSpec::default().build(&context());
    in_avoidance(&mut *all);
    ack(&mut *all, FIRST, [100, 100]);
    ack(&mut *all, SECOND, [100, 100]);
    let packets = |all: &mut dyn CongestionControl, now: u64| {
        growth(all, FIRST, |all| (0..50).for_each(|packet| ack(all, FIRST, [now + packet, 100])))
    };
    let before = packets(&mut *all, 200);
    let window = all.window(FIRST);
    lose(&mut *all, SECOND, 300);
    assert_eq!(all.window(FIRST), window);
    let after = packets(&mut *all, 400);
    let ratio = after as f64 / before as f64;
    assert!((ratio - (120.0 / 90.0) * (120.0 / 90.0)).abs() < 0.03, "{before} and {after} bytes");
}

/// A pacing rate is left to the transport, as with every window without a rate of its own.
#[test]
fn the_transport_paces() {
    for model in three() {
        let mut all = model.build(&context());
        in_avoidance(&mut *all);
        assert_eq!(all.pacing_rate(FIRST), None::<BitRate>);
        assert!(!all.bypasses_recovery(FIRST));
    }
}
