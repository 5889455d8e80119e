//! Congestion controllers that are plug-ins: one for each path, called once for each acknowledgement.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, Bytes};

use super::per_path::{PerPath, SinglePath};
use super::rate::RateSampler;
use super::{AckEnd, Acked, Congestion, CongestionContext, CongestionControl, Lost, Sent};
use crate::endpoint::Forecast;
use crate::plugin::{
    AckBatch, AckedPacket, Decision, LossBatch, Plugin, PluginClass, PluginController, PluginKind,
    Plugins,
};

/// Packet size with which a controller is built before a run, to find out whether it can be.
const TRIAL: Bytes = Bytes::new(1_200);

/// Checks whether a plug-in can be built as a controller.
pub(super) fn check(plugins: &Plugins, class: PluginClass<'_>) -> Result<(), Fault> {
    plugins.check(&PluginKind::CongestionController { packet: TRIAL }, class)
}

/// Builds the controller of a connection by a plug-in.
pub(super) fn build(
    context: &CongestionContext<'_>,
    class: PluginClass<'_>,
) -> Box<dyn CongestionControl> {
    let PluginClass { origin, name, parameters } = class;
    let (name, parameters) = (name.to_owned(), parameters.clone());
    let plugins = context.plugins.clone();
    let mut rng = context.rng.child(origin.key());
    Box::new(PerPath::new(move |_, datagram| {
        rng = rng.child("path");
        let kind = PluginKind::CongestionController { packet: datagram };
        let class = PluginClass { origin, name: &name, parameters: &parameters };
        let built = match plugins.build(&kind, class, &rng) {
            Ok(Plugin::CongestionController(controller)) => Ok(controller),
            Ok(_) => Err("was built as another kind of plug-in".to_owned()),
            Err(problem) => Err(problem),
        };
        Plugged::new(built, datagram, origin.key())
    }))
}

/// The controller of one path. After a failure nobody asks it again, and its last decision stands.
struct Plugged {
    phase: &'static str,
    controller: Option<Box<dyn PluginController>>,
    fault: Option<String>,
    decision: Decision,
    rates: RateSampler,
    /// Packets of the acknowledgement under way.
    acked: Vec<AckedPacket>,
    last: Option<Acked>,
    /// Bytes in flight before the acknowledgement under way.
    prior_in_flight: Bytes,
    /// Packets declared lost since the last congestion event.
    lost: Vec<u64>,
}

impl Plugged {
    fn new(
        built: Result<Box<dyn PluginController>, String>,
        datagram: Bytes,
        phase: &'static str,
    ) -> Self {
        let minimum =
            Decision { window: Bytes::new(2 * datagram.get()), pacing_rate: None, ssthresh: None };
        let (controller, fault) = match built {
            Ok(controller) => (Some(controller), None),
            Err(problem) => (None, Some(problem)),
        };
        let mut plugged = Self {
            phase,
            controller,
            fault,
            decision: minimum,
            rates: RateSampler::default(),
            acked: Vec::new(),
            last: None,
            prior_in_flight: Bytes::ZERO,
            lost: Vec::new(),
        };
        plugged.ask(|controller| controller.decide());
        plugged
    }

    /// Calls the controller, and takes over what it decides.
    fn ask(&mut self, call: impl FnOnce(&mut dyn PluginController) -> Result<Decision, String>) {
        let Some(controller) = &mut self.controller else { return };
        match call(controller.as_mut()) {
            Ok(decision) => self.decision = decision,
            Err(problem) => {
                self.fault = Some(problem);
                self.controller = None;
            }
        }
    }

    fn congested(&mut self, congestion: &Congestion, marked: bool) {
        let packets = std::mem::take(&mut self.lost);
        let Congestion { now, sent, lost, persistent, answered } = *congestion;
        let batch = LossBatch { now, sent, lost, persistent, answered, packets: &packets };
        self.ask(
            |controller| {
                if marked { controller.on_ecn(&batch) } else { controller.on_loss(&batch) }
            },
        );
    }
}

impl SinglePath for Plugged {
    const CAN_FAIL: bool = true;

