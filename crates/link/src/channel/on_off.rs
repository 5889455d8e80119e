//! A channel that is interrupted at random: up and out for exponential times.

use leobench_base::spec::Fault;
use leobench_base::{BitRate, SimDuration};

use super::markov::{Chain, MarkovChannel};
use super::timeline::Timeline;
use super::{Channel, ChannelContext, ChannelModel, ChannelState, Mean};

leobench_base::words! {
    /// The fate of packets during an outage.
    pub enum Outage {
        /// The rate is zero: packets wait.
        Hold = "hold",
        /// The link is down: packets that arrive are dropped, waiting ones wait.
        Drop = "drop",
    }
}

leobench_base::words! {
    /// A state of the on-off channel.
    pub enum OnOffState {
        /// Sending at the rate.
        On = "on",
        /// Interrupted.
        Off = "off",
    }
}

leobench_base::spec! {
    /// A constant rate with random interruptions; on and off times are exponential.
    ///
    /// Models the inter-satellite link of Khan et al. 2023 (80 Mbit/s, up for 5 s and interrupted for 0 to 0.5 s on
    /// average), where an interruption is a rate of zero.
    pub struct OnOffSpec
        example = r#"{"rate": "80 Mbps", "on": "5 s", "off": "500 ms"}"#
        check = check
    {
        /// Rate while the channel is on.
        pub rate: BitRate,
        /// Mean time until the next interruption.
        pub on: SimDuration,
        /// Mean length of an interruption; `0 s` means none.
        pub off: SimDuration,
        /// Whether packets wait (`hold`) or arriving packets are dropped (`drop`) while it is off.
        pub outage: Outage = Outage::Hold,
        /// State at the start; drawn from the stationary distribution if not given.
        pub initial: Option<OnOffState>,
    }
}

fn check(spec: &OnOffSpec) -> Result<(), Fault> {
    if spec.rate.is_zero() {
        return Err(Fault::new("rate", "is zero, so the link is never up", "a rate above zero"));
    }
    if spec.on.is_zero() {
        return Err(Fault::new("on", "is zero, so the link is never up", "a time above zero"));
    }
    if spec.off.is_zero() && spec.initial == Some(OnOffState::Off) {
        return Err(Fault::new("initial", "is off, but `off` is zero", "`on`"));
    }
    Ok(())
}

impl ChannelModel for OnOffSpec {
    fn build(&self, context: &ChannelContext) -> Result<Box<dyn Channel>, Fault> {
        check(self)?;
        let on = ChannelState::at_rate(self.rate, OnOffState::On.word());
        if self.off.is_zero() {
            return Ok(Box::new(Timeline::constant(on)));
        }
        let off = ChannelState {
            up: self.outage == Outage::Hold,
            ..ChannelState::at_rate(BitRate::ZERO, OnOffState::Off.word())
        };
        let chain = Chain::from_jumps([[0.0, 1.0], [1.0, 0.0]], [self.on, self.off])?;
        let initial = self.initial.map(|state| state as usize);
        Ok(Box::new(MarkovChannel::new(chain, [on, off], initial, &context.rng)))
    }

    fn mean(&self, _context: &ChannelContext) -> Result<Option<Mean>, Fault> {
        let (on, off) = (self.on.as_secs_f64(), self.off.as_secs_f64());
        Ok(Some(Mean::at_rate(self.rate.bps() as f64 * (on / (on + off)))))
    }

    fn goes_down(&self, _context: &ChannelContext) -> Result<bool, Fault> {
        Ok(self.outage == Outage::Drop && !self.off.is_zero())
    }

    fn is_random(&self) -> bool {
        !self.off.is_zero()
    }
}
