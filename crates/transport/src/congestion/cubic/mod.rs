//! CUBIC (RFC 9438). Windows in bytes, times in seconds.

use leobench_base::spec::Range;
use leobench_base::{Bytes, SimTime};

use super::loss_based::{self, Avoidance};
use super::opening::Opening;
use super::{Acked, CongestionContext, CongestionControl, CongestionModel};

leobench_base::spec! {
    /// Grows the window with the cube of the time since the last congestion event (RFC 9438).
    pub struct CubicSpec: Default {
        ..pub opening: Opening,
        /// Factor on the window at a congestion event (RFC 9438 section 4.6).
        pub beta: f64 [Range::FACTOR] = 0.7,
        /// The constant C in packets per cubic second: how steep the curve is (RFC 9438 section 5).
        pub c: f64 [Range::above(0.0).to(1e6)] = 0.4,
        /// Whether a flow with a shrinking window releases bandwidth for new flows (RFC 9438 section 4.7).
        pub fast_convergence: bool = true,
        /// Whether the Reno-friendly window grows by a whole packet per round trip once it has reached the window of the last
        /// reduction (RFC 9438 section 4.3). Linux has one slope, as RFC 8312 did.
        pub full_reno_slope: bool = true,
    }
}

impl CongestionModel for CubicSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        loss_based::build(&self.opening, context, move |datagram| Cubic::new(&spec, datagram))
    }
}

/// The variables of RFC 9438 section 4.1.2 that outlive a congestion avoidance stage.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    datagram: f64,
    /// C in bytes per cubic second.
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// Additive increase of the Reno-friendly region, in packets per round trip.
    alpha: f64,
    /// The same from the window of the last reduction on.
    alpha_recovered: f64,
    /// `W_max`; none after persistent congestion or before any.
    w_max: Option<f64>,
    /// Window at the last reduction.
    cwnd_prior: f64,
    stage: Option<Stage>,
}

/// A stage of congestion avoidance.
#[derive(Clone, Debug)]
struct Stage {
    curve: Curve,
    /// `t_epoch`: when it began, moved on by the time in which the application left the window unused.
    epoch: SimTime,
    /// Until when that is accounted for.
    accounted: SimTime,
    /// The window it began with.
    cwnd_epoch: f64,
    /// `W_est` less `cwnd_epoch`, apart so that tiny growth is not lost in a large window.
    reno_growth: f64,
}

/// The function `W_cubic` (RFC 9438 figure 1).
#[derive(Clone, Debug)]
struct Curve {
    c: f64,
    k: f64,
    plateau: f64,
}

impl Curve {
    /// The curve that rises from `cwnd_epoch` to `w_max` (RFC 9438 figure 2); from a window that has no such aim, or
    /// is beyond it already, it rises at once (sections 4.8 and 4.10).
    fn new(c: f64, cwnd_epoch: f64, w_max: Option<f64>) -> Self {
        match w_max.filter(|w_max| *w_max > cwnd_epoch) {
            Some(w_max) => Self { c, k: libm::cbrt((w_max - cwnd_epoch) / c), plateau: w_max },
            None => Self { c, k: 0.0, plateau: cwnd_epoch },
        }
    }

    /// The same curve with its plateau reached in `share` of the time.
    fn shortened(self, share: f64) -> Self {
        Self { k: self.k * share, ..self }
    }

    fn window(&self, t: f64) -> f64 {
        let from_k = t - self.k;
        self.c * from_k * from_k * from_k + self.plateau
    }
}

impl Cubic {
    pub fn new(spec: &CubicSpec, datagram: Bytes) -> Self {
        let datagram = datagram.get() as f64;
        // RFC 9438 section 4.3: the average window is then that of Reno.
        let alpha = 3.0 * (1.0 - spec.beta) / (1.0 + spec.beta);
        Self {
            datagram,
            c: spec.c * datagram,
            beta: spec.beta,
            fast_convergence: spec.fast_convergence,
            alpha,
            alpha_recovered: if spec.full_reno_slope { 1.0 } else { alpha },
            w_max: None,
            cwnd_prior: 0.0,
            stage: None,
        }
    }

    /// RFC 9438 sections 4.2 to 4.5. A stage that begins here has `k_share` of the K of figure 2.
    pub fn growth_with(&mut self, window: f64, acked: &Acked, k_share: f64) -> f64 {
        let stage = self.stage.get_or_insert_with(|| Stage {
            curve: Curve::new(self.c, window, self.w_max).shortened(k_share),
            epoch: acked.now,
            accounted: acked.now,
            cwnd_epoch: window,
            reno_growth: 0.0,
        });
        stage.accounted = acked.now;
        let t = acked.now.saturating_since(stage.epoch).as_secs_f64();
        let share = acked.size.get() as f64 / window;

        let recovered = stage.cwnd_epoch + stage.reno_growth >= self.cwnd_prior;
        let alpha = if recovered { self.alpha_recovered } else { self.alpha };
        stage.reno_growth += alpha * self.datagram * share;
        let w_est = stage.cwnd_epoch + stage.reno_growth;

        if stage.curve.window(t) < w_est {
            // A round trip ahead on the curve, the window may be past Reno's already: it does not shrink.
            (w_est - window).max(0.0)
        } else {
            let ahead = stage.curve.window(t + acked.rtt.smoothed.as_secs_f64());
            (ahead.clamp(window, 1.5 * window) - window) * share
        }
    }

    /// K in seconds and the plateau of the stage under way.
    #[cfg(test)]
    pub fn aim(&self) -> Option<(f64, f64)> {
        self.stage.as_ref().map(|stage| (stage.curve.k, stage.curve.plateau))
    }

    /// Ends the stage. The next one aims at the same `W_max`.
    pub fn end_stage(&mut self) {
        self.stage = None;
    }
}

impl Avoidance for Cubic {
    type Paths = ();

    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        self.growth_with(window, acked, 1.0)
    }

    /// RFC 9438 sections 4.6 and 4.7.
    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        let shrinking = self.w_max.is_some_and(|w_max| window < w_max);
        self.w_max = Some(if shrinking && self.fast_convergence {
            window * (1.0 + self.beta) / 2.0
        } else {
            window
        });
        self.cwnd_prior = window;
        self.stage = None;
        window * self.beta
    }

    /// RFC 9438 section 4.8: the next stage starts on the plateau.
    fn collapsed(&mut self, _at: SimTime) {
        self.w_max = None;
        self.end_stage();
    }

    /// RFC 9438 sections 4.2 and 5.8: such time MUST NOT count as elapsed.
    fn unused_until(&mut self, now: SimTime) {
        if let Some(stage) = &mut self.stage {
            stage.epoch += now.saturating_since(stage.accounted);
            stage.accounted = now;
        }
    }
}

#[cfg(test)]
mod tests;