    fn on_sent(&mut self, sent: &Sent) {
        self.rates.on_sent(sent);
    }

    fn on_ack(&mut self, acked: &Acked) {
        self.rates.on_ack(acked);
        if self.acked.is_empty() {
            self.prior_in_flight = acked.in_flight;
        }
        self.acked.push(AckedPacket {
            number: acked.packet_number,
            size: acked.size,
            sent: acked.sent,
            ambiguous: acked.ambiguous,
        });
        self.last = Some(*acked);
    }

    fn on_ack_end(&mut self, end: &AckEnd) {
        let sample = self.rates.on_ack_end(end);
        let Some(last) = self.last.take() else { return };
        let packets = std::mem::take(&mut self.acked);
        let batch = AckBatch {
            now: end.now,
            packets: &packets,
            prior_in_flight: self.prior_in_flight,
            in_flight: end.in_flight,
            latest_rtt: last.rtt.latest,
            smoothed_rtt: last.rtt.smoothed,
            min_rtt: last.rtt.min,
            delivery_rate: sample.and_then(|sample| Some(sample.rate?.to_bit_rate())),
            app_limited: sample.is_some_and(|sample| sample.app_limited),
            cwnd_limited: last.cwnd_limited,
            recovering: last.recovering,
        };
        self.ask(|controller| controller.on_ack(&batch));
        self.acked = packets;
        self.acked.clear();
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.rates.on_lost(lost);
        self.lost.push(lost.packet_number);
    }

    fn on_loss(&mut self, congestion: &Congestion) {
        self.congested(congestion, false);
    }

    fn on_ecn(&mut self, congestion: &Congestion) {
        self.congested(congestion, true);
    }

    fn on_spurious_loss(&mut self) {
        self.ask(|controller| controller.on_spurious_loss());
    }

    fn on_forecast(&mut self, forecast: &Forecast) {
        self.ask(|controller| controller.on_forecast(forecast));
    }

    fn window(&self) -> Bytes {
        self.decision.window
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.decision.pacing_rate
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.decision.ssthresh
    }

    fn phase(&self) -> &'static str {
        self.phase
    }

    fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leobench_base::{SimDuration, SimTime};

    /// The window of a controller that fails is that of before, and its failure is told once.
    #[test]
    fn a_failure_is_told_once_and_the_last_window_stands() {
        struct Fails(u32);
        impl PluginController for Fails {
            fn decide(&mut self) -> Result<Decision, String> {
                Ok(Decision { window: Bytes::new(9_000), pacing_rate: None, ssthresh: None })
            }
            fn on_ack(&mut self, batch: &AckBatch<'_>) -> Result<Decision, String> {
                self.0 += 1;
                assert_eq!(batch.packets.len(), 2);
                if self.0 > 1 { Err("raised".to_owned()) } else { self.decide() }
            }
            fn on_loss(&mut self, _: &LossBatch<'_>) -> Result<Decision, String> {
                panic!("nothing is asked after a failure")
            }
            fn on_ecn(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String> {
                self.on_loss(batch)
            }
            fn on_spurious_loss(&mut self) -> Result<Decision, String> {
                self.decide()
            }
            fn on_forecast(&mut self, _: &Forecast) -> Result<Decision, String> {
                self.decide()
            }
        }
        let mut plugged = Plugged::new(Ok(Box::new(Fails(0))), Bytes::new(1_000), "test");
        assert_eq!((plugged.window(), plugged.fault()), (Bytes::new(9_000), None));
        let now = SimTime::ZERO + SimDuration::from_millis(40);
        for _ in 0..2 {
            for _ in 0..2 {
                plugged.on_ack(&super::super::tests::acked(now, SimDuration::from_millis(40)));
            }
            plugged.on_ack_end(&AckEnd::new(now, Bytes::ZERO));
        }
        plugged.on_loss(&Congestion::new(now, now, Bytes::new(1_000), false));
        assert_eq!(plugged.fault().as_deref(), Some("raised"));
        assert_eq!((plugged.window(), plugged.fault()), (Bytes::new(9_000), None));
    }
}
