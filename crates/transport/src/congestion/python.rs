//! Congestion controllers written in Python.

use leobench_base::spec::{Fault, Table};

use super::{Behaviour, CongestionContext, CongestionControl, CongestionModel, plugged};
use crate::plugin::{self, Origin, PluginClass, Plugins};

leobench_base::spec! {
    /// A congestion controller class written in Python.
    pub struct PythonSpec example = r#"{"python": "mymodule:MyController"}"# check = check_name {
        /// The module and the class in it, such as `mymodule:MyController`. leobench looks for the module in the
        /// scenario's folder first, then where Python finds modules.
        pub python: String,
        /// Keyword arguments for the class.
        pub parameters: Table = Table::new(),
    }
}

fn check_name(spec: &PythonSpec) -> Result<(), Fault> {
    plugin::check_name(&spec.python)
}

impl PythonSpec {
    fn class(&self) -> PluginClass<'_> {
        PluginClass { origin: Origin::Python, name: &self.python, parameters: &self.parameters }
    }
}

impl CongestionModel for PythonSpec {
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
