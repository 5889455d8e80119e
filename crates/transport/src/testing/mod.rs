//! Tools for the tests of every transport: a scriptable pipe, tests of what a controller is told, and a plug-in.

mod failing;
mod faults;
mod order;
mod pipe;
mod plugins;

use leobench_base::RngTree;

use crate::congestion::{CongestionContext, CongestionControl, CongestionModel, NewRenoSpec};
use crate::plugin::Plugins;

pub use faults::{a_failure_in_any_call_ends_the_run, the_end_of_a_run_closes_an_open_path};
pub use order::congestion_precedes_growth;
pub use pipe::{Observed, Pipe, RECEIVER, SENDER, Way, ms};
pub use plugins::in_order;

/// A transport whose controller a test replaces.
pub trait Controlled: Observed {
    /// A pipe from a client that sends, with ECN or without.
    fn connect(ecn: bool) -> Pipe<Self>;

    /// Replaces the congestion controller, before the connection opens.
    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>);
}

/// The tests of what a controller under a transport is told, and what becomes of a run if it fails.
#[macro_export]
macro_rules! test_controlled {
    ($endpoint:ty) => {
        #[test]
        fn a_failure_in_any_call_ends_the_run_with_name_time_and_trace() {
            $crate::testing::a_failure_in_any_call_ends_the_run::<$endpoint>();
        }

        #[test]
        fn the_end_of_a_run_closes_an_open_path_once() {
            $crate::testing::the_end_of_a_run_closes_an_open_path::<$endpoint>();
        }

        #[test]
        fn congestion_is_told_before_the_acknowledgement_that_reveals_it() {
            $crate::testing::congestion_precedes_growth::<$endpoint>();
        }
    };
}

fn newreno() -> Box<dyn CongestionControl> {
    let context = CongestionContext { rng: &RngTree::new(1), paced: false, plugins: Plugins::NONE };
    NewRenoSpec::default().build(&context)
}
