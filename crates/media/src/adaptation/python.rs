//! Adaptations of the user's, written in Python.

use leobench_base::spec::{Fault, Table};
use leobench_transport::Plugins;
use leobench_transport::plugin::{self, Origin, Plugin, PluginClass, PluginKind};

use super::{Adaptation, AdaptationContext, AdaptationModel};
use crate::film::Film;

leobench_base::spec! {
    /// An adaptation class written in Python.
    pub struct PythonSpec example = r#"{"python": "mymodule:MyAdaptation"}"# check = check_name {
        /// The module and the class in it, such as `mymodule:MyAdaptation`. leobench looks for the module in the
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

fn kind(film: &Film) -> PluginKind {
    PluginKind::Adaptation { ladder: film.bitrates(), segment_s: film.segment.as_secs_f64() }
}

impl AdaptationModel for PythonSpec {
    fn check(&self, film: &Film, plugins: &Plugins) -> Result<(), Fault> {
        plugins.check(&kind(film), self.class())
    }

    fn build(&self, context: &AdaptationContext<'_>) -> Result<Box<dyn Adaptation>, String> {
        let AdaptationContext { film, rng, plugins } = *context;
        match plugins.build(&kind(film), self.class(), rng)? {
            Plugin::Adaptation(adaptation) => Ok(adaptation),
            _ => Err("was built as another kind of plug-in".to_owned()),
        }
    }
}
