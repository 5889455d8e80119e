//! MACO (Yang, Cai, Shu and Pan, "Mobility-aware congestion control for multipath QUIC in integrated terrestrial satellite
//! networks", IEEE Transactions on Mobile Computing, 2024).

mod avoidance;
mod bdp;
mod kalman;
mod quick_start;

use leobench_base::spec::{Fault, Range, UpTo, Whole};
use leobench_base::{Bytes, LinkId, SatelliteId, SimDuration, SimTime};

use self::avoidance::PathRate;
use self::bdp::Bdp;
use self::quick_start::{History, Key};
use super::coupled::{self, CoupledAvoidance, Paths, View};
use super::growth_per::{Counter, GrowthPer};
use super::loss_based::{Avoidance, QuickStart};
use super::opening::{Opening, Packets};
use super::{
    AckEnd, Acked, Behaviour, Congestion, CongestionContext, CongestionControl, CongestionModel,
    Sent,
};
use crate::endpoint::AccessReport;

/// The initial window of a path without history, in packets: with fewer, losses cannot be told by later packets (section 4.2).
const FIRST_WINDOW: u32 = 4;

leobench_base::words! {
    /// How the propagation delay follows from round-trip times.
    pub enum DelayEstimate {
        /// The shortest: it has the least of queues in it.
        Minimum = "minimum",
        /// A moving average: it takes queues for propagation.
        Ewma = "ewma",
    }
}

leobench_base::words! {
    /// Factors over which equation 26 takes the maximum of all paths; the others are the path's own.
    pub enum MaxScope {
        /// The square of the rate.
        Rate = "rate",
        /// The square of the rate times the root of the longest round-trip time.
        LongestRtt = "longest_rtt",
        /// The same over the square of the round-trip time.
        Rtt = "rtt",
    }
}

leobench_base::words! {
    /// The response of the window to a loss without congestion.
    pub enum OtherLoss {
        /// Nothing.
        Hold = "hold",
        /// It grows as by an acknowledgement.
        Grow = "grow",
    }
}

leobench_base::words! {
    /// The slow-start threshold after a loss by congestion.
    pub enum SsthreshAfterLoss {
        /// The reduced window.
        Window = "window",
        /// The bandwidth-delay product, if that is larger.
        Bdp = "bdp",
    }
}

leobench_base::words! {
    /// The capacity that equation 17 compares the rate of arrival with.
    pub enum Capacity {
        /// That of the access link (equation 3).
        Access = "access",
        /// The smaller of that and the measured one (equation 12).
        Minimum = "minimum",
    }
}

leobench_base::words! {
    /// The bytes that the rate of arrival counts.
    pub enum RateCounts {
        /// The payload of datagrams.
        Payload = "payload",
        /// 28 bytes more for each, the headers of IPv4 and UDP.
        Headers = "headers",
    }
}

