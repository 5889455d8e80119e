//! The host of shared libraries that a scenario names: congestion controllers and QUIC stacks behind the C interface
//! `leobench.h`. It is the only crate with code of other people's in its process, and with the unsafe code that this takes.

#![allow(unsafe_code, reason = "functions of a shared library are called through pointers")]

#[path = "../../../python/leobench/include/leobench.rs"]
mod abi;
mod content;
mod controller;
mod endpoint;
mod library;
mod parameters;
mod stack;
mod statistics;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use leobench_base::RngTree;
use leobench_base::spec::Fault;
use leobench_transport::plugin::{LIBRARY, Plugin, PluginClass, PluginHost, PluginKind};

use controller::ForeignController;
use endpoint::ForeignEndpoint;

/// The allowed alternative to a library that fails.
const ALLOWED: &str = "a library that `leobench.h` describes";

/// The libraries of one scenario or one run.
#[derive(Debug)]
pub struct Libraries {
    /// The scenario's folder.
    folder: PathBuf,
}

impl Libraries {
    /// The libraries of a scenario in `folder`.
    pub fn beside(folder: &Path) -> Arc<dyn PluginHost> {
        Arc::new(Self { folder: folder.to_path_buf() })
    }

    fn object(
        &self,
        kind: &PluginKind,
        class: PluginClass<'_>,
        rng: &RngTree,
    ) -> Result<Plugin, String> {
        let file = self.folder.join(class.name);
        match kind {
            PluginKind::CongestionController { packet } => {
                let seed = rng.rng().bits();
                let built = ForeignController::new(&file, *packet, seed, class.parameters)?;
                Ok(Plugin::CongestionController(Box::new(built)))
            }
            PluginKind::QuicStack(setup) => {
                let built = ForeignEndpoint::new(&file, setup, rng, class.parameters)?;
                Ok(Plugin::QuicStack(Box::new(built)))
            }
            _ => Err(format!("a shared library cannot be a plug-in of the kind {kind:?}")),
        }
    }
}

impl PluginHost for Libraries {
    fn check(&self, kind: &PluginKind, class: PluginClass<'_>) -> Result<(), Fault> {
        let built = self.object(kind, class, &RngTree::new(0)).map(drop);
        built.map_err(|problem| Fault::new(LIBRARY, problem, ALLOWED))
    }

    fn build(
        &self,
        kind: &PluginKind,
        class: PluginClass<'_>,
        rng: &RngTree,
    ) -> Result<Plugin, String> {
        self.object(kind, class, rng)
    }
}
