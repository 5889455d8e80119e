//! SaTCP (Cao and Zhang, "SaTCP: Link-layer informed TCP adaptation for highly dynamic LEO satellite networks", INFOCOM
//! 2023), as the authors' code has it (repository `XuyangCaoUCSD/LeoEM`, `emulation_stage/satcp`): CUBIC that expects
//! losses around handovers.

use leobench_base::spec::{Fault, Range};
use leobench_base::{Bytes, SimDuration, SimTime};

use super::cubic::{Cubic, CubicSpec};
use super::loss_based::{self, Avoidance};
use super::upcoming::Upcoming;
use super::{Acked, CongestionContext, CongestionControl, CongestionModel, Sent};
use crate::endpoint::Forecast;

leobench_base::spec! {
    /// CUBIC that keeps its state in a timeout around a forecast handover, and recovers faster (Cao and Zhang 2023).
    pub struct SatcpSpec: Default check = SatcpSpec::check {
        ..pub cubic: CubicSpec,
        /// Time before a forecast handover at which its window begins (the paper's `T_earlier`).
        pub lead: SimDuration = SimDuration::from_millis(500),
        /// Length of the window (the paper's `D`).
        pub duration: SimDuration = SimDuration::from_millis(2_300),
        /// Divisor of K for a stage that begins in the window (RFC 9438 figure 2; the paper's code: K less eight ninths).
        pub k_divisor: f64 [Range::from(1.0).to(1e6)] = 9.0,
    }
}

impl SatcpSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.duration.is_zero() {
            return Err(Fault::new("duration", "is zero", "a time above zero"));
        }
        Ok(())
    }
}

impl CongestionModel for SatcpSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        let opening = &self.cubic.opening;
        loss_based::build(opening, context, move |datagram| Satcp::new(&spec, datagram))
    }

    fn needs_forecast(&self) -> bool {
        true
    }
}

#[derive(Clone, Debug)]
struct Satcp {
    cubic: Cubic,
    duration: SimDuration,
    k_share: f64,
    upcoming: Upcoming,
    /// End of the latest window.
    until: SimTime,
}

impl Satcp {
    fn new(spec: &SatcpSpec, datagram: Bytes) -> Self {
        Self {
            cubic: Cubic::new(&spec.cubic, datagram),
            duration: spec.duration,
            k_share: 1.0 / spec.k_divisor,
            upcoming: Upcoming::new(spec.lead),
            until: SimTime::ZERO,
        }
    }

    /// Opens the window of a handover that is due. As in `report_relay.c`, the latest handover decides when it closes.
    #[inline]
    fn advance(&mut self, now: SimTime) {
        if let Some(begin) = self.upcoming.take_due(now) {
            self.until = begin + self.duration;
        }
    }

    /// Whether a handover disturbs the path (`handover_status`).
    fn expects_losses(&mut self, now: SimTime) -> bool {
        self.advance(now);
        now < self.until
    }
}

impl Avoidance for Satcp {
    type Paths = ();

    fn sent(&mut self, sent: &Sent) {
        self.advance(sent.now);
    }

    fn acked(&mut self, acked: &Acked) {
        self.advance(acked.now);
    }

    /// `bictcp_update` of the authors: the window returns to `W_max` in a share of the time.
    fn growth(&mut self, window: f64, acked: &Acked, (): &()) -> f64 {
        let k_share = if self.expects_losses(acked.now) { self.k_share } else { 1.0 };
        self.cubic.growth_with(window, acked, k_share)
    }

    fn reduced(&mut self, window: f64, (): &()) -> f64 {
        self.cubic.reduced(window, &())
    }

    /// `bictcp_state` of the authors: no `bictcp_reset` in the window, so that the next stage aims at `W_max`. The window
    /// itself collapses, as in `tcp_enter_loss`, which the authors leave alone.
    fn collapsed(&mut self, at: SimTime) {
        if self.expects_losses(at) {
            self.cubic.end_stage();
        } else {
            self.cubic.collapsed(at);
        }
    }

    /// Forecasts are not undone.
    fn restored(&mut self, later: &Self) {
        self.upcoming = later.upcoming.clone();
        self.until = later.until;
    }

    fn forecast(&mut self, forecast: &Forecast) {
        self.upcoming.plan(forecast);
    }

