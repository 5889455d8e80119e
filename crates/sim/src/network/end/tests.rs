use leobench_base::{SimDuration, SimTime};
use leobench_transport::endpoint::{PathSample, Totals};
use leobench_transport::{EndpointError, Input, Outbox, SendBuffer};

use super::*;

/// An end that has lost its connection, if at all, after some seconds.
struct Lost(Option<Loss>);

impl Endpoint for Lost {
    fn input(&mut self, _now: SimTime, _input: Input<'_>) -> Result<(), EndpointError> {
        Ok(())
    }

    fn poll(
        &mut self,
        _now: SimTime,
        _outbox: &mut Outbox,
    ) -> Result<Option<SimTime>, EndpointError> {
        Ok(None)
    }

    fn sample_paths(&self, _now: SimTime, _samples: &mut Vec<PathSample>) {}

    fn send_buffer(&self) -> Option<&SendBuffer> {
        None
    }

    fn totals(&self) -> Totals {
        Totals::default()
    }

    fn lost(&self) -> Option<&Loss> {
        self.0.as_ref()
    }
}

#[test]
fn the_first_end_to_lose_its_connection_is_named() {
    let first = |ends: [Option<u64>; 2]| {
        let ends = ends.map(|seconds| {
            let at = |seconds| SimTime::ZERO + SimDuration::from_secs(seconds);
            let loss = seconds.map(|seconds| Loss { at: at(seconds), reason: "reset".into() });
            Lost(loss)
        });
        first_loss([&ends[0], &ends[1]])
            .map(|(end, loss)| (end, loss.at.as_nanos() / 1_000_000_000))
    };
    assert_eq!(first([None, None]), None);
    assert_eq!(first([Some(4), None]), Some(("sender", 4)));
    assert_eq!(first([None, Some(5)]), Some(("receiver", 5)));
    assert_eq!(first([Some(4), Some(3)]), Some(("receiver", 3)));
}
