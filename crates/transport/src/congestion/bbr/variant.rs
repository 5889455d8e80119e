//! The differences between the controllers that share this model of a path: version 1 itself, and LeoCC
//! (`leocc`).

use leobench_base::SimDuration;

use super::super::delivery_rate::DeliveryRate;
use super::super::rate::RateSample;
use super::{Mode, PROBE_GAIN};
use crate::endpoint::Forecast;

/// A controller of BBR's kind. What is not implemented is as in version 1.
pub(in super::super) trait Variant: Send {
    /// A forecast of the path arrived.
    fn on_forecast(&mut self, forecast: &Forecast) {
        let _ = forecast;
    }

    /// Takes a sample before the model does; `round_begins` with it.
    fn on_sample(&mut self, sample: &RateSample, round_begins: bool, mode: Mode) {
        let _ = (sample, round_begins, mode);
    }

    /// Takes a sample after the model has; `min_rtt` is the model's.
    fn after_sample(&mut self, sample: &RateSample, min_rtt: Option<SimDuration>, mode: Mode) {
        let _ = (sample, min_rtt, mode);
    }

    /// Whether `ProbeRTT` is due; `expired` if the minimum of the round-trip time is old.
    fn probe_rtt_is_due(&self, expired: bool, mode: Mode) -> bool {
        expired && mode != Mode::ProbeRtt
    }

    /// Share of the path's volume that stays in flight in `ProbeRTT`. Four packets do in any case (`BBRMinPipeCwnd`).
    fn probe_rtt_share(&self) -> f64 {
        0.0
    }

    /// Whether the round trip at the end of `ProbeRTT` replaces the minimum, even if it is longer.
    fn replaces_min_rtt(&self) -> bool {
        false
    }

    /// The bandwidth with which a new Startup begins after `ProbeRTT`, if one does.
    fn new_startup(&self) -> Option<DeliveryRate> {
        None
    }

    /// Startup has found the bandwidth.
    fn on_full_pipe(&mut self) {}

    /// The bandwidth that rate and window follow in the place of the largest sample, if there is one.
    fn bandwidth(&self) -> Option<DeliveryRate> {
        None
    }

    /// The pacing gain with which `ProbeBW` probes.
    fn probe_gain(&self) -> f64 {
        PROBE_GAIN
    }
}

/// BBR version 1.
pub(in super::super) struct Version1;

impl Variant for Version1 {}
