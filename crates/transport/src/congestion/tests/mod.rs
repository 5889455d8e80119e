mod averages;
pub(super) mod bbr;
pub(super) mod conformance;
mod coupled;
pub(super) mod flow;
mod growth;
mod khalili;
mod network;
mod throughput;

use super::*;
use crate::endpoint::HandoverForecast;

fn newreno() -> NewRenoSpec {
    NewRenoSpec::default()
}

fn cubic() -> CubicSpec {
    CubicSpec::default()
}

/// A packet of one byte that arrived at `now`, after `rtt`, when the window limited the sender.
pub(super) fn acked(now: SimTime, rtt: SimDuration) -> Acked {
    Acked {
        now,
        sent: SimTime::from_nanos(now.as_nanos().saturating_sub(rtt.as_nanos())),
        size: Bytes::new(1),
        packet_number: 0,
        in_flight: Bytes::new(1),
        app_limited: false,
        cwnd_limited: true,
        recovering: false,
        ambiguous: false,
        rtt: Rtt { latest: rtt, smoothed: rtt, min: rtt },
    }
}

pub(super) fn context() -> CongestionContext<'static> {
    static TREE: std::sync::OnceLock<RngTree> = std::sync::OnceLock::new();
    CongestionContext {
        rng: TREE.get_or_init(|| RngTree::new(1)),
        paced: false,
        plugins: Plugins::NONE,
    }
}

/// An instant in milliseconds.
pub(super) fn at(millis: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(millis)
}

/// A forecast of the first path that names a handover at this millisecond, or none.
pub(super) fn handover_forecast(millis: Option<u64>) -> Forecast {
    let handover = millis.map(|millis| HandoverForecast { from: at(millis), until: at(millis) });
    Forecast { path: PathId(0), at: SimTime::ZERO, base_rtt: None, bottleneck: None, handover }
}