leobench_base::spec! {
    /// Coupled: starts by the product of its access link, and ignores losses without congestion (Yang et al. 2024).
    ///
    /// The initial window without history is 4 packets (section 4.2), unless `initial_window` is given or `quick_start` is off.
    pub struct MacoSpec: Default check = MacoSpec::check {
        ..pub opening: Opening,
        /// Factor on the window of a path at congestion (section 5.2).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
        /// Share of the bandwidth-delay product, or of the largest window at congestion, with which a path begins (section
        /// 4.2: gamma).
        pub gamma: f64 [Range::above(0.0).to(1.0)] = 0.5,
        /// One-way delay beyond the access link until a round trip is measured (section 4.1.3: 100 ms there and back, of which
        /// light takes 4 ms to a satellite 550 km away).
        pub terrestrial_delay: SimDuration [UpTo::DELAY] = SimDuration::from_millis(48),
        /// How the propagation delay follows from round-trip times.
        pub delay_estimate: DelayEstimate = DelayEstimate::Minimum,
        /// Weight of a round-trip time under `delay_estimate = "ewma"` (RFC 6298 section 2: alpha).
        pub delay_weight: f64 [Range::above(0.0).to(1.0)] = 0.125,
        /// Interval of a sample of the rate of arrival (equation 4); a smoothed round-trip time if not given.
        pub sampling: Option<SimDuration> [UpTo::DELAY],
        /// Standard deviation of a sample at the start of the filter, as a share of the first one.
        pub filter_noise: f64 [Range::above(0.0).to(10.0)] = 0.1,
        /// Standard deviation of the rate's change from sample to sample at the start of the filter, as a share of the first
        /// sample.
        pub filter_drift: f64 [Range::above(0.0).to(10.0)] = 0.1,
        /// Samples from which the filter estimates both variances anew.
        pub filter_window: Whole<8, 1_000_000> = Whole::nearest(32),
        /// Weight of a sample in the deviation of round-trip times in equation 17 (RFC 6298 section 2: alpha).
        pub deviation_weight: f64 [Range::above(0.0).to(1.0)] = 0.125,
        /// Factors over which equation 26 takes the maximum (section 5.2, equations 23 to 26: as printed).
        pub max_scope: MaxScope = MaxScope::LongestRtt,
        /// The events by which a window grows (RFC 9002 section 7.3: packets, however the receiver acknowledges them).
        pub growth_per: GrowthPer = GrowthPer::Packet,
        /// The response to a loss without congestion (section 5.2: windows grow with acknowledgements).
        pub other_loss: OtherLoss = OtherLoss::Hold,
        /// The slow-start threshold after a loss by congestion (RFC 9002 section 7.3.2).
        pub ssthresh_after_loss: SsthreshAfterLoss = SsthreshAfterLoss::Window,
        /// The capacity in equation 17 (section 5.1: by equation 3).
        pub capacity: Capacity = Capacity::Access,
        /// The bytes that the rate of arrival counts (section 4.1.2: data received).
        pub rate_counts: RateCounts = RateCounts::Payload,
        /// Windows at congestion that an interface remembers.
        pub history: Whole<1, 1_000> = Whole::nearest(8),
        /// Whether it remembers them when its satellite changes (section 4.2: for subsequent states).
        pub history_survives: bool = true,
        /// Multiple of the bytes that acknowledgements show the path to deliver in its shortest round trip. A larger window
        /// does not grow.
        pub growth_ceiling: f64 [Range::from(1.0).to(1e6)] = 8.0,
        /// Whether reports on access links are used.
        pub store: bool = true,
        /// Whether samples of the rate are filtered.
        pub filter: bool = true,
        /// Whether a path begins by algorithm 2; otherwise as with all other controllers.
        pub quick_start: bool = true,
        /// Whether losses without congestion are told by equation 17; otherwise every loss counts.
        pub mobility_aware: bool = true,
    }
}

impl MacoSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.sampling.is_some_and(SimDuration::is_zero) {
            return Err(Fault::new("sampling", "is zero", "a time above zero"));
        }
        Ok(())
    }

    /// The opening with the initial window of algorithm 2.
    fn opening(&self) -> Opening {
        let mut opening = self.opening.clone();
        if self.quick_start && opening.initial_window.is_none() {
            let packets = FIRST_WINDOW.max(opening.minimum_window.get());
            opening.initial_window = Some(Packets::nearest(packets));
        }
        opening
    }
}

impl CongestionModel for MacoSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = std::sync::Arc::new(self.clone());
        coupled::build(&self.opening(), context, move |datagram| Maco::new(&spec, datagram))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour {
            standard_initial_window: !self.quick_start,
            standard_slow_start: self.growth_per == GrowthPer::Packet,
            every_loss_counts: !self.mobility_aware,
            multiplicative_decrease: !self.mobility_aware,
            ..Behaviour::COUPLED
        }
    }

    fn needs_access(&self) -> bool {
        self.store
    }
}

/// State that the other paths see: one over the size of a packet, and the root of the longest round-trip time in seconds.
#[derive(Clone, Copy, Debug)]
struct Shown {
    per_byte: f64,
    root_longest: f64,
}

