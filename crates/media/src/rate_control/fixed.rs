//! A constant rate.

use super::{Bounds, FeedbackKind, RateControl, RateControlModel};

leobench_base::spec! {
    /// The rate of the start, whatever the network does.
    pub struct FixedSpec: Default {}
}

impl RateControlModel for FixedSpec {
    fn build(&self, bounds: Bounds) -> Box<dyn RateControl> {
        Box::new(Fixed(bounds.start))
    }

    fn feedback(&self) -> Option<FeedbackKind> {
        None
    }
}

#[derive(Debug)]
struct Fixed(f64);

impl RateControl for Fixed {
    fn target(&self) -> f64 {
        self.0
    }
}