    fn unused_until(&mut self, now: SimTime) {
        self.cubic.unused_until(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::conformance::random_windows;
    use super::super::tests::{acked, at, context, handover_forecast};
    use super::super::{Congestion, CongestionSpec};
    use super::*;
    use crate::PathId;

    const PATH: PathId = PathId(0);
    const PACKET: Bytes = Bytes::new(1_000);

    /// A handover at 10 s: its window is from 9.5 to 11.8 s. Packets of one byte, so that windows read as packets.
    fn satcp() -> Satcp {
        let mut satcp = Satcp::new(&SatcpSpec::default(), Bytes::new(1));
        satcp.forecast(&handover_forecast(Some(10_000)));
        satcp
    }

    fn ack(nanos: u64) -> Acked {
        acked(SimTime::from_nanos(nanos), SimDuration::from_millis(100))
    }

    /// K and `W_max` of the stage that an acknowledgement at this time begins, with a window of 70.
    fn stage(mut satcp: Satcp, nanos: u64) -> (f64, f64) {
        satcp.growth(70.0, &ack(nanos), &());
        satcp.cubic.aim().unwrap()
    }

    /// RFC 9438 figure 2, by hand: `W_max` = 100, cwnd = 70: K = cbrt(30 / 0.4) = 4.21716 s, a ninth is 0.46857 s.
    #[test]
    fn k_is_a_ninth_in_the_window_and_whole_outside() {
        const SECOND: u64 = 1_000_000_000;
        let (begin, end) = (19 * SECOND / 2, 118 * SECOND / 10);
        for (nanos, expected) in [
            (0, 4.217_16),
            (begin - 1, 4.217_16),
            (begin, 0.468_57),
            (10 * SECOND, 0.468_57),
            (end - 1, 0.468_57),
            (end, 4.217_16),
        ] {
            let mut satcp = satcp();
            satcp.reduced(100.0, &());
            let (k, w_max) = stage(satcp, nanos);
            assert!((k - expected).abs() < 1e-5, "K is {k} at {nanos} ns");
            assert!((w_max - 100.0).abs() < 1e-9);
        }
    }

    /// A stage that began before the window keeps its K: `bic_K` is computed at the beginning of an epoch.
    #[test]
    fn a_stage_under_way_keeps_its_k() {
        let mut satcp = satcp();
        satcp.reduced(100.0, &());
        satcp.growth(70.0, &ack(9_000_000_000), &());
        let (k, _) = stage(satcp, 10_000_000_000);
        assert!((k - 4.217_16).abs() < 1e-5, "{k}");
    }

    /// After a timeout at a window of 100, slow start ends at 70. In the window the next stage aims at 100, otherwise it
    /// starts on the plateau of 70 (RFC 9438 section 4.8).
    #[test]
    fn a_timeout_keeps_the_aim_in_the_window_only() {
        for (timeout, stage_at, expected) in [
            (10_000, 11_000, (0.468_57, 100.0)),
            (10_000, 12_000, (4.217_16, 100.0)),
            (9_499, 11_000, (0.0, 70.0)),
            (11_800, 12_000, (0.0, 70.0)),
        ] {
            let mut satcp = satcp();
            let ssthresh = satcp.reduced(100.0, &());
            assert!((ssthresh - 70.0).abs() < 1e-9);
            satcp.collapsed(at(timeout));
            let (k, aim) = stage(satcp, stage_at * 1_000_000);
            assert!((k - expected.0).abs() < 1e-5, "K is {k} after a timeout at {timeout} ms");
            assert!((aim - expected.1).abs() < 1e-9, "{aim}");
        }
    }

    /// The whole controller: ten packets at the timeout, two after it in either case; slow start to seven. In the window the curve
    /// of the next stage is within 3 / 729 packets of `W_max` at once, so that each of seven acknowledgements brings (10 - w) / w
    /// packets (RFC 9438 section 4.4): 7, 7.43, 7.77, 8.06, 8.30, 8.51, 8.68, 8.83. Outside, Reno's line leads, with 0.53 packets
    /// in a round trip (section 4.3).
    #[test]
    fn windows_after_a_timeout_return_fast_or_slowly() {
        let windows = |timeout: u64| {
            let mut control = SatcpSpec::default().build(&context());
            control.open(PATH, SimTime::ZERO, PACKET);
            control.on_forecast(PATH, &handover_forecast(Some(10_000)));
            let sent = at(timeout - 50);
            let lost = control.window(PATH);
            control.on_loss(PATH, &Congestion::new(at(timeout), sent, lost, true));
            assert_eq!(control.window(PATH), PACKET + PACKET);
            assert_eq!(control.ssthresh(PATH), Some(Bytes::new(7_000)));
            let mut ack = |number: u64| {
                let now = at(timeout + 100 + number);
                let rtt = SimDuration::from_millis(100);
                control.on_ack(PATH, &Acked { size: PACKET, ..acked(now, rtt) });
                control.window(PATH).get()
            };
            assert_eq!((0..5).map(&mut ack).last(), Some(7_000), "slow start");
            (5..12).map(&mut ack).last().unwrap()
        };
        let (within, outside) = (windows(10_000), windows(5_000));
        assert!((8_820..8_840).contains(&within), "{within}");
        assert!((7_500..7_540).contains(&outside), "{outside}");
    }

    /// `report_relay.c`: every report of a handover starts the time anew.
    #[test]
    fn the_latest_handover_closes_the_window() {
        let mut satcp = satcp();
        assert!(satcp.expects_losses(at(9_600)));
        satcp.forecast(&handover_forecast(Some(11_000)));
        assert!(satcp.expects_losses(at(10_499)));
        assert!(satcp.expects_losses(at(12_799)));
        assert!(!satcp.expects_losses(at(12_800)));
    }

    #[test]
    fn an_undo_keeps_the_forecast() {
        let before = satcp();
        let mut later = before.clone();
        later.sent(&Sent::new(at(9_600), PACKET, PACKET, 0));
        let mut restored = before;
        restored.forecast(&handover_forecast(None));
        restored.restored(&later);
        assert!(restored.expects_losses(at(10_000)));
    }

    #[test]
    fn without_forecasts_it_is_cubic() {
        let (satcp, cubic) = (SatcpSpec::default(), CubicSpec::default());
        assert!(satcp.needs_forecast() && !cubic.needs_forecast());
        for seed in 0..3 {
            let windows = random_windows(&CongestionSpec::Satcp(satcp.clone()), seed);
            assert_eq!(windows, random_windows(&CongestionSpec::Cubic(cubic.clone()), seed));
        }
    }
}
