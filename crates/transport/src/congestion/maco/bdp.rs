//! Algorithm 1: the bandwidth-delay product of a path, from reports on its access link and from acknowledgements.

use leobench_base::packet::IPV4_UDP_HEADER;
use leobench_base::{Bytes, SimDuration, SimTime};

use super::kalman::{Kalman, Noise};
use super::{DelayEstimate, MacoSpec, RateCounts};
use crate::congestion::{AckEnd, Acked, Rtt, Sent};
use crate::endpoint::AccessService;

/// Speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

/// Equation 14: the mean of a quantity, constant between updates, over a time that ends with the last update.
///
/// Sixteen points of its integral are kept, an eighth of that time apart at least, and between two of them the integral is
/// taken as straight.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MovingMean {
    /// The last update, and the quantity since.
    now: Option<(SimTime, f64)>,
    /// The integral up to the last update.
    integral: f64,
    points: [(SimTime, f64); 16],
    /// Points taken so far; the newest is at the index before this one.
    taken: usize,
}

impl MovingMean {
    fn point(&self, age: usize) -> (SimTime, f64) {
        self.points[(self.taken - 1 - age) % self.points.len()]
    }

    /// The quantity is `value` from `now` on. `span` is the time over which the mean will be taken.
    pub fn update(&mut self, now: SimTime, value: f64, span: SimDuration) {
        if let Some((then, value)) = self.now {
            self.integral += value * now.saturating_since(then).as_secs_f64();
        }
        self.now = Some((now, value));
        let apart = |(then, _)| now.saturating_since(then) >= span / 8;
        if self.taken == 0 || apart(self.point(0)) {
            self.points[self.taken % self.points.len()] = (now, self.integral);
            self.taken += 1;
        }
    }

    /// The mean over `span`, or over as much of it as is known.
    pub fn get(&self, span: SimDuration) -> Option<f64> {
        let (now, value) = self.now?;
        let start = SimTime::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()));
        let mut after = (now, self.integral);
        for age in 0..self.taken.min(self.points.len()) {
            let before = self.point(age);
            if before.0 <= start {
                let rise = after.1 - before.1;
                let width = after.0.saturating_since(before.0).as_secs_f64().max(1e-12);
                let share = start.saturating_since(before.0).as_secs_f64() / width;
                after = (start, before.1 + rise * share.min(1.0));
                break;
            }
            after = before;
        }
        let known = now.saturating_since(after.0).as_secs_f64();
        Some(if known > 0.0 { (self.integral - after.1) / known } else { value })
    }
}

/// Equation 4: the rate at which data arrives, in bytes per second, sampled over an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Sampler {
    start: Option<SimTime>,
    bytes: u64,
    /// Whether the application left the window unfilled.
    app_limited: bool,
}

impl Sampler {
    fn add(&mut self, bytes: u64, app_limited: bool) {
        self.bytes += bytes;
        self.app_limited |= app_limited;
    }

    /// Acknowledgements up to `now` are in; the sample if `interval` has passed. One that the application limits tells that
    /// the path has that rate at least, so it counts above the rate `known` (draft-ietf-ccwg-bbr section 5.5.5).
    fn sample(&mut self, now: SimTime, interval: SimDuration, known: Option<f64>) -> Option<f64> {
        let Some(start) = self.start else {
            *self = Self { start: Some(now), ..Self::default() };
            return None;
        };
        let span = now.saturating_since(start);
        if span < interval || span.is_zero() {
            return None;
        }
        let ended = std::mem::replace(self, Self { start: Some(now), ..Self::default() });
        let rate = ended.bytes as f64 / span.as_secs_f64();
        let more = known.is_some_and(|known| rate > known);
        (!ended.app_limited || more).then_some(rate)
    }
}

/// Mean and variance of recent values, weighted by their age.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deviation {
    mean: Option<f64>,
    variance: f64,
}

impl Deviation {
    pub fn add(&mut self, value: f64, weight: f64) {
        let mean = self.mean.get_or_insert(value);
        let distance = value - *mean;
        *mean += weight * distance;
        self.variance = (1.0 - weight) * (self.variance + weight * distance * distance);
    }

    /// The standard deviation.
    pub fn get(&self) -> f64 {
        libm::sqrt(self.variance)
    }
}

/// The rate of the bottleneck as acknowledgements show it (`C^N`), in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// The latest sample (`TP` of equation 17).
    pub sample: f64,
    /// The estimate before that sample; none before the second.
    pub before: Option<f64>,
    /// The standard deviation by which a sample may differ from that estimate.
    pub spread: f64,
    estimate: f64,
}

/// Estimates for one path. The link layer's rate is that of its packets, headers included.
#[derive(Clone, Debug)]
pub(super) struct Bdp {
    /// `C^A` in bytes per second, as last reported; zero is never reported.
    pub access: Option<f64>,
    /// Whether the last report names a satellite that serves.
    pub is_served: bool,
    /// Light's way to the satellite and back, in seconds; zero if not known.
    light: f64,
    /// The other part of the propagation delay, there and back, in seconds: first a constant, then measured.
    rest: f64,
    is_delay_measured: bool,
    /// Round-trip times; none before the first acknowledgement.
    pub rtt: Option<Rtt>,
    /// The propagation delay before the last round-trip time was measured (`D(t - 1)`).
    pub delay_before: f64,
    pub measured: Option<Measured>,
    /// Differences between round-trip times and the propagation delay, once for every sample.
    pub deviation: Deviation,
    sampler: Sampler,
    filter: Option<Kalman>,
    mean: MovingMean,
    /// Whether something was acknowledged since the last acknowledgement ended.
    acked: bool,
    headers: u64,
}

