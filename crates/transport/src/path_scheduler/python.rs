//! Path schedulers of the user's, written in Python.

use leobench_base::spec::{Fault, Table};

use super::{PathScheduler, PathSchedulerContext, PathSchedulerModel};
use crate::plugin::{self, Origin, Plugin, PluginClass, PluginKind, Plugins};

leobench_base::spec! {
    /// A path scheduler class written in Python.
    pub struct PythonSpec example = r#"{"python": "mymodule:MyScheduler"}"# check = check_name {
        /// The module and the class in it, such as `mymodule:MyScheduler`. leobench looks for the module in the
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

impl PathSchedulerModel for PythonSpec {
    fn check(&self, links: &[String], plugins: &Plugins) -> Result<(), Fault> {
        plugins.check(&PluginKind::PathScheduler { links: links.to_vec() }, self.class())
    }

    fn build(&self, context: &PathSchedulerContext<'_>) -> Result<Box<dyn PathScheduler>, String> {
        let PathSchedulerContext { links, rng, plugins } = *context;
        let kind = PluginKind::PathScheduler { links: links.to_vec() };
        match plugins.build(&kind, self.class(), rng)? {
            Plugin::PathScheduler(scheduler) => Ok(scheduler),
            _ => Err("was built as another kind of plug-in".to_owned()),
        }
    }
}
