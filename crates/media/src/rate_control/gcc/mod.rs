//! Google congestion control (draft-ietf-rmcat-gcc-02), at the sender.
//!
//! Packets are grouped by the time at which they were sent ([`groups`]). The trend of the one-way delay between groups
//! ([`trendline`]) is compared with a threshold that adapts ([`detector`]). The result drives the delay-based rate
//! ([`delay_based`]); losses drive another one ([`loss_based`]), by libwebrtc's rules or by the draft's. The lower of the two is the
//! target. Frames are dropped while too much is in flight ([`congestion_window`]). Packets leave in bursts of a frame, which makes the trend
//! one over frames.
//!
//! The draft's arrival filter is a Kalman filter. libwebrtc replaced it by a regression line, whose estimate it scales to the
//! draft's thresholds; the filter here is that line, with its constants. So is its measurement of the arriving rate
//! ([`throughput`]), and so are the bursts with which it probes for capacity at the start ([`probes`]), which the draft does not have.
//! Later, the rate grows by 8 % a second at most.

mod application_limits;
mod congestion_window;
mod delay_based;
mod detector;
mod groups;
mod loss_based;
mod probes;
mod throughput;
mod trendline;

use leobench_base::{Bytes, SimDuration, SimTime};

use super::{Bounds, Feedback, FeedbackKind, RateControl, RateControlModel};
use application_limits::ApplicationLimits;
use congestion_window::CongestionWindow;
use delay_based::DelayBased;
use detector::{Detector, Usage};
use groups::Groups;
use loss_based::{LossBased, LossControl, Report};
use probes::Probes;
use throughput::Throughput;
use trendline::Trendline;

/// Packets leave so long before their time, up to so many bytes of them (libwebrtc, `PacingController::kDefaultBurstInterval`,
/// `kMaxBurstSize`). The draft spaces them.
const BURST: SimDuration = SimDuration::from_millis(40);
const BURST_BITS: f64 = 63_000.0 * 8.0;

leobench_base::spec! {
    /// Google congestion control (draft-ietf-rmcat-gcc-02) at the sender, with libwebrtc's trendline as arrival filter.
    ///
    /// The arriving rate is measured as in libwebrtc, without silences. The delay-based rate grows until the one-way delay
    /// rises, and then falls to 0.85 of the rate that arrives. Losses drive another rate, and the lower of both is the target. While
    /// more is in flight than the target sends in a round trip and 350 ms, frames are dropped, every other one at most. Bursts of
    /// padding at three and six times the start, and at twice what they show, find the capacity at first.
    pub struct GccSpec: Default {
        /// The controller of the loss-based rate: `libwebrtc` is that of Chromium, which takes some losses for random; with `draft`,
        /// losses of more than 10 % in a second lower the rate by half of their share.
        pub loss_based: LossBased = LossBased::Libwebrtc,
    }
}

impl RateControlModel for GccSpec {
    fn build(&self, bounds: Bounds) -> Box<dyn RateControl> {
        Box::new(Gcc::new(bounds, self.loss_based))
    }

    fn feedback(&self) -> Option<FeedbackKind> {
        Some(FeedbackKind::TransportWide)
    }
}

#[derive(Debug)]
struct Gcc {
    bounds: Bounds,
    groups: Groups,
    trendline: Trendline,
    detector: Detector,
    throughput: Throughput,
    probes: Probes,
    delay_based: DelayBased,
    loss_based: Box<dyn LossControl>,
    application_limits: ApplicationLimits,
    window: CongestionWindow,
}

impl Gcc {
    fn new(bounds: Bounds, loss_based: LossBased) -> Self {
        Self {
            bounds,
            groups: Groups::default(),
            trendline: Trendline::default(),
            detector: Detector::default(),
            throughput: Throughput::default(),
            probes: Probes::new(bounds),
            delay_based: DelayBased::new(bounds),
            loss_based: loss_based.build(bounds),
            application_limits: ApplicationLimits::default(),
            window: CongestionWindow::new(),
        }
    }

    /// Filters the arrivals of one feedback. As in libwebrtc, the verdict on the last group counts.
    fn usage(&mut self, feedback: &Feedback<'_>) -> Usage {
        for fate in feedback.fates {
            let Some(arrival) = fate.arrival else { continue };
            self.throughput.on_arrival(fate.sent, arrival, fate.bytes);
            let Some(variation) = self.groups.on_packet(fate.sent, arrival) else { continue };
            let trend = self.trendline.update(&variation, arrival);
            self.detector.update(trend, variation.sent_ms, arrival);
        }
        self.detector.usage()
    }
}

impl RateControl for Gcc {
    fn on_sent(&mut self, now: SimTime, number: u64, bytes: Bytes) {
        let target = self.target();
        self.probes.on_sent(now, number, bytes);
        self.application_limits.on_sent(now, bytes, target);
        self.window.on_sent(now, number, bytes, target);
    }

    fn padding(&self) -> Option<f64> {
        self.probes.padding()
    }

    fn on_feedback(&mut self, now: SimTime, feedback: &Feedback<'_>) {
        let usage = self.usage(feedback);
        let round_trip = feedback.round_trip(now);
        match self.probes.on_fates(feedback.fates).filter(|_| usage != Usage::Over) {
            Some(rate) => self.delay_based.set(now, rate, round_trip),
            None => self.delay_based.update(now, usage, self.throughput.rate(), round_trip),
        }
        self.loss_based.on_report(&Report {
            now,
            fates: feedback.fates,
            delay_based: self.delay_based.rate(),
            arriving: self.throughput.rate(),
            target: self.target(),
            is_application_limited: self.application_limits.is_limited(),
        });
        self.window.on_fates(now, feedback.fates, self.target());
    }

    fn burst(&self) -> SimDuration {
        BURST.min(SimDuration::from_secs_f64(BURST_BITS / self.pacing()))
    }

    fn drop_interval(&self) -> Option<u64> {
        self.window.drop_interval(self.target())
    }

    fn target(&self) -> f64 {
        self.bounds.clamp(self.delay_based.rate().min(self.loss_based.rate()))
    }
}

#[cfg(test)]
mod tests;
