//! Reports on access links reach the controller when it has the path, and not before.

use std::sync::{Arc, Mutex};

use leobench_base::LinkId;
use leobench_transport::endpoint::AccessReport;

use super::*;

/// A path is opened, or reported on at a time.
type Call = (PathId, Option<SimTime>);

/// A controller that notes paths and reports.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Call>>>);

impl CongestionControl for Told {
    fn open(&mut self, path: PathId, _now: SimTime, _datagram: Bytes) {
        self.0.lock().unwrap().push((path, None));
    }

    fn on_ack(&mut self, _path: PathId, _acked: &Acked) {}

    fn on_loss(&mut self, _path: PathId, _congestion: &Congestion) {}

    fn on_ecn(&mut self, _path: PathId, _congestion: &Congestion) {}

    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        self.0.lock().unwrap().push((path, Some(report.at)));
    }

    fn window(&self, _path: PathId) -> Bytes {
        Bytes::new(100 * SIZE)
    }

    fn phase(&self, _path: PathId) -> &'static str {
        "noting"
    }
}

#[test]
fn reports_wait_for_their_path() {
    let told = Told::default();
    let mut control = Control::new("told", Box::new(told.clone()));
    let mut seen = 0;
    let mut new = |said: &[(u32, Option<u64>)]| {
        let told = told.0.lock().unwrap();
        let said: Vec<_> =
            said.iter().map(|(path, millis)| (PathId(*path), millis.map(at))).collect();
        assert_eq!(told[seen..], said);
        seen = told.len();
    };
    let report = |path: u32, millis: u64| AccessReport {
        path: PathId(path),
        link: LinkId::from(path as usize),
        at: at(millis),
        service: None,
        handover: None,
    };
    control.on_access(&report(0, 1));
    control.on_access(&report(0, 2));
    new(&[]);
    control.open(PathId(0), at(3), Bytes::new(SIZE));
    new(&[(0, None), (0, Some(2))]);
    control.on_access(&report(1, 4));
    control.on_access(&report(0, 5));
    new(&[(0, Some(5))]);
    control.open(PathId(1), at(6), Bytes::new(SIZE));
    new(&[(1, None), (1, Some(4))]);
    // A path that begins anew, as after a migration, goes on with what was last known.
    control.close(PathId(0));
    control.open(PathId(0), at(7), Bytes::new(SIZE));
    new(&[(0, None), (0, Some(5))]);
    // Nothing is kept of a path that is gone.
    control.close(PathId(1));
    control.forget(PathId(1));
    control.open(PathId(1), at(8), Bytes::new(SIZE));
    new(&[(1, None)]);
}
