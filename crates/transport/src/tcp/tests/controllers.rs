//! A controller under TCP: what it is told, and what becomes of a run if it fails.

use super::*;
use crate::congestion::CongestionControl;
use crate::testing::{
    Controlled, a_failure_in_any_call_ends_the_run, congestion_precedes_growth,
    the_end_of_a_run_closes_an_open_path,
};

impl Controlled for TcpEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        connect(&spec(|spec| spec.ecn = ecn), Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

#[test]
fn a_failure_in_any_call_ends_the_run_with_name_time_and_trace() {
    a_failure_in_any_call_ends_the_run::<TcpEndpoint>();
}

#[test]
fn the_end_of_a_run_closes_an_open_path_once() {
    the_end_of_a_run_closes_an_open_path::<TcpEndpoint>();
}

#[test]
fn congestion_is_told_before_the_acknowledgement_that_reveals_it() {
    congestion_precedes_growth::<TcpEndpoint>();
}
