//! The congestion control of a connection, and what its paths have been through.

use leobench_base::{BitRate, Bytes, LogHistogram, SimTime};
use leobench_transport::congestion::{
    AckEnd, Acked, CarefulResume, Congestion, CongestionControl, Lost, PhaseWatch, Rtt, Sent,
};
use leobench_transport::endpoint::{AccessReport, EndpointError, Event, Forecast, PathId, Totals};
use leobench_transport::path_map::PathMap;

use super::SentPacket;

/// The algorithm of a connection. Paths report what happens to their packets, and everything is counted on the way.
pub(crate) struct Control {
    /// Name of the algorithm.
    name: Box<str>,
    algorithm: Box<dyn CongestionControl>,
    paths: PathMap<PathState>,
    /// The latest report on the access link of each path, also of those that are still to be opened.
    access: PathMap<AccessReport>,
    /// All round-trip time samples of all paths, in nanoseconds.
    rtts: LogHistogram,
    events: Vec<Event>,
    /// Whether the algorithm resumes carefully.
    resumes: bool,
}

/// Totals, round-trip times and congestion state of a path.
#[derive(Debug, Default)]
struct PathState {
    totals: Totals,
    /// Latest round-trip time samples.
    rtt: Option<Rtt>,
    /// Whether the application leaves room in the window.
    app_limited: bool,
    /// Whether neither it nor flow control does (RFC 9002 section 7.8).
    cwnd_limited: bool,
    phase: PhaseWatch,
    /// When the last recovery period began (RFC 9002 section 7.3.2), and whether with persistent congestion.
    congested: Option<(SimTime, bool)>,
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Control {
    /// The congestion control of a connection without paths, by an algorithm called `name`.
    pub(crate) fn new(name: &str, mut algorithm: Box<dyn CongestionControl>) -> Self {
        let resumes = algorithm.careful_resume().is_some();
        Self {
            name: name.into(),
            algorithm,
            paths: PathMap::default(),
            access: PathMap::default(),
            rtts: LogHistogram::new(),
            events: Vec::new(),
            resumes,
        }
    }

    /// Opens a path for packets of `datagram` bytes. Of a path opened again the totals go on.
    pub(crate) fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes) {
        let totals = self.totals(path);
        self.paths.insert(path, PathState { totals, cwnd_limited: true, ..PathState::default() });
        self.algorithm.open(path, now, datagram);
        if let Some(report) = self.access.get(path) {
            self.algorithm.on_access(path, report);
        }
        self.look(path);
    }

    /// Puts another controller in the place of the one that the specification names.
    #[cfg(test)]
    pub(crate) fn replace(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.algorithm = algorithm;
    }

    /// The algorithm as one that resumes carefully, if it does.
    pub(crate) fn careful_resume(&mut self) -> Option<&mut CarefulResume> {
        self.algorithm.careful_resume()
    }

    /// Closes a path.
    pub(crate) fn close(&mut self, path: PathId) {
        self.algorithm.close(path);
    }

    /// Forgets a path, of which nothing will be heard any more.
    pub(crate) fn forget(&mut self, path: PathId) {
        self.paths.remove(path);
        self.access.remove(path);
    }

    /// Fails if the controller cannot go on at `now`.
    ///
    /// # Errors
    /// The controller's failure.
    pub(crate) fn check(&mut self, now: SimTime) -> Result<(), EndpointError> {
        EndpointError::check_controller(&mut *self.algorithm, &self.name, now)
    }

    /// Sets whether the application leaves room in a path's window, and whether the window is what limits the sender.
    pub(crate) fn set_limits(&mut self, path: PathId, app_limited: bool, cwnd_limited: bool) {
        let state = self.state(path);
        (state.app_limited, state.cwnd_limited) = (app_limited, cwnd_limited);
    }

    /// A report on the access link of a path. One that comes before the path is opened, or opened again, is kept until then.
    pub(crate) fn on_access(&mut self, report: &AccessReport) {
        self.access.insert(report.path, *report);
        if self.paths.get(report.path).is_some() {
            self.algorithm.on_access(report.path, report);
        }
    }

