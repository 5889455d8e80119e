//! The interface of path schedulers: what one sees of the paths of a connection, and what it answers.

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};
use smallvec::SmallVec;

use crate::endpoint::{Forecast, InterfaceForecast, PathId};

/// A path that may carry data: it is open and validated, and no better path is there for which it is only a backup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathView {
    /// The path.
    pub id: PathId,
    /// The place of its link in `multipath.links`, if this end knows it.
    pub link: Option<usize>,
    /// Smoothed round-trip time (RFC 9002 section 5.3); what is assumed before the first sample.
    pub rtt: SimDuration,
    /// Its variation (RFC 9002 section 5.3).
    pub variation: SimDuration,
    /// Bytes that may be in flight.
    pub window: Bytes,
    /// Bytes that are in flight.
    pub in_flight: Bytes,
    /// Largest UDP payload.
    pub payload: Bytes,
    /// When pacing and forecasts let the next packet go; in the past if at once.
    pub ready: SimTime,
    /// Whether the window is below the slow-start threshold.
    pub slow_start: bool,
    /// Rate at which data was acknowledged over the last round trip, once one has passed.
    pub delivery_rate: Option<BitRate>,
    /// The latest forecast of the path, if the flow has forecasts.
    pub forecast: Option<Forecast>,
}

impl PathView {
    /// Whether the window has room for a full packet.
    #[inline]
    pub fn has_window(&self) -> bool {
        self.in_flight + self.payload <= self.window
    }

    /// Whether window and pacing let a full packet go now.
    #[inline]
    pub fn has_room(&self, now: SimTime) -> bool {
        self.has_window() && self.ready <= now
    }

    /// The window in packets, at least one.
    #[inline]
    pub(crate) fn window_packets(&self) -> f64 {
        (self.window.get() as f64 / self.payload.get() as f64).max(1.0)
    }
}

/// Paths that a packet is to take.
pub type PathIds = SmallVec<[PathId; 4]>;

/// The data that waits for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// New bytes of streams that wait.
    pub waiting: Bytes,
    /// Bytes of new data that the flow control of the connection still lets this end send (RFC 9000 section 4.1).
    pub credit: Bytes,
}

impl Backlog {
    /// The waiting bytes that flow control lets this end send.
    #[inline]
    pub(crate) fn sendable(&self) -> Bytes {
        self.waiting.min(self.credit)
    }
}

/// The path of the next packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// None: the packet waits for a better path.
    Wait,
    /// This one, which has room.
    One(PathId),
    /// The first, which has room; the others send the same data as soon as they have room, unless it is acknowledged by then.
    Several(PathIds),
}

impl Choice {
    /// The path of the packet, if it does not wait.
    #[inline]
    pub fn first(&self) -> Option<PathId> {
        match self {
            Self::Wait => None,
            Self::One(path) => Some(*path),
            Self::Several(paths) => paths.first().copied(),
        }
    }
}

/// A running path scheduler.
///
/// Order of calls: [`choose`](Self::choose) as often as a packet may leave, and [`on_sent`](Self::on_sent) when one does.
pub trait PathScheduler: Send {
    /// The path of the next packet that carries anything but acknowledgements and probes. Of `paths`, at least one
    /// [has room](PathView::has_room).
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn choose(
        &mut self,
        now: SimTime,
        paths: &[PathView],
        backlog: &Backlog,
    ) -> Result<Choice, String>;

    /// Whether it looks at [`PathView::delivery_rate`], which is not measured otherwise.
    fn uses_delivery_rates(&self) -> bool {
        false
    }

    /// The packet left on `path`.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn on_sent(&mut self, path: PathId) -> Result<(), String> {
        let _ = path;
        Ok(())
    }

    /// A forecast came, for one of the paths or one that is not open yet. The [view](PathView::forecast) of the path has it from now
    /// on.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn on_forecast(&mut self, now: SimTime, forecast: &Forecast) -> Result<(), String> {
        let _ = (now, forecast);
        Ok(())
    }

    /// A forecast came for the interface of a link, by its place in `multipath.links`, whether a path uses it or not. Only the end
    /// that opens the paths gets these.
    ///
    /// # Errors
    /// A description of the failure of a plug-in.
    fn on_interface_forecast(
        &mut self,
        now: SimTime,
        link: usize,
        forecast: &InterfaceForecast,
    ) -> Result<(), String> {
        let _ = (now, link, forecast);
        Ok(())
    }

    /// File and line of a plug-in, such as `mine.py, line 7`, for messages that refuse its choices.
    fn place(&self) -> Option<&str> {
        None
    }
}
