//! Plug-ins of a test's.

use std::sync::Arc;

use leobench_base::spec::Fault;
use leobench_base::{RngTree, SimTime, StreamIndex};

use crate::buffer::SendBuffer;
use crate::path_choice::{Backlog, Choice, PathScheduler, PathView};
use crate::plugin::{Plugin, PluginClass, PluginHost, PluginKind, PluginScheduler, Plugins};
use crate::video::{Adaptation, PlayerView};

/// A host with one scheduler of each kind and one adaptation: it fills packets with the streams in order, takes the first path
/// that has room, or the first bitrate.
#[derive(Debug)]
struct InOrder;

/// The plug-ins of that host.
pub fn in_order() -> Plugins {
    Plugins::new(Arc::new(InOrder))
}

impl PluginHost for InOrder {
    fn check(&self, _kind: &PluginKind, class: PluginClass<'_>) -> Result<(), Fault> {
        let known = class.name.ends_with(":MyScheduler");
        let fault = || Fault::new("python", "no such class", "`MyScheduler`");
        known.then_some(()).ok_or_else(fault)
    }

    fn build(
        &self,
        kind: &PluginKind,
        _class: PluginClass<'_>,
        _rng: &RngTree,
    ) -> Result<Plugin, String> {
        Ok(match kind {
            PluginKind::StreamScheduler { .. } => Plugin::StreamScheduler(Box::new(Self)),
            PluginKind::PathScheduler { .. } => Plugin::PathScheduler(Box::new(Self)),
            PluginKind::Adaptation { .. } => Plugin::Adaptation(Box::new(Self)),
            PluginKind::CongestionController { .. } | PluginKind::QuicStack(_) => {
                return Err("this host has schedulers and an adaptation only".to_owned());
            }
        })
    }
}

impl PathScheduler for InOrder {
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        _backlog: &Backlog,
    ) -> Result<Choice, String> {
        let free = paths.iter().find(|path| path.has_room(now));
        Ok(free.map_or(Choice::Wait, |path| Choice::One(path.id)))
    }
}

impl Adaptation for InOrder {
    fn choose(&mut self, _view: &PlayerView<'_>) -> Result<usize, String> {
        Ok(0)
    }
}

impl PluginScheduler for InOrder {
    fn on_change(&mut self, _stream: StreamIndex, _streams: &SendBuffer) {}

    fn fills_packets(&self) -> bool {
        true
    }

    fn choose(
        &mut self,
        _now: SimTime,
        streams: &SendBuffer,
        mut room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String> {
        for (stream, buffer) in streams.streams().iter_enumerated() {
            let bytes = buffer.backlog().min(room);
            if bytes > 0 && streams.is_occupied(stream) {
                room -= bytes;
                requests.push((stream.index(), bytes));
            }
        }
        Ok(())
    }
}
