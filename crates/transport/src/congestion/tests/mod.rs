mod averages;
pub(super) mod bbr;
mod conformance;
mod coupled;
pub(super) mod flow;
mod growth;
mod khalili;
mod network;
mod throughput;

use super::*;

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
