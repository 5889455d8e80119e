//! A controller under noq-proto: what it is told, and what becomes of a run if it fails.

use leobench_transport::congestion::CongestionControl;
use leobench_transport::testing::Controlled;

use super::*;

impl Controlled for NoqEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        connect(&spec(|spec| spec.ecn = ecn), 1, Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

leobench_transport::test_controlled!(NoqEndpoint);
