//! Schedulers written in Python: the host of plug-ins builds them, and this file validates their choices.

use leobench_base::spec::{Fault, Table, Weight};
use leobench_base::{SimTime, StreamIndex};
use typed_index_collections::{TiVec, ti_vec};

use super::{PacketShares, SchedulerContext, SchedulerModel, StreamScheduler, one_weight_each};
use crate::buffer::SendBuffer;
use crate::endpoint::Forecast;
use crate::plugin::{self, Origin, Plugin, PluginClass, PluginKind, PluginScheduler, Plugins};

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
    plugin::check_name(&spec.python)
}

impl PythonSpec {
    fn class(&self) -> PluginClass<'_> {
        PluginClass { origin: Origin::Python, name: &self.python, parameters: &self.parameters }
    }

    fn kind(&self, streams: usize) -> PluginKind {
        PluginKind::StreamScheduler {
            weights: (0..streams).map(|stream| self.weight(stream.into())).collect(),
        }
    }

    /// The weight of a stream.
    fn weight(&self, stream: StreamIndex) -> f64 {
        let given = self.weights.as_ref().and_then(|weights| weights.get(stream.index()));
        given.map_or(1.0, |weight| weight.get())
    }
}

impl SchedulerModel for PythonSpec {
    fn check(&self, streams: usize, plugins: &Plugins) -> Result<(), Fault> {
        if let Some(weights) = &self.weights {
            one_weight_each(weights.len(), streams)?;
        }
        plugins.check(&self.kind(streams), self.class())
    }

    fn build(&self, context: &SchedulerContext<'_>) -> Result<Box<dyn StreamScheduler>, String> {
        let SchedulerContext { streams, rng, plugins } = *context;
        let Plugin::StreamScheduler(plugin) =
            plugins.build(&self.kind(streams), self.class(), rng)?
        else {
            return Err("was built as another kind of plug-in".to_owned());
        };
        Ok(Box::new(Python { plugin, requests: Vec::new(), requested: ti_vec![0; streams] }))
    }
}

/// Calls a scheduler and rejects invalid choices.
struct Python {
    plugin: Box<dyn PluginScheduler>,
    /// Numbers of streams and bytes, as the plug-in gave them.
    requests: Vec<(usize, u64)>,
    /// The bytes requested per stream for the current packet; zero between packets.
    requested: TiVec<StreamIndex, u64>,
}

impl StreamScheduler for Python {
    fn fills_packets(&self) -> bool {
        self.plugin.fills_packets()
    }

    fn on_change(&mut self, stream: StreamIndex, streams: &SendBuffer) {
        self.plugin.on_change(stream, streams);
    }

    fn on_forecast(&mut self, now: SimTime, forecast: &Forecast) -> Result<(), String> {
        self.plugin.on_forecast(now, forecast)
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
        for (number, _) in &self.requests {
            // All requests for one stream go into one frame, at the position of the first.
            let stream = StreamIndex::from(*number);
            let bytes = std::mem::take(&mut self.requested[stream]);
            if bytes > 0 {
                packet.give(streams, stream, bytes);
            }
        }
        Ok(())
    }
}

impl Python {
    /// Adds up the requests for each stream.
    fn add_up(&mut self, streams: &SendBuffer, room: u64) -> Result<(), String> {
        let mut sum = 0u64;
        for (number, bytes) in &self.requests {
            let count = streams.streams().len();
            if *number >= count {
                let last = count - 1;
                return Err(format!(
                    "chose stream {number}, which does not exist; allowed: 0 to {last}"
                ));
            }
            let stream = StreamIndex::from(*number);
            let waiting = streams.streams()[stream].backlog();
            if waiting == 0 {
                return Err(format!("chose stream {number}, which has no bytes waiting"));
            }
            if !streams.is_occupied(stream) {
                return Err(format!("chose stream {number}, which flow control blocks"));
            }
            let requested = &mut self.requested[stream];
            *requested = requested.saturating_add(*bytes);
            if *requested > waiting {
                return Err(format!(
                    "gave stream {number} {requested} bytes, but only {waiting} are waiting"
                ));
            }
            sum = sum.saturating_add(*bytes);
        }
        if sum > room {
            return Err(format!("gave {sum} bytes to a packet with room for {room}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
