//! A controller under QUIC: what it is told, and what becomes of a run if it fails.

use leobench_transport::congestion::CongestionControl;
use leobench_transport::testing::{
    Controlled, a_failure_in_any_call_ends_the_run, congestion_precedes_growth,
    the_end_of_a_run_closes_an_open_path,
};

use super::*;

impl Controlled for QuicEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        connect(&spec(|spec| spec.ecn = ecn), 1, Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

#[test]
fn a_failure_in_any_call_ends_the_run_with_name_time_and_trace() {
    a_failure_in_any_call_ends_the_run::<QuicEndpoint>();
}

#[test]
fn the_end_of_a_run_closes_an_open_path_once() {
    the_end_of_a_run_closes_an_open_path::<QuicEndpoint>();
}

#[test]
fn congestion_is_told_before_the_acknowledgement_that_reveals_it() {
    congestion_precedes_growth::<QuicEndpoint>();
}
