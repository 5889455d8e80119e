//! A jitter buffer of a constant length.

use leobench_base::spec::Fault;
use leobench_base::{SimDuration, SimTime};

use super::{JitterBuffer, JitterBufferModel};

leobench_base::spec! {
    /// A constant delay above the transit time of the first arrival.
    pub struct FixedSpec: Default check = FixedSpec::check {
        /// The delay.
        pub delay: SimDuration = SimDuration::from_millis(60),
    }
}

impl FixedSpec {
    fn check(&self) -> Result<(), Fault> {
        const MOST: SimDuration = SimDuration::from_secs(10);
        if self.delay > MOST {
            return Err(Fault::new("delay", "is too long", format!("up to {MOST}")));
        }
        Ok(())
    }
}

impl JitterBufferModel for FixedSpec {
    fn build(&self) -> Box<dyn JitterBuffer> {
        Box::new(Fixed { above: self.delay, delay: None })
    }
}

#[derive(Debug)]
struct Fixed {
    above: SimDuration,
    delay: Option<SimDuration>,
}

impl JitterBuffer for Fixed {
    fn on_arrival(&mut self, _now: SimTime, transit: SimDuration) {
        self.delay.get_or_insert(transit + self.above);
    }

    fn delay(&self) -> Option<SimDuration> {
        self.delay
    }
}
