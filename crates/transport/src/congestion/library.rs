//! Congestion controllers in shared libraries.

use leobench_base::spec::Fault;

use super::{Behaviour, CongestionContext, CongestionControl, CongestionModel, plugged};
use crate::library::LibrarySpec;
use crate::plugin::Plugins;

impl CongestionModel for LibrarySpec {
    fn check(&self, plugins: &Plugins) -> Result<(), Fault> {
        plugged::check(plugins, self.class())
    }

    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        plugged::build(context, self.class())
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::MODEL_BASED
    }

    fn uses_forecast(&self) -> bool {
        true
    }
}