/// One path.
#[derive(Clone, Debug)]
struct Maco {
    spec: std::sync::Arc<MacoSpec>,
    datagram: Bytes,
    shown: Shown,
    bdp: Bdp,
    /// The longest round trip seen (`T_r`).
    longest_rtt: SimDuration,
    last_ack: SimTime,
    /// The interface and its satellite, as last reported.
    link: Option<(LinkId, Option<SatelliteId>)>,
    /// The report that has just arrived, until it has been answered.
    news: Option<News>,
    /// Since when reports have named no satellite.
    unserved: Option<SimTime>,
    /// Whether the last reduction was recorded.
    recorded: bool,
    counter: Counter,
}

/// The changes that a report brought.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    /// The path's interface became known.
    identified: bool,
    /// Another satellite serves.
    handed_over: bool,
    /// A satellite serves again after a time in which nothing returned.
    reconnected: bool,
}

impl Maco {
    fn new(spec: &std::sync::Arc<MacoSpec>, datagram: Bytes) -> Self {
        Self {
            spec: spec.clone(),
            datagram,
            shown: Shown { per_byte: 1.0 / datagram.get() as f64, root_longest: 0.0 },
            bdp: Bdp::new(spec),
            longest_rtt: SimDuration::ZERO,
            last_ack: SimTime::ZERO,
            link: None,
            news: None,
            unserved: None,
            recorded: false,
            counter: Counter::new(spec.growth_per, datagram),
        }
    }

    fn key(&self, paths: &Paths<Shown, History>) -> Key {
        self.link.map_or(Key::Path(paths.own().path), |(link, _)| Key::Link(link))
    }

    /// The window with which algorithm 2 begins (equations 15 and 16): that of a path without history, at least.
    fn initial(&self, product: Option<f64>, paths: &Paths<Shown, History>) -> f64 {
        let packets = self.spec.opening().initial_window.map_or(FIRST_WINDOW, Packets::get);
        let least = f64::from(packets) * self.datagram.get() as f64;
        let largest = paths.memory.largest(self.key(paths));
        let share = product.zip(largest).map(|(product, largest)| product.min(largest));
        share.map_or(least, |share| (self.spec.gamma * share).max(least))
    }

    /// Packets by which a packet lets the window grow; none if far more is in flight than the path delivers.
    fn increase(&self, window: f64, paths: &Paths<Shown, History>) -> f64 {
        let own = paths.own();
        if own.rtt.is_none() || self.is_excessive(window) {
            return 0.0;
        }
        let rate = |view: &View<Shown>, shown: Shown| PathRate {
            rate: view.rate * shown.per_byte,
            rtt: view.seconds,
            root_longest: shown.root_longest,
        };
        let others = paths.others().map(|view| rate(view, view.shown));
        // No faster than slow start: a path with a long outage among its round trips would jump otherwise.
        avoidance::increase(self.spec.max_scope, rate(own, self.shown), others).min(1.0)
    }

    fn is_excessive(&self, window: f64) -> bool {
        self.bdp.delivered().is_some_and(|bytes| window > self.spec.growth_ceiling * bytes)
    }
}

impl Avoidance for Maco {
    type Paths = Paths<Shown, History>;

    fn sent(&mut self, sent: &Sent) {
        self.bdp.on_sent(sent);
    }

    fn acked(&mut self, acked: &Acked) {
        self.bdp.on_ack(acked);
        self.last_ack = acked.now;
        if !acked.ambiguous && acked.rtt.latest > self.longest_rtt {
            self.longest_rtt = acked.rtt.latest;
            self.shown.root_longest = libm::sqrt(acked.rtt.latest.as_secs_f64());
        }
    }

    fn ack_ended(&mut self, end: &AckEnd) {
        self.counter.acknowledgement_ends();
        self.bdp.on_ack_end(end, &self.spec);
    }

    /// A packet for an acknowledgement (line 18 of algorithm 2).
    fn slow_growth(&mut self, standard: f64, _room: f64, acked: &Acked) -> f64 {
        if self.is_excessive(acked.in_flight.get() as f64) {
            return 0.0;
        }
        let size = acked.size.get() as f64;
        if size > 0.0 { standard * (self.counter.count(acked).get() as f64 / size) } else { 0.0 }
    }

    fn growth(&mut self, window: f64, acked: &Acked, paths: &Self::Paths) -> f64 {
        self.counter.count(acked).get() as f64 * self.increase(window, paths)
    }

