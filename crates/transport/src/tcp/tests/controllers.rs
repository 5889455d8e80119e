//! A controller under TCP: what it is told, and what becomes of a run if it fails.

use super::*;
use crate::congestion::CongestionControl;
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
