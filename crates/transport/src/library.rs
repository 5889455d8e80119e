//! Shared libraries that a scenario names.

use std::path::Path;

use leobench_base::spec::{Fault, Table};

use crate::plugin::{LIBRARY, Origin, PluginClass};

leobench_base::spec! {
    /// A shared library with the C interface of `leobench.h`.
    pub struct LibrarySpec example = r#"{"library": "./libmine.so"}"# check = check_library {
        /// The file, relative to the scenario's folder.
        pub library: String,
        /// Parameters for the library: texts as they are, other values as JSON.
        pub parameters: Table = Table::new(),
    }
}

fn check_library(spec: &LibrarySpec) -> Result<(), Fault> {
    if Path::new(&spec.library).file_name().is_none() {
        let allowed = "a file, such as `./libmine.so`";
        return Err(Fault::new(LIBRARY, "names no file", allowed));
    }
    Ok(())
}

impl LibrarySpec {
    /// The library as a plug-in.
    pub fn class(&self) -> PluginClass<'_> {
        PluginClass { origin: Origin::Library, name: &self.library, parameters: &self.parameters }
    }

    /// The name of its file, for messages and results.
    pub fn name(&self) -> &str {
        let name = Path::new(&self.library).file_name().and_then(|name| name.to_str());
        name.unwrap_or(&self.library)
    }
}
