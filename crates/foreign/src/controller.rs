//! A congestion controller in a shared library.

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use leobench_base::spec::Table;
use leobench_base::{BitRate, Bytes, SimDuration};
use leobench_transport::endpoint;
use leobench_transport::plugin::{AckBatch, Decision, LossBatch, PluginController};

use crate::abi;
use crate::abi::{Acked, NONE};
use crate::library::{Interface, Loaded, result};
use crate::parameters::Parameters;
use crate::statistics::given;

impl Interface for abi::Controller {
    const SYMBOL: &'static str = "leobench_controller";
    const VERSION: u32 = abi::CONTROLLER_VERSION;

    fn missing(&self) -> Option<&'static str> {
        let required = [
            ("create", self.create.is_none()),
            ("destroy", self.destroy.is_none()),
            ("on_ack", self.on_ack.is_none()),
            ("on_loss", self.on_loss.is_none()),
        ];
        required.iter().find(|(_, missing)| *missing).map(|(name, _)| *name)
    }
}

/// The controller of one path.
pub(crate) struct ForeignController {
    on_ack: abi::OnAck,
    on_loss: abi::OnLoss,
    object: Object,
    packet: Bytes,
    decision: abi::Decision,
    packets: Vec<Acked>,
}

/// An object of the library's, destroyed with it.
struct Object {
    state: *mut c_void,
    destroy: abi::Destroy,
    library: Loaded<abi::Controller>,
}

// SAFETY: The interface demands an object that any thread may use, one at a time.
unsafe impl Send for Object {}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: `create` made the object, and nothing uses it from here on.
        unsafe { (self.destroy)(self.state) }
    }
}

impl ForeignController {
    /// The controller of a path with packets of this size.
    ///
    /// # Errors
    /// If the library cannot be loaded, has another interface, or refuses.
    pub(crate) fn new(
        file: &Path,
        packet: Bytes,
        seed: u64,
        parameters: &Table,
    ) -> Result<Self, String> {
        let library = Loaded::<abi::Controller>::open(file)?;
        let abi::Controller { create, destroy, on_ack, on_loss, .. } = library.table;
        let (Some(create), Some(destroy), Some(on_ack), Some(on_loss)) =
            (create, destroy, on_ack, on_loss)
        else {
            return Err("lacks a function".to_owned());
        };
        let parameters = Parameters::new(parameters)?;
        let (parameters, parameter_count) = parameters.parts();
        let setup =
            abi::ControllerSetup { packet: packet.get(), seed, parameters, parameter_count };
        let mut state = ptr::null_mut();
        let mut decision = abi::Decision { window: 0, pacing_rate: NONE, ssthresh: NONE };
        // SAFETY: The arguments are what the header describes, and live until the call returns.
        result("create", unsafe { create(&raw const setup, &raw mut state, &raw mut decision) })?;
        let object = Object { state, destroy, library };
        let controller = Self { on_ack, on_loss, object, packet, decision, packets: Vec::new() };
        controller.read("create")?;
        Ok(controller)
    }

    /// The decision that the library has made in the call of `name`.
    fn read(&self, name: &str) -> Result<Decision, String> {
        let abi::Decision { window, pacing_rate, ssthresh } = self.decision;
        let decision = Decision {
            window: Bytes::new(window),
            pacing_rate: given(pacing_rate).map(BitRate::from_bps),
            ssthresh: given(ssthresh).map(Bytes::new),
        };
        let checked = decision.check(self.packet);
        checked.map(|()| decision).map_err(|problem| format!("`{name}` {problem}"))
    }

    fn congested(
        &mut self,
        name: &str,
        call: abi::OnLoss,
        batch: &LossBatch<'_>,
    ) -> Result<Decision, String> {
        let loss = abi::Loss {
            now: batch.now.as_nanos(),
            sent: batch.sent.as_nanos(),
            lost: batch.lost.get(),
            packets: batch.packets.as_ptr(),
            packet_count: batch.packets.len(),
            persistent: batch.persistent.into(),
            answered: batch.answered.into(),
        };
        // SAFETY: The object is alive, and the arguments live until the call returns.
        let failure = unsafe { call(self.object.state, &raw const loss, &raw mut self.decision) };
        result(name, failure)?;
        self.read(name)
    }
}

impl PluginController for ForeignController {
    fn decide(&mut self) -> Result<Decision, String> {
        self.read("create")
    }

    fn on_ack(&mut self, batch: &AckBatch<'_>) -> Result<Decision, String> {
        self.packets.clear();
        self.packets.extend(batch.packets.iter().map(|packet| Acked {
            number: packet.number,
            size: packet.size.get(),
            sent: packet.sent.as_nanos(),
            ambiguous: packet.ambiguous.into(),
        }));
        let ack = abi::Ack {
            now: batch.now.as_nanos(),
            packets: self.packets.as_ptr(),
            packet_count: self.packets.len(),
            prior_in_flight: batch.prior_in_flight.get(),
            in_flight: batch.in_flight.get(),
            latest_rtt: batch.latest_rtt.as_nanos(),
            smoothed_rtt: batch.smoothed_rtt.as_nanos(),
            min_rtt: batch.min_rtt.as_nanos(),
            delivery_rate: batch.delivery_rate.map_or(NONE, BitRate::bps),
            app_limited: batch.app_limited.into(),
            cwnd_limited: batch.cwnd_limited.into(),
            recovering: batch.recovering.into(),
        };
        let call = self.on_ack;
        // SAFETY: The object is alive, and the arguments live until the call returns.
        let failure = unsafe { call(self.object.state, &raw const ack, &raw mut self.decision) };
        result("on_ack", failure)?;
        self.read("on_ack")
    }

    fn on_loss(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String> {
        self.congested("on_loss", self.on_loss, batch)
    }

    fn on_ecn(&mut self, batch: &LossBatch<'_>) -> Result<Decision, String> {
        match self.object.library.table.on_ecn {
            Some(on_ecn) => self.congested("on_ecn", on_ecn, batch),
            None => self.on_loss(batch),
        }
    }

    fn on_spurious_loss(&mut self) -> Result<Decision, String> {
        let Some(call) = self.object.library.table.on_spurious_loss else { return self.decide() };
        // SAFETY: The object is alive.
        let failure = unsafe { call(self.object.state, &raw mut self.decision) };
        result("on_spurious_loss", failure)?;
        self.read("on_spurious_loss")
    }

    fn on_forecast(&mut self, forecast: &endpoint::Forecast) -> Result<Decision, String> {
        let Some(call) = self.object.library.table.on_forecast else { return self.decide() };
        let handover = forecast.handover;
        let forecast = abi::Forecast {
            at: forecast.at.as_nanos(),
            base_rtt: forecast.base_rtt.map_or(NONE, SimDuration::as_nanos),
            bottleneck: forecast.bottleneck.map_or(NONE, BitRate::bps),
            handover_from: handover.map_or(NONE, |handover| handover.from.as_nanos()),
            handover_until: handover.map_or(NONE, |handover| handover.until.as_nanos()),
        };
        // SAFETY: The object is alive, and the arguments live until the call returns.
        let failure =
            unsafe { call(self.object.state, &raw const forecast, &raw mut self.decision) };
        result("on_forecast", failure)?;
        self.read("on_forecast")
    }
}
