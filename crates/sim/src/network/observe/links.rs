//! The state of links as results need it, by direction.

use leobench_base::{BitRate, DirectionId, SimDuration, SimTime};
use leobench_link::{ChannelState, LinkConfig, LinkCounters, Service};

use super::Observer;
use crate::record::{ChannelRow, SinkError};

/// The observer's record of a direction of a link, beside the link itself.
pub(crate) struct LinkView {
    pub(super) own_delay: SimDuration,
    pub(super) rate_scale: f64,
    /// Delay of the channel and its rate, if it has one.
    pub(super) channel: (SimDuration, Option<BitRate>),
    /// Whether it takes packets.
    pub(super) up: bool,
    /// Whether there is a way, such as over a satellite.
    pub(super) has_way: bool,
    /// Whether packets get through at some time while the channel stays as it is.
    pub(super) open: bool,
    /// Totals at the end of the warm-up.
    pub(crate) before: LinkCounters,
}

impl LinkView {
    pub(in crate::network) fn new(config: &LinkConfig) -> Self {
        Self {
            own_delay: config.delay,
            rate_scale: config.rate_scale,
            channel: Default::default(),
            up: true,
            has_way: true,
            open: true,
            before: LinkCounters::default(),
        }
    }

    /// Propagation delay, that of the channel included.
    pub(super) fn delay(&self) -> SimDuration {
        self.own_delay + self.channel.0
    }
}

impl Observer {
    /// Propagation delay in a direction now.
    pub(in crate::network) fn delay(&self, direction: DirectionId) -> SimDuration {
        self.directions[direction].delay()
    }

    /// Whether a link takes packets in a direction.
    pub(in crate::network) fn is_up(&self, direction: DirectionId) -> bool {
        self.directions[direction].up
    }

    /// The directions that a flow can use: no other ever has a packet.
    pub(in crate::network) fn sampled(&self) -> &[DirectionId] {
        &self.sampled
    }

    /// For the state of links and the recorder.
    pub(super) fn channel(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        state: &ChannelState,
    ) -> Result<(), SinkError> {
        let view = &mut self.directions[direction];
        let rate = match &state.service {
            Service::Rate(rate) => Some(rate.scaled(view.rate_scale)),
            Service::Opportunities(_) => None,
        };
        view.channel = (state.delay, rate);
        view.up = state.up;
        view.has_way = state.has_way;
        view.open = state.up && rate.is_none_or(|rate| !rate.is_zero());
        let delay = view.own_delay + state.delay;
        if self.sampled.binary_search(&direction).is_err() {
            return Ok(());
        }
        let (loss, up, label) = (state.loss, state.up, &*state.label);
        if let Some(trace) = &mut self.trace {
            trace.channel(now, direction, label);
        }
        self.recorder.channel(now, direction, &ChannelRow { rate, delay, loss, up, label })
    }
}
