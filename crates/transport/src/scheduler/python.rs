//! Schedulers written in Python. This file does not depend on Python: a registered [`Host`] builds them, and this file
//! validates their choices.

use std::sync::OnceLock;

use leobench_base::spec::{Fault, Table, Weight};
use leobench_base::{RngTree, SimTime};

use super::{PacketShares, SchedulerModel, StreamScheduler, one_weight_each};
use crate::buffer::SendBuffer;

leobench_base::spec! {
    /// A scheduler class written in Python.
    pub struct PythonSpec example = r#"{"python": "mymodule:MyScheduler"}"# check = check_name {
        /// The module and the class in it, such as `mymodule:MyScheduler`. leobench looks for the module in the
        /// scenario's folder first, then where Python finds modules.
        pub python: String,
        /// Weight of every stream, in order; 1 each by default.
        pub weights: Option<Vec<Weight>>,
        /// Keyword arguments for the class.
        pub parameters: Table = Table::new(),
    }
}

fn check_name(spec: &PythonSpec) -> Result<(), Fault> {
    let is_name = |name: &str| {
        let starts = |c: char| c.is_alphabetic() || c == '_';
        name.starts_with(starts) && name.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match spec.python.split_once(':') {
        Some((module, class)) if module.split('.').all(is_name) && is_name(class) => Ok(()),
        _ => {
            let allowed = "a module and a class in it, such as `mymodule:MyScheduler`";
            Err(Fault::new("python", "names no class", allowed))
        }
    }
}

/// A scheduler implemented outside this crate.
pub trait PluginScheduler: Send {
    /// Called when a stream has changed, like [`StreamScheduler::on_change`].
    fn on_change(&mut self, stream: usize, streams: &SendBuffer);

    /// Whether it promises to leave no room while a stream that is not held has bytes waiting.
    fn fills_packets(&self) -> bool {
        false
    }

    /// Appends to `requests` the streams for a packet with `room` bytes for STREAM frames, in order, each with its bytes.
    ///
    /// # Errors
    /// A description of the failure.
    fn choose(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String>;
}

/// A host that can run Python.
pub trait Host: Send + Sync {
    /// Checks whether the scheduler can be built for a flow of `streams` streams.
    ///
    /// # Errors
    /// If it cannot.
    fn check(&self, spec: &PythonSpec, streams: usize) -> Result<(), Fault>;

    /// Builds the scheduler for a flow of `streams` streams; a random one draws from `rng`.
    ///
    /// # Errors
    /// A description of the failure.
    fn build(
        &self,
        spec: &PythonSpec,
        streams: usize,
        rng: &RngTree,
    ) -> Result<Box<dyn PluginScheduler>, String>;
}

static HOST: OnceLock<Box<dyn Host>> = OnceLock::new();

/// Registers the host, once per program; returns whether there was none before.
pub fn host(host: Box<dyn Host>) -> bool {
    HOST.set(host).is_ok()
}

fn registered() -> Option<&'static dyn Host> {
    #[cfg(test)]
    let _ = host(Box::new(tests::InOrder));
    HOST.get().map(|host| &**host)
}

const NO_HOST: &str = "is written in Python, which leobench's Python package runs";

impl PythonSpec {
    /// The weight of a stream.
    pub fn weight(&self, stream: usize) -> f64 {
        let given = self.weights.as_ref().and_then(|weights| weights.get(stream));
        given.map_or(1.0, |weight| weight.get())
    }
}

impl SchedulerModel for PythonSpec {
    fn check(&self, streams: usize) -> Result<(), Fault> {
        if let Some(weights) = &self.weights {
            one_weight_each(weights.len(), streams)?;
        }
        match registered() {
            Some(host) => host.check(self, streams),
            None => Err(Fault::new("python", NO_HOST, "any other scheduler")),
        }
    }

    fn build(&self, streams: usize, rng: &RngTree) -> Result<Box<dyn StreamScheduler>, String> {
        let host = registered().ok_or_else(|| NO_HOST.to_owned())?;
        let plugin = host.build(self, streams, rng)?;
        Ok(Box::new(Python { plugin, requests: Vec::new(), requested: vec![0; streams] }))
    }
}

/// Calls a scheduler and rejects invalid choices.
struct Python {
    plugin: Box<dyn PluginScheduler>,
    requests: Vec<(usize, u64)>,
    /// The bytes requested per stream for the current packet; zero between packets.
    requested: Vec<u64>,
}

impl StreamScheduler for Python {
    fn fills_packets(&self) -> bool {
        self.plugin.fills_packets()
    }

    fn on_change(&mut self, stream: usize, streams: &SendBuffer) {
        self.plugin.on_change(stream, streams);
    }

    fn schedule(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        packet: &mut PacketShares,
    ) -> Result<(), String> {
        self.requests.clear();
        self.plugin.choose(now, streams, packet.room(), &mut self.requests)?;
        self.add_up(streams, packet.room())?;
        for (stream, _) in &self.requests {
            // All requests for one stream go into one frame, at the position of the first.
            let bytes = std::mem::take(&mut self.requested[*stream]);
            if bytes > 0 {
                packet.give(streams, *stream, bytes);
            }
        }
        Ok(())
    }
}

impl Python {
    /// Adds up the requests for each stream.
    fn add_up(&mut self, streams: &SendBuffer, room: u64) -> Result<(), String> {
        let mut sum = 0u64;
        for (stream, bytes) in &self.requests {
            let Some(buffer) = streams.streams().get(*stream) else {
                let last = streams.streams().len() - 1;
                return Err(format!(
                    "chose stream {stream}, which there is not; allowed: 0 to {last}"
                ));
            };
            let waiting = buffer.backlog();
            if waiting == 0 {
                return Err(format!("chose stream {stream}, which has no bytes waiting"));
            }
            if !streams.is_occupied(*stream) {
                return Err(format!("chose stream {stream}, which flow control holds back"));
            }
            let requested = &mut self.requested[*stream];
            *requested = requested.saturating_add(*bytes);
            if *requested > waiting {
                return Err(format!(
                    "gave stream {stream} {requested} bytes, of which {waiting} are waiting"
                ));
            }
            sum = sum.saturating_add(*bytes);
        }
        if sum > room {
            return Err(format!("gave {sum} bytes, to a packet with room for {room}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
