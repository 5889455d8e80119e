//! MACO against its paper, and against recursions and simulations written independently.

mod confusion;
mod estimates;
mod filter;
mod growth;
mod starts;

use leobench_base::{BitRate, LinkId, SimDuration, SimTime};

use super::MacoSpec;
use crate::congestion::CongestionControl;
use crate::congestion::tests::flow::Flow;
use crate::endpoint::{AccessReport, AccessService, PathId};

/// A report on a link of `mbps` by a satellite 550 km away, at a time.
fn report(path: PathId, link: usize, at: SimTime, mbps: f64) -> AccessReport {
    let rate = BitRate::from_bps((mbps * 1e6) as u64);
    let service = AccessService { satellite: 1.into(), snr_db: 10.0, range_m: 550_000.0, rate };
    AccessReport { path, link: LinkId::from(link), at, service: Some(service), handover: None }
}

/// A report on a link that no satellite serves.
fn unserved(path: PathId, link: usize, at: SimTime) -> AccessReport {
    AccessReport { service: None, ..report(path, link, at, 1.0) }
}

/// MACO to which every loss is congestion.
fn unaware() -> MacoSpec {
    MacoSpec { mobility_aware: false, ..MacoSpec::default() }
}

/// Tells a flow that its access link offers a rate in Mbit/s.
fn tell<C: CongestionControl + ?Sized>(flow: &mut Flow<C>, mbps: f64) {
    let told = report(super::super::tests::flow::PATH, 0, flow.now, mbps);
    flow.controller.on_access(told.path, &told);
}

fn ms(millis: u64) -> SimDuration {
    SimDuration::from_millis(millis)
}
