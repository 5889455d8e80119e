//! Controllers that cannot go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;
use crate::congestion::tests::failing::{CALLS, Failing};
use crate::endpoint::{Hint, PathId};

/// A transfer with everything that a controller is told of: losses, marks, reordering and a hint.
fn transfer(call: &'static str) -> (Pipe, Arc<AtomicUsize>) {
    // Losses and marks hide what would prove a loss spurious.
    let spurious = call == "on_spurious_loss";
    let mut pipe = Pipe::new(&spec(|spec| spec.ecn = !spurious), Role::Client);
    let (algorithm, closed) = Failing::in_call(call);
    pipe.ends[SENDER].set_controller(algorithm);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.mark_after = Some(SimDuration::from_millis(10));
    pipe.may_fail = true;
    pipe.fate = Box::new(move |end, number, _| {
        let late = SimDuration::from_micros(((number * 7_919) % 13) as u64 * 500);
        (spurious || end != SENDER || number < 1_500 || number % 100 != 99).then_some(late)
    });
    pipe.write(5_000_000);
    pipe.run(ms(500), |pipe| pipe.failed.is_some());
    if pipe.failed.is_none() {
        let hint = Hint { path: PathId(0), base_rtt: None, bottleneck: None };
        pipe.ends[SENDER].input(pipe.now, Input::Hint(hint)).unwrap();
        pipe.wakes[SENDER] = Some(pipe.now);
        pipe.run(ms(60_000), |pipe| pipe.failed.is_some() || pipe.delivered >= 5_000_000);
    }
    (pipe, closed)
}

#[test]
fn a_failure_in_any_call_ends_the_run_with_name_time_and_trace() {
    for call in CALLS {
        let (mut pipe, closed) = transfer(call);
        let now = pipe.now;
        if call == "close" {
            assert_eq!(pipe.failed, None);
            pipe.failed = pipe.ends[SENDER].finish(now).err();
            assert_eq!(closed.load(Relaxed), 1);
        }
        let error = pipe.failed.unwrap_or_else(|| panic!("no failure in {call}"));
        let problem = format!("raised in {call}\nTraceback");
        assert_eq!(error.to_string(), format!("congestion controller `cubic` at {now}: {problem}"));
        let controller = "cubic".to_owned();
        assert_eq!(error, EndpointError::Controller { controller, at: now, problem });
    }
}

#[test]
fn the_end_of_a_run_closes_an_open_path_once() {
    let (mut pipe, closed) = transfer("none");
    assert_eq!((pipe.failed.clone(), closed.load(Relaxed)), (None, 0));
    pipe.ends[SENDER].finish(pipe.now).unwrap();
    assert_eq!(closed.load(Relaxed), 1);
    // A connection that never opened has no path.
    let mut pipe = Pipe::new(&spec(|_| ()), Role::Client);
    let (algorithm, closed) = Failing::in_call("none");
    pipe.ends[SENDER].set_controller(algorithm);
    pipe.ends[SENDER].finish(SimTime::ZERO).unwrap();
    assert_eq!(closed.load(Relaxed), 0);
}
