//! Coupled congestion control: one controller whose paths share what they know.
//!
//! Every open path has the window of [`loss_based`](super::loss_based), with its slow start, recovery, persistent
//! congestion and undo. In congestion avoidance, growth and reduction depend on all paths of the connection. A call
//! about a path goes as follows:
//!
//! 1. [`Coupled`] takes the round-trip times of an acknowledgement into the path's [`View`], and marks the path as the
//!    one that the call is about ([`Paths::own`]).
//! 2. It calls the path's [`LossBased`], which decides whether the window grows or shrinks at all.
//! 3. If so, that calls `growth` or `reduced` of the algorithm ([`CoupledAvoidance`]) with [`Paths`], the views of all
//!    open paths.
//! 4. [`Coupled`] writes the new window, and what the algorithm shows of the path ([`CoupledAvoidance::shown`]), into
//!    the view.
//!
//! An algorithm is thus a value per path, which an undo restores with the window. It changes its own path only, and of
//! the others it sees what their views had after their last call. A call costs one step for the path, and at most one
//! pass over the views, so the cost per packet is linear in the number of open paths; the rate of each path is kept in its
//! view.

use leobench_base::{Bytes, SimTime};
use smallvec::SmallVec;

use super::loss_based::{Avoidance, LossBased, reno_growth};
use super::opening::Opening;
use super::{AckEnd, Acked, Congestion, CongestionContext, CongestionControl, Rtt, Sent};
use crate::endpoint::{AccessReport, Forecast, PathId};

/// Congestion avoidance of a path that sees all paths of its connection.
pub(super) trait CoupledAvoidance:
    Avoidance<Paths = Paths<Self::Shown, Self::Memory>>
{
    /// State of a path that the other paths see, beside its window and round-trip times.
    type Shown: Copy + Send;
    /// State of the connection, which outlives its paths and no undo restores.
    type Memory: Default + Send;

    /// The state that the other paths see from now on.
    fn shown(&self) -> Self::Shown;
}

/// An open path as the other paths of the connection see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<S> {
    /// The path.
    pub path: PathId,
    /// The window in bytes, growth of less than a byte included.
    pub window: f64,
    /// Round-trip times; none before the first acknowledgement.
    pub rtt: Option<Rtt>,
    /// The smoothed round-trip time in seconds; zero before the first acknowledgement.
    pub seconds: f64,
    /// The window over the smoothed round-trip time, in bytes per second; zero before the first acknowledgement.
    pub rate: f64,
    /// State that the algorithm shows of it.
    pub shown: S,
}

impl<S> View<S> {
    /// The window over the square of the smoothed round-trip time, by which RFC 6356 and OLIA weigh a path; zero before the
    /// first acknowledgement.
    pub fn weight(&self) -> f64 {
        if self.rtt.is_some() { self.rate / self.seconds } else { 0.0 }
    }

    fn measure(&mut self, rtt: Rtt) {
        self.rtt = Some(rtt);
        self.seconds = rtt.smoothed.as_secs_f64().max(1e-9);
        self.rate = self.window / self.seconds;
    }

    fn update(&mut self, window: f64, shown: S) {
        self.window = window;
        self.shown = shown;
        self.rate = if self.rtt.is_some() { window / self.seconds } else { 0.0 };
    }
}

/// All open paths of a connection, in the order in which they were opened.
#[derive(Clone, Debug)]
pub(super) struct Paths<S, M = ()> {
    views: SmallVec<[View<S>; 2]>,
    own: usize,
    /// The algorithm's memory of the connection.
    pub memory: M,
}

impl<S, M> Paths<S, M> {
    /// The path that the call is about.
    pub fn own(&self) -> &View<S> {
        &self.views[self.own]
    }

    /// The paths with a round-trip time. Others count for nothing: nothing has arrived over them yet.
    pub fn measured(&self) -> impl Iterator<Item = &View<S>> + Clone {
        self.views.iter().filter(|view| view.rtt.is_some())
    }

    /// The others of the paths with a round-trip time.
    pub fn others(&self) -> impl Iterator<Item = &View<S>> + Clone {
        let own = self.own;
        let others = self.views.iter().enumerate().filter(move |(at, _)| *at != own);
        others.map(|(_, view)| view).filter(|view| view.rtt.is_some())
    }

    /// The rate of all paths together, in bytes per second.
    pub fn rate(&self) -> f64 {
        self.measured().map(|view| view.rate).sum()
    }

