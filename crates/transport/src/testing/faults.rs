//! Controllers that fail, under every transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use leobench_base::{BitRate, LinkId, SimDuration, SimTime};

use super::failing::{CALLS, Failing};
use super::{Controlled, Pipe, RECEIVER, SENDER, ms};
use crate::endpoint::{AccessReport, EndpointError, Forecast, Input, PathId};

const BYTES: u64 = 5_000_000;

/// A pipe whose sender has a controller that fails in `call`, and the number of paths that this controller has closed.
fn failing<E: Controlled>(call: &'static str, ecn: bool) -> (Pipe<E>, Arc<AtomicUsize>) {
    let mut pipe = E::connect(ecn);
    let (algorithm, closed) = Failing::in_call(call);
    pipe.ends[SENDER].set_controller(algorithm);
    (pipe, closed)
}

/// A transfer that makes every call: losses, marks, reordering, and a forecast after half a second.
fn transfer<E: Controlled>(call: &'static str) -> (Pipe<E>, Arc<AtomicUsize>) {
    // Losses and marks hide the proof that a loss was spurious. With reordering, the QUIC stack stops using ECN.
    let (spurious, marks) = (call == "on_spurious_loss", call == "on_ecn");
    let (mut pipe, closed) = failing::<E>(call, !spurious);
    pipe.rate = BitRate::from_bps(20_000_000);
    pipe.mark_after = Some(SimDuration::from_millis(10));
    pipe.may_fail = true;
    pipe.fate = Box::new(move |end, number, _| {
        let late = if marks { 0 } else { (number * 7_919) % 13 };
        let late = SimDuration::from_micros(late as u64 * 500);
        (spurious || end != SENDER || number < 1_500 || number % 100 != 99).then_some(late)
    });
    pipe.write(0, BYTES);
    pipe.run(ms(500), |pipe| pipe.failed.is_some());
    if pipe.failed.is_none() {
        let at = SimTime::ZERO + SimDuration::from_secs(1);
        let (path, base_rtt, bottleneck, handover) = (PathId(0), None, None, None);
        pipe.input(Input::Forecast(Forecast { path, at, base_rtt, bottleneck, handover }));
        let (link, service) = (LinkId::from(0), None);
        pipe.input(Input::Access(AccessReport { path, link, at, service, handover }));
        pipe.run(ms(60_000), |pipe| pipe.failed.is_some() || pipe.delivered[0] >= BYTES);
    }
    (pipe, closed)
}

/// A failure in any call of a controller ends the run, with its name, the time and the trace.
///
/// # Panics
/// If it does not.
pub fn a_failure_in_any_call_ends_the_run<E: Controlled>() {
    for call in CALLS {
        let (mut pipe, closed) = transfer::<E>(call);
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

/// The end of a run closes a path that is open, once, and no other.
///
/// # Panics
/// If it does not.
pub fn the_end_of_a_run_closes_an_open_path<E: Controlled>() {
    let (mut pipe, closed) = transfer::<E>("none");
    assert_eq!((pipe.failed.clone(), closed.load(Relaxed)), (None, 0));
    assert_eq!(pipe.delivered, [BYTES]);
    assert!(pipe.dropped[SENDER] > 10 && pipe.dropped[RECEIVER] == 0);
    pipe.ends[SENDER].finish(pipe.now).unwrap();
    assert_eq!(closed.load(Relaxed), 1);
    // A connection that never opened has no path.
    let (mut pipe, closed) = failing::<E>("none", true);
    pipe.ends[SENDER].finish(SimTime::ZERO).unwrap();
    assert_eq!(closed.load(Relaxed), 0);
}
