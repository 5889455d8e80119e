//! Controllers that fail, under every transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use leobench_base::BitRate;

use super::failing::{CALLS, Failing};
use super::*;
use crate::endpoint::{EndpointError, Forecast, Input};
use crate::quic::{self, QuicEndpoint, Role};
use crate::quic_noq::{self, NoqEndpoint};
use crate::tcp::{self, TcpEndpoint};
use crate::testing::{Observed, Pipe, RECEIVER, SENDER, ms};

const BYTES: u64 = 5_000_000;

/// A transport whose controller a test replaces.
pub(super) trait Controlled: Observed {
    /// A pipe from a client that sends, with ECN or without.
    fn connect(ecn: bool) -> Pipe<Self>;

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>);
}

impl Controlled for TcpEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        tcp::tests::connect(&tcp::tests::spec(|spec| spec.ecn = ecn), Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

impl Controlled for NoqEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        quic_noq::tests::connect(&quic_noq::tests::spec(|spec| spec.ecn = ecn), 1, Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

impl Controlled for QuicEndpoint {
    fn connect(ecn: bool) -> Pipe<Self> {
        quic::tests::connect(&quic::tests::spec(|spec| spec.ecn = ecn), 1, Role::Client)
    }

    fn set_controller(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.set_controller(algorithm);
    }
}

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
        pipe.run(ms(60_000), |pipe| pipe.failed.is_some() || pipe.delivered[0] >= BYTES);
    }
    (pipe, closed)
}

fn a_failure_in_any_call_ends_the_run<E: Controlled>() {
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

fn the_end_of_a_run_closes_an_open_path<E: Controlled>() {
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

#[test]
fn a_failure_in_any_call_ends_the_run_with_name_time_and_trace() {
    a_failure_in_any_call_ends_the_run::<TcpEndpoint>();
    a_failure_in_any_call_ends_the_run::<QuicEndpoint>();
    a_failure_in_any_call_ends_the_run::<NoqEndpoint>();
}

#[test]
fn the_end_of_a_run_closes_an_open_path_once() {
    the_end_of_a_run_closes_an_open_path::<TcpEndpoint>();
    the_end_of_a_run_closes_an_open_path::<QuicEndpoint>();
    the_end_of_a_run_closes_an_open_path::<NoqEndpoint>();
}
