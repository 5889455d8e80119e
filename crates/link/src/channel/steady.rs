//! A channel that never changes.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, SimDuration};

use super::timeline::Timeline;
use super::{Channel, ChannelContext, ChannelModel, ChannelState, Mean};

leobench_base::spec! {
    /// A constant rate.
    pub struct SteadySpec example = r#"{"rate": "45 Mbps"}"# check = check {
        /// Rate at which packets are sent.
        pub rate: BitRate,
    }
}

fn check(spec: &SteadySpec) -> Result<(), Fault> {
    if spec.rate.is_zero() {
        return Err(Fault::new("rate", "is zero, so the link is never up", "a rate above zero"));
    }
    Ok(())
}

impl ChannelModel for SteadySpec {
    fn build(&self, _context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        check(self)?;
        Ok(Box::new(Timeline::constant(ChannelState::at_rate(self.rate, "steady"))))
    }

    fn mean(&self, _context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        Ok(Some(Mean { rate: self.rate, delay: SimDuration::ZERO }))
    }
}