    fn reduced(&mut self, window: f64, _paths: &Self::Paths) -> f64 {
        window * self.spec.loss_reduction
    }

    fn is_congestion(&mut self, _congestion: &Congestion) -> bool {
        self.recorded = false;
        !self.spec.mobility_aware || avoidance::is_congestion(&self.bdp, self.spec.capacity)
    }

    fn other_loss(&mut self, window: f64, congestion: &Congestion, paths: &Self::Paths) -> f64 {
        let bytes = match (self.spec.other_loss, self.spec.growth_per) {
            (OtherLoss::Hold, _) => return 0.0,
            (OtherLoss::Grow, GrowthPer::Packet) => congestion.lost,
            (OtherLoss::Grow, GrowthPer::Acknowledgement) => self.datagram,
        };
        bytes.get() as f64 * self.increase(window, paths)
    }

    /// Line 4 of algorithm 3.
    fn congested(&mut self, window: f64, paths: &mut Self::Paths) {
        let key = self.key(paths);
        paths.memory.record(key, window, self.spec.history.get());
        self.recorded = true;
    }

    fn threshold_after(&self) -> Option<f64> {
        match self.spec.ssthresh_after_loss {
            SsthreshAfterLoss::Window => None,
            SsthreshAfterLoss::Bdp => self.bdp.averaged(),
        }
    }

    /// Line 5 of algorithm 2.
    fn restart(&self, paths: &Self::Paths) -> Option<QuickStart> {
        let threshold = self.bdp.averaged();
        let window = self.initial(threshold, paths);
        self.spec.quick_start.then_some(QuickStart { window, threshold })
    }

    /// Measurements made since stay.
    fn restored(&mut self, later: &Self) {
        self.clone_from(later);
    }

    fn undone(&mut self, paths: &mut Self::Paths) {
        if std::mem::take(&mut self.recorded) {
            let key = self.key(paths);
            paths.memory.take_back(key);
        }
    }

    fn access(&mut self, report: &AccessReport) {
        if !self.spec.store {
            return;
        }
        self.bdp.on_service(report.service.as_ref());
        let satellite = report.service.as_ref().map(|service| service.satellite);
        let last = self.link.filter(|(link, _)| *link == report.link);
        let known = last.and_then(|(_, satellite)| satellite);
        let mut news = News { identified: last.is_none(), ..News::default() };
        news.handed_over = known.is_some() && satellite.is_some() && known != satellite;
        if satellite.is_none() {
            self.unserved.get_or_insert(report.at);
        } else if let Some(since) = self.unserved.take() {
            let trip = self.bdp.rtt.map_or(SimDuration::ZERO, |rtt| rtt.smoothed);
            let drained = since + trip;
            news.reconnected =
                self.bdp.rtt.is_some() && self.last_ack <= drained && drained < report.at;
        }
        self.link = Some((report.link, satellite.or(known)));
        self.news = Some(news);
    }

    /// Lines 1 to 15 of algorithm 2, for a path that has not begun to receive acknowledgements, or comes back.
    fn quick_start(&mut self, paths: &mut Self::Paths) -> Option<QuickStart> {
        let (news, (link, _)) = (self.news.take()?, self.link?);
        if news.identified {
            paths.memory.identify(paths.own().path, link, self.spec.history.get());
        }
        if news.handed_over && !self.spec.history_survives {
            paths.memory.forget(Key::Link(link));
        }
        if !self.spec.quick_start {
            return None;
        }
        if news.reconnected {
            return self.restart(paths);
        }
        let begins = news.identified && self.bdp.rtt.is_none();
        let window = self.initial(self.bdp.first(), paths);
        begins.then_some(QuickStart { window, threshold: None })
    }

    /// The averaged product in the first round trip (section 4.2), which is that of the access link: acknowledgements show no
    /// more than the window yet.
    fn first_threshold(&self) -> Option<f64> {
        self.bdp.first().filter(|_| self.spec.quick_start && self.spec.store)
    }
}

impl CoupledAvoidance for Maco {
    type Shown = Shown;
    type Memory = History;

    fn shown(&self) -> Shown {
        self.shown
    }
}

#[cfg(test)]
mod tests;
