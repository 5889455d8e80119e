//! A controller under TCP: what it is told, and what becomes of a run if it fails.

use std::sync::{Arc, Mutex};

use leobench_base::LinkId;

use super::*;
use crate::congestion::{Acked, Congestion, CongestionControl};
use crate::endpoint::{AccessReport, PathId};
use crate::testing::Controlled;

impl Controlled for TcpEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        connect(&spec(|spec| spec.ecn = ecn), Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

crate::test_controlled!(TcpEndpoint);

/// A controller that notes when its path is opened, and reports on its access link.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Option<SimTime>>>>);

impl CongestionControl for Told {
    fn open(&mut self, _path: PathId, _now: SimTime, _datagram: Bytes) {
        self.0.lock().unwrap().push(None);
    }

    fn on_ack(&mut self, _path: PathId, _acked: &Acked) {}

    fn on_loss(&mut self, _path: PathId, _congestion: &Congestion) {}

    fn on_ecn(&mut self, _path: PathId, _congestion: &Congestion) {}

    fn on_access(&mut self, _path: PathId, report: &AccessReport) {
        self.0.lock().unwrap().push(Some(report.at));
    }

    fn window(&self, _path: PathId) -> Bytes {
        Bytes::new(100_000)
    }

    fn phase(&self, _path: PathId) -> &'static str {
        "noting"
    }
}

/// A report before the handshake reaches the controller when the connection opens, before any data.
#[test]
fn an_early_report_waits_for_the_connection() {
    for role in [Role::Client, Role::Server] {
        let mut pipe = connect(&spec(|_| {}), role);
        let told = Told::default();
        pipe.ends[SENDER].set_controller(Box::new(told.clone()));
        let (path, link, service, handover) = (PathId(0), LinkId::from(0), None, None);
        let report = |at| Input::Access(AccessReport { path, link, at, service, handover });
        let early = ms(1);
        pipe.input(report(early));
        let said = || told.0.lock().unwrap().clone();
        assert_eq!(said(), []);
        pipe.write(0, 10_000);
        pipe.run(ms(1_000), |pipe| pipe.delivered[0] > 0);
        assert_eq!(said(), [None, Some(early)]);
        let later = ms(2_000);
        pipe.input(report(later));
        assert_eq!(said(), [None, Some(early), Some(later)]);
    }
}