    /// Bytes by which an acknowledgement lets the window of a path grow that carries packets of `datagram` bytes: for each
    /// byte acknowledged, `factor` (per byte) times a packet. If no other path has a round-trip time, `factor` is 1 over
    /// the window, as Reno's: the formulas for several paths come to the same, but for the last digits.
    pub fn growth(
        &self,
        datagram: Bytes,
        window: f64,
        acked: &Acked,
        factor: impl FnOnce(&Self) -> f64,
    ) -> f64 {
        if self.others().next().is_none() {
            return reno_growth(datagram, window, acked);
        }
        let packets = datagram.get() as f64 * acked.size.get() as f64;
        packets * factor(self)
    }

    fn find(&self, path: PathId) -> Option<usize> {
        self.views.iter().position(|view| view.path == path)
    }
}

/// A controller of paths that decide together.
///
/// A path that is not open has a window of zero, late reports about its packets are ignored, and the others do not see
/// it. A path opens as it would alone, and the others go on as if it were not there until its first acknowledgement.
/// Reopening a path starts it afresh.
pub(super) struct Coupled<A: CoupledAvoidance> {
    /// The windows of the paths in `paths`, in the same order.
    windows: SmallVec<[LossBased<A>; 2]>,
    paths: Paths<A::Shown, A::Memory>,
    build: Box<dyn FnMut(Bytes) -> LossBased<A> + Send>,
}

/// A controller of any number of coupled paths, each with what `avoidance` makes for packets of a size.
pub(super) fn build<A: CoupledAvoidance + 'static>(
    opening: &Opening,
    context: &CongestionContext<'_>,
    avoidance: impl FnMut(Bytes) -> A + Send + 'static,
) -> Box<dyn CongestionControl> {
    Box::new(Coupled::new(opening, context, avoidance))
}

impl<A: CoupledAvoidance> Coupled<A> {
    /// No path yet; `avoidance` makes the state of a path that opens with packets of a size.
    pub fn new(
        opening: &Opening,
        context: &CongestionContext<'_>,
        mut avoidance: impl FnMut(Bytes) -> A + Send + 'static,
    ) -> Self {
        let (opening, paced) = (opening.clone(), context.paced);
        Self {
            windows: SmallVec::new(),
            paths: Paths { views: SmallVec::new(), own: 0, memory: A::Memory::default() },
            build: Box::new(move |datagram| {
                LossBased::new(&opening, paced, datagram, avoidance(datagram))
            }),
        }
    }

    fn get(&self, path: PathId) -> Option<&LossBased<A>> {
        self.paths.find(path).map(|at| &self.windows[at])
    }

    /// Changes a path that is open, and shows the others what has become of it.
    fn change(
        &mut self,
        path: PathId,
        change: impl FnOnce(&mut LossBased<A>, &mut Paths<A::Shown, A::Memory>),
    ) {
        let Some(at) = self.paths.find(path) else { return };
        let window = &mut self.windows[at];
        self.paths.own = at;
        change(window, &mut self.paths);
        self.paths.views[at].update(window.exact(), window.avoidance().shown());
    }
}

impl<A: CoupledAvoidance> CongestionControl for Coupled<A> {
    fn open(&mut self, path: PathId, _now: SimTime, datagram: Bytes) {
        self.close(path);
        let window = (self.build)(datagram);
        self.paths.views.push(View {
            path,
            window: window.exact(),
            rtt: None,
            seconds: 0.0,
            rate: 0.0,
            shown: window.avoidance().shown(),
        });
        self.windows.push(window);
    }

    fn close(&mut self, path: PathId) {
        if let Some(at) = self.paths.find(path) {
            self.windows.remove(at);
            self.paths.views.remove(at);
        }
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        self.change(path, |window, _| window.on_sent(sent));
    }

    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        self.change(path, |window, paths| {
            paths.views[paths.own].measure(acked.rtt);
            window.on_ack(acked, paths);
        });
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        self.change(path, |window, _| window.on_ack_end(end));
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        self.change(path, |window, paths| window.on_loss(congestion, paths));
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        self.change(path, |window, paths| window.on_ecn(congestion, paths));
    }

    fn on_spurious_loss(&mut self, path: PathId) {
        self.change(path, LossBased::on_spurious_loss);
    }

    fn on_forecast(&mut self, path: PathId, forecast: &Forecast) {
        self.change(path, |window, _| window.on_forecast(forecast));
    }

    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        self.change(path, |window, paths| window.on_access(report, paths));
    }

    fn window(&self, path: PathId) -> Bytes {
        self.get(path).map_or(Bytes::ZERO, LossBased::window)
    }

    fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        self.get(path)?.ssthresh()
    }

    fn phase(&self, path: PathId) -> &'static str {
        self.get(path).map_or("closed", LossBased::phase)
    }

    fn set_window(&mut self, path: PathId, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        let open = self.paths.find(path).is_some();
        self.change(path, |state, _| {
            state.set_window(window, ssthresh);
        });
        open
    }
}

#[cfg(test)]
pub(super) mod tests;