impl Bdp {
    pub fn new(spec: &MacoSpec) -> Self {
        let headers = match spec.rate_counts {
            RateCounts::Payload => Bytes::ZERO,
            RateCounts::Headers => IPV4_UDP_HEADER,
        };
        Self {
            access: None,
            is_served: true,
            light: 0.0,
            rest: 2.0 * spec.terrestrial_delay.as_secs_f64(),
            is_delay_measured: false,
            rtt: None,
            delay_before: 0.0,
            measured: None,
            deviation: Deviation::default(),
            sampler: Sampler::default(),
            filter: None,
            mean: MovingMean::default(),
            acked: false,
            headers: headers.get(),
        }
    }

    /// A report. One of a rate of zero is as one without a satellite. A distance that is none, or longer than the shortest
    /// round trip, is wrong.
    pub fn on_service(&mut self, service: Option<&AccessService>) {
        let service = service.filter(|service| service.rate.bps() > 0);
        self.is_served = service.is_some();
        let Some(service) = service else { return };
        self.access = Some(service.rate.bps() as f64 / 8.0);
        if !(service.range_m.is_finite() && service.range_m >= 0.0) {
            return;
        }
        let most = self.rtt.map_or(f64::INFINITY, |rtt| rtt.min.as_secs_f64());
        let light = (2.0 * service.range_m / LIGHT).min(most);
        if self.is_delay_measured && self.light == 0.0 {
            self.rest = (self.rest - light).max(0.0);
        }
        self.light = light;
    }

    pub fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == sent.size {
            self.sampler = Sampler::default();
        }
    }

    pub fn on_ack(&mut self, acked: &Acked) {
        self.acked = true;
        self.sampler.add(acked.size.get() + self.headers, acked.app_limited);
        if !acked.ambiguous {
            self.rtt = Some(acked.rtt);
        }
    }

    /// Lines 9 to 15 of algorithm 1.
    pub fn on_ack_end(&mut self, end: &AckEnd, spec: &MacoSpec) {
        let (true, Some(rtt)) = (std::mem::take(&mut self.acked), self.rtt) else { return };
        let latest = rtt.latest.as_secs_f64();
        self.delay_before = self.delay();
        self.measure_delay(latest, spec);
        let interval = spec.sampling.unwrap_or(rtt.smoothed);
        let known = self.measured.map(|measured| measured.estimate);
        if let Some(sample) = self.sampler.sample(end.now, interval, known) {
            self.deviation.add(latest - self.delay_before, spec.deviation_weight);
            self.measure_rate(sample, spec);
        }
        if let Some(rate) = self.rate() {
            self.mean.update(end.now, rate * self.delay(), rtt.smoothed);
        }
    }

    /// The part of a round trip that is not light's way to the satellite replaces the constant, and then the mean or the
    /// minimum.
    fn measure_delay(&mut self, latest: f64, spec: &MacoSpec) {
        let rest = (latest - self.light).max(0.0);
        let first = !std::mem::replace(&mut self.is_delay_measured, true);
        self.rest = match spec.delay_estimate {
            _ if first => rest,
            DelayEstimate::Minimum => self.rest.min(rest),
            DelayEstimate::Ewma => self.rest + spec.delay_weight * (rest - self.rest),
        };
    }

    fn measure_rate(&mut self, sample: f64, spec: &MacoSpec) {
        let before = self.measured.map(|measured| measured.estimate);
        let (mut estimate, mut spread) = (sample, 0.0);
        if spec.filter {
            let filter = self.filter.get_or_insert_with(|| {
                let variance = |share: f64| share * share * sample * sample;
                let (increment, measurement) =
                    (variance(spec.filter_drift), variance(spec.filter_noise));
                Kalman::new(sample, Noise { increment, measurement }, spec.filter_window.get())
            });
            if before.is_some() {
                filter.update(sample);
            }
            (estimate, spread) = (filter.state.estimate, libm::sqrt(filter.spread));
        }
        self.measured = Some(Measured { sample, before, spread, estimate });
    }

    /// The round-trip propagation delay in seconds (`D`, equation 11).
    pub fn delay(&self) -> f64 {
        self.light + self.rest
    }

    /// The rate of the bottleneck in bytes per second (equation 12), as far as it is known.
    fn rate(&self) -> Option<f64> {
        let measured = self.measured.map(|measured| measured.estimate);
        match (self.access, measured) {
            (Some(access), Some(measured)) => Some(access.min(measured)),
            (access, measured) => access.or(measured),
        }
    }

    /// The mean over a round trip (equation 14), or the product at this instant before the first acknowledgement, in bytes.
    pub fn averaged(&self) -> Option<f64> {
        let averaged = self.rtt.and_then(|rtt| self.mean.get(rtt.smoothed));
        averaged.or_else(|| Some(self.rate()? * self.delay()))
    }

    /// The product for a path that has yet to find its rate: that of the access link (lines 6 to 8 of algorithm 1), in bytes.
    pub fn first(&self) -> Option<f64> {
        Some(self.access? * self.delay())
    }

    /// Bytes that the path delivers in its shortest round trip by acknowledgements alone, once they have been sampled.
    pub fn delivered(&self) -> Option<f64> {
        let measured = self.measured?;
        Some(measured.sample.max(measured.estimate) * self.rtt?.min.as_secs_f64())
    }
}