    /// A forecast of a path.
    pub(crate) fn on_forecast(&mut self, forecast: &Forecast) {
        self.algorithm.on_forecast(forecast.path, forecast);
    }

    /// Bytes that may be in flight.
    #[inline]
    pub(crate) fn window(&self, path: PathId) -> u64 {
        self.algorithm.window(path).get()
    }

    /// The pacing rate of the algorithm's own, if it has one.
    #[inline]
    pub(crate) fn pacing_rate(&self, path: PathId) -> Option<BitRate> {
        self.algorithm.pacing_rate(path)
    }

    /// Slow-start threshold, if there is one yet.
    pub(crate) fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        self.algorithm.ssthresh(path)
    }

    /// Name of the phase.
    pub(crate) fn phase(&self, path: PathId) -> &'static str {
        self.algorithm.phase(path)
    }

    /// All round-trip time samples of all paths, in nanoseconds.
    pub(crate) fn rtts(&self) -> &LogHistogram {
        &self.rtts
    }

    /// Totals of a path. Those of packets and bytes sent, received and retransmitted are the connection's to count.
    #[inline]
    pub(crate) fn totals_mut(&mut self, path: PathId) -> &mut Totals {
        &mut self.state(path).totals
    }

    /// Totals of a path.
    pub(crate) fn totals(&self, path: PathId) -> Totals {
        self.paths.get(path).map_or_else(Totals::default, |state| state.totals)
    }

    /// Bytes of a path that were acknowledged.
    #[inline]
    pub(crate) fn acked_bytes(&self, path: PathId) -> Bytes {
        self.paths.get(path).map_or(Bytes::ZERO, |state| state.totals.acked_bytes)
    }

    /// Totals of all paths.
    #[cfg(test)]
    pub(crate) fn sum(&self) -> Totals {
        let mut sum = Totals::default();
        self.paths.values().for_each(|state| sum += state.totals);
        sum
    }

    /// Appends the events since the last call.
    #[inline]
    pub(crate) fn take_events(&mut self, events: &mut Vec<Event>) {
        if self.resumes
            && let Some(careful) = self.algorithm.careful_resume()
        {
            careful.take_events(events);
        }
        if !self.events.is_empty() {
            events.append(&mut self.events);
        }
    }

    /// A packet was sent, with which `in_flight` bytes are in flight.
    pub(super) fn on_sent(&mut self, path: PathId, packet: &SentPacket, in_flight: u64) {
        let Self { paths, algorithm, events, .. } = self;
        let state = paths.get_mut(path).expect("packets are sent on paths that are open");
        let (size, in_flight) = (Bytes::new(packet.size), Bytes::new(in_flight));
        let sent = Sent::new(packet.at, size, in_flight, packet.sequence);
        algorithm.on_sent(path, &sent.app_limited(state.app_limited));
        if let Some(event) = state.phase.look(&**algorithm, path) {
            events.push(event);
        }
    }

    /// A packet was acknowledged, before which `in_flight` bytes were in flight.
    pub(super) fn on_acked(
        &mut self,
        path: PathId,
        now: SimTime,
        packet: &SentPacket,
        in_flight: u64,
        rtt: Rtt,
    ) {
        let state = self.state(path);
        let size = Bytes::new(packet.size);
        state.totals.acked_bytes += size;
        let acked = Acked {
            now,
            sent: packet.at,
            size,
            packet_number: packet.sequence,
            in_flight: Bytes::new(in_flight),
            app_limited: state.app_limited,
            cwnd_limited: state.cwnd_limited,
            recovering: false,
            ambiguous: false,
            rtt: Rtt { latest: now.saturating_since(packet.at), ..rtt },
        };
        self.algorithm.on_ack(path, &acked);
    }

    /// All packets of an acknowledgement have been reported.
    pub(super) fn on_ack_end(&mut self, path: PathId, now: SimTime, in_flight: u64) {
        self.algorithm.on_ack_end(path, &AckEnd::new(now, Bytes::new(in_flight)));
        self.look(path);
    }

    /// A round-trip time was sampled.
    pub(super) fn on_rtt(&mut self, path: PathId, rtt: Rtt) {
        self.state(path).rtt = Some(rtt);
        self.rtts.record(rtt.latest.as_nanos());
    }

    /// A packet was lost.
    pub(super) fn on_packet_lost(&mut self, path: PathId, now: SimTime, packet: &SentPacket) {
        let totals = self.totals_mut(path);
        let size = Bytes::new(packet.size);
        totals.lost_packets += 1;
        totals.lost_bytes += size;
        self.algorithm.on_packet_lost(path, &Lost::new(now, size, packet.sequence));
    }

    /// Packets were lost that had left over a former route: they are counted, and the algorithm is not told.
    pub(super) fn on_lost_elsewhere(&mut self, path: PathId, lost: &[SentPacket]) {
        for packet in lost.iter().filter(|packet| packet.elsewhere && packet.ack_eliciting) {
            let totals = self.totals_mut(path);
            totals.lost_packets += 1;
            totals.lost_bytes += Bytes::new(packet.size);
        }
    }

    /// Packets were lost together. Returns whether a recovery period begins with them.
    pub(super) fn on_loss(&mut self, path: PathId, congestion: &Congestion) -> bool {
        self.respond("loss", path, congestion, |algorithm| algorithm.on_loss(path, congestion))
    }

    /// The peer reported new marks. Returns whether a recovery period begins with them.
    pub(super) fn on_ecn(&mut self, path: PathId, congestion: &Congestion) -> bool {
        self.totals_mut(path).ecn_marks += 1;
        self.respond("ECN", path, congestion, |algorithm| algorithm.on_ecn(path, congestion))
    }

    /// Packets reported as lost were acknowledged.
    pub(super) fn on_late(&mut self, path: PathId, late: &[SentPacket]) {
        let totals = self.totals_mut(path);
        totals.spurious_losses += late.len() as u64;
        totals.acked_bytes += Bytes::new(late.iter().map(|packet| packet.size).sum());
    }

    /// All losses behind the last reduction were spurious.
    pub(super) fn on_spurious(&mut self, path: PathId) {
        self.totals_mut(path).undos += 1;
        let before = self.algorithm.window(path);
        self.algorithm.on_spurious_loss(path);
        let after = self.algorithm.window(path);
        let detail = format!("late acknowledgements: window {before} -> {after}");
        self.events.push(Event { kind: "undo", detail });
        self.look(path);
    }

    /// A probe timeout expired.
    pub(super) fn on_probe_timeout(&mut self, path: PathId) {
        self.totals_mut(path).timeouts += 1;
        self.events.push(Event { kind: "timeout", detail: String::new() });
    }

    /// Calls the algorithm for a congestion event. Counts it if it begins a recovery period (RFC 9002 section 7.3.2), or turns
    /// one into persistent congestion, whatever the algorithm makes of it. Returns whether it begins one.
    fn respond(
        &mut self,
        cause: &str,
        path: PathId,
        congestion: &Congestion,
        respond: impl FnOnce(&mut dyn CongestionControl),
    ) -> bool {
        let before = self.algorithm.window(path);
        respond(&mut *self.algorithm);
        let after = self.algorithm.window(path);
        let state = self.state(path);
        let begins = state.congested.is_none_or(|(start, _)| congestion.sent > start);
        let collapses = congestion.persistent && !state.congested.is_some_and(|(_, was)| was);
        if begins || collapses {
            state.congested = Some((congestion.now, congestion.persistent));
            state.totals.congestion_events += 1;
            let kind = if congestion.persistent { "persistent-congestion" } else { "congestion" };
            let detail = format!("{cause}: window {before} -> {after}");
            self.events.push(Event { kind, detail });
        }
        self.look(path);
        begins
    }

    /// Records a change of the phase.
    #[inline]
    fn look(&mut self, path: PathId) {
        let Self { paths, algorithm, events, .. } = self;
        let event = paths.get_mut(path).and_then(|state| state.phase.look(&**algorithm, path));
        events.extend(event);
    }

    #[inline]
    fn state(&mut self, path: PathId) -> &mut PathState {
        self.paths.get_mut(path).expect("a path is open, or closed and not forgotten")
    }
}
