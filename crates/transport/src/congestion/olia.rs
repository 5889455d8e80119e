//! OLIA, the opportunistic linked increases algorithm (Khalili et al., "MPTCP is not Pareto-optimal: performance issues
//! and a possible solution", IEEE/ACM Transactions on Networking 21(5), 2013;
//! draft-khalili-mptcp-congestion-control-05).

use leobench_base::Bytes;
use leobench_base::spec::Range;

use super::coupled::{self, CoupledAvoidance, Paths, View};
use super::growth_per::{Counter, GrowthPer};
use super::loss_based::Avoidance;
use super::opening::Opening;
use super::{AckEnd, Acked, Behaviour, CongestionContext, CongestionControl, CongestionModel};

leobench_base::words! {
    /// The increase of a window, where the formula may let it shrink.
    pub enum Increase {
        /// As the formula says.
        Signed = "signed",
        /// Its absolute value.
        Absolute = "absolute",
    }
}

leobench_base::spec! {
    /// Coupled: like `lia`, but shifts its windows to the paths that lose least (Khalili et al. 2013).
    pub struct OliaSpec: Default {
        ..pub opening: Opening,
        /// Factor on the window of a path at a congestion event on it (Khalili et al. 2013: as in TCP).
        pub loss_reduction: f64 [Range::FACTOR] = 0.5,
        /// The events by which a window grows in avoidance. The published multipath QUIC of ns-3 (repository `ssjShirley/mpquic`) goes
        /// by acknowledgements.
        pub growth_per: GrowthPer = GrowthPer::Packet,
        /// The increase where the formula is negative: that code takes the absolute value.
        pub increase: Increase = Increase::Signed,
    }
}

impl CongestionModel for OliaSpec {
    fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
        let spec = self.clone();
        coupled::build(&self.opening, context, move |datagram| Olia::new(&spec, datagram))
    }

    fn behaviour(&self) -> Behaviour {
        Behaviour::COUPLED
    }
}

/// Bytes delivered between congestion events of a path, an estimate of one over its loss rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossIntervals {
    /// Since the last event (`l_2r`).
    since: f64,
    /// Between the last two (`l_1r`).
    between: f64,
}

impl LossIntervals {
    pub fn on_ack(&mut self, acked: &Acked) {
        self.since += acked.size.get() as f64;
    }

    /// A congestion event. As in Linux, one before anything was delivered since the last does not count as another.
    pub fn on_congestion(&mut self) {
        if self.since > 0.0 {
            self.between = std::mem::take(&mut self.since);
        }
    }

    /// The last event, before which this was the state, was none: `later` was delivered without a loss, too.
    pub fn undo(&mut self, later: Self) {
        self.since += later.since;
    }

    /// `l_r`: the larger of both. The interval under way is too short to tell anything until it exceeds the last one.
    pub fn longest(self) -> f64 {
        self.since.max(self.between)
    }
}

/// The direction in which traffic moves: the sign and the size of `alpha_r` (Khalili et al. 2013).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shift {
    /// Onto the path: it is one of the best, but its window is not the largest. One over so many packets in a window's
    /// worth.
    Onto(f64),
    /// Off the path: its window is the largest, and there are best paths whose windows are not.
    Off(f64),
    /// Neither.
    None,
}

impl Shift {
    /// `alpha_r`.
    pub fn alpha(self) -> f64 {
        match self {
            Self::Onto(shares) => 1.0 / shares,
            Self::Off(shares) => -1.0 / shares,
            Self::None => 0.0,
        }
    }
}

/// The shift of the path `own`, from the windows of all paths and what each is worth (`l_p / rtt_p^2`).
///
/// `M` is the set of paths with the largest window, `B` that of the best paths, whose TCP would be the fastest. The rate
/// of TCP is sqrt(2 / p) / rtt, and `l` estimates 1 / p: the order by rates is that by `l / rtt^2`, which Linux compares.
pub(super) fn shift(paths: impl Iterator<Item = (f64, f64)> + Clone, own: (f64, f64)) -> Shift {
    let (mut count, mut largest, mut best) = (0, 0.0_f64, 0.0_f64);
    for (window, worth) in paths.clone() {
        count += 1;
        largest = largest.max(window);
        best = best.max(worth);
    }
    // Comparisons by order, as those for equality are by: the values themselves are among the candidates.
    let is_largest = |window: f64| window >= largest;
    let is_best = |worth: f64| worth >= best;
    let (mut in_m, mut in_b_only) = (0, 0);
    for (window, worth) in paths {
        in_m += u32::from(is_largest(window));
        in_b_only += u32::from(is_best(worth) && !is_largest(window));
    }
    let (window, worth) = own;
    if in_b_only == 0 {
        Shift::None
    } else if is_largest(window) {
        Shift::Off(f64::from(count * in_m))
    } else if is_best(worth) {
        Shift::Onto(f64::from(count * in_b_only))
    } else {
        Shift::None
    }
}

#[derive(Clone, Debug)]
struct Olia {
    datagram: Bytes,
    factor: f64,
    delivered: LossIntervals,
    counter: Counter,
    increase: Increase,
}

impl Olia {
    fn new(spec: &OliaSpec, datagram: Bytes) -> Self {
        Self {
            datagram,
            factor: spec.loss_reduction,
            delivered: LossIntervals::default(),
            counter: Counter::new(spec.growth_per, datagram),
            increase: spec.increase,
        }
    }

    /// The shift of this path, whose own numbers are newer than what the others see of them.
    fn shift(&self, window: f64, paths: &Paths<f64>) -> Shift {
        let worth = |view: &View<f64>, longest: f64| longest / (view.seconds * view.seconds);
        let own = (window, worth(paths.own(), self.delivered.longest()));
        let others = paths.others().map(|view| (view.window, worth(view, view.shown)));
        shift(others.chain(std::iter::once(own)), own)
    }
}

impl Avoidance for Olia {
    type Paths = Paths<f64>;

    fn acked(&mut self, acked: &Acked) {
        self.delivered.on_ack(acked);
    }

    /// Khalili et al. 2013: the first term is Kelly and Voice's, for optimal sharing; `alpha_r` makes it react, and
    /// moves windows to the best paths.
    fn growth(&mut self, window: f64, acked: &Acked, paths: &Self::Paths) -> f64 {
        let counted = Acked { size: self.counter.count(acked), ..*acked };
        let growth = paths.growth(self.datagram, window, &counted, |paths| {
            let rate = paths.rate();
            let optimal = paths.own().weight() / (rate * rate);
            optimal + self.shift(window, paths).alpha() / window
        });
        match self.increase {
            Increase::Signed => growth,
            Increase::Absolute => growth.abs(),
        }
    }

    fn ack_ended(&mut self, _end: &AckEnd) {
        self.counter.acknowledgement_ends();
    }

    fn reduced(&mut self, window: f64, _paths: &Self::Paths) -> f64 {
        self.delivered.on_congestion();
        window * self.factor
    }

    fn restored(&mut self, later: &Self) {
        self.delivered.undo(later.delivered);
    }
}

impl CoupledAvoidance for Olia {
    type Shown = f64;
    type Memory = ();

    /// `l_r`.
    fn shown(&self) -> f64 {
        self.delivered.longest()
    }
}

#[cfg(test)]
mod tests {
    use leobench_base::{SimDuration, SimTime};

    use super::*;
    use crate::congestion::coupled::tests::paths;
    use crate::congestion::tests::acked;

    /// The sets by hand, for windows and worths of up to four paths.
    #[test]
    fn shifts_follow_from_the_sets_of_paths() {
        use Shift::{None, Off, Onto};
        for (paths, expected) in [
            // The largest window is on the best path: B \ M is empty.
            (vec![(10.0, 5.0), (4.0, 3.0)], vec![None, None]),
            // Equal windows: both are in M, whichever is best.
            (vec![(10.0, 5.0), (10.0, 9.0)], vec![None, None]),
            // The best has the smaller window: 1 / (2 * 1) onto it, off the other.
            (vec![(10.0, 3.0), (4.0, 5.0)], vec![Off(2.0), Onto(2.0)]),
            // Two best ones share 1/3, the largest pays it, the last is neither.
            (vec![(3.0, 9.0), (10.0, 1.0), (4.0, 9.0)], vec![Onto(6.0), Off(3.0), Onto(6.0)]),
            // Two of the largest pay a quarter each half; the one that is best and largest pays, too.
            (
                vec![(10.0, 9.0), (10.0, 1.0), (4.0, 9.0), (5.0, 2.0)],
                vec![Off(8.0), Off(8.0), Onto(4.0), None],
            ),
            (vec![(7.0, 2.0)], vec![None]),
        ] {
            let shifts: Vec<_> =
                paths.iter().map(|own| shift(paths.iter().copied(), *own)).collect();
            assert_eq!(shifts, expected, "{paths:?}");
        }
        assert!((Onto(6.0).alpha() - 1.0 / 6.0).abs() < 1e-12);
        assert!((Off(8.0).alpha() + 0.125).abs() < 1e-12);
    }

    /// The alphas of a connection add up to nothing: what one path gains another loses.
    #[test]
    fn shifts_balance_each_other() {
        let rng = leobench_base::RngTree::new(4);
        let mut rng = rng.rng();
        let mut shifted = 0;
        for _ in 0..1_000 {
            let draw = |_| (1.0 + rng.below(3) as f64, 1.0 + rng.below(3) as f64);
            let paths: Vec<_> = (0..4).map(draw).collect();
            let alphas: Vec<_> =
                paths.iter().map(|own| shift(paths.iter().copied(), *own).alpha()).collect();
            assert!(alphas.iter().sum::<f64>().abs() < 1e-12, "{paths:?}: {alphas:?}");
            shifted += usize::from(alphas.iter().any(|alpha| *alpha != 0.0));
        }
        assert!(shifted > 100, "{shifted}");
    }

    /// 500 bytes, a loss, 200 bytes: the larger is 500 until 300 more have arrived. A second loss without anything between
    /// changes nothing, and one that turns out spurious joins the intervals again.
    #[test]
    fn the_longer_of_two_intervals_counts() {
        let ack = |size| Acked {
            size: Bytes::new(size),
            ..acked(SimTime::ZERO, SimDuration::from_millis(1))
        };
        let mut delivered = LossIntervals::default();
        delivered.on_ack(&ack(500));
        let before = delivered;
        delivered.on_congestion();
        delivered.on_congestion();
        delivered.on_ack(&ack(200));
        assert!((delivered.longest() - 500.0).abs() < 1e-9);
        delivered.on_ack(&ack(301));
        assert!((delivered.longest() - 501.0).abs() < 1e-9);
        let mut undone = before;
        undone.undo(delivered);
        assert!((undone.longest() - 1_001.0).abs() < 1e-9);
        delivered.on_congestion();
        delivered.on_ack(&ack(1));
        assert!((delivered.longest() - 501.0).abs() < 1e-9, "500 are forgotten");
    }

    /// Worked by hand. 20 and 10 kB at 100 ms: rates of 200 and 100 kB/s, weights of 2 and 1 MB/s^2. The first term is
    /// 2e6 / 300,000^2 = 2.222e-5 and 1.111e-5 per byte. With the smaller path better, 1/2 over the window more or
    /// less: 2.5e-5 and 5e-5. A packet of 1,000 bytes thus takes 2.78 bytes off the larger window, and adds 61.1 to the
    /// smaller.
    #[test]
    fn growth_is_that_of_the_paper() {
        let (size, rtt) = (Bytes::new(1_000), SimDuration::from_millis(100));
        let packet = Acked { size, ..acked(SimTime::ZERO + rtt, rtt) };
        let delivered = |since| LossIntervals { since, between: 0.0 };
        for (longest, growths) in [
            ([4e6, 1e6], [22.222_222, 11.111_111]),
            ([1e6, 4e6], [22.222_222 - 25.0, 11.111_111 + 50.0]),
        ] {
            for own in 0..2 {
                let windows = [20_000.0, 10_000.0];
                let views = [0, 1].map(|at| (windows[at], 100, longest[at]));
                for (increase, expected) in
                    [(Increase::Signed, growths[own]), (Increase::Absolute, f64::abs(growths[own]))]
                {
                    let spec = OliaSpec { increase, ..OliaSpec::default() };
                    let delivered = delivered(longest[own]);
                    let mut olia = Olia { delivered, ..Olia::new(&spec, size) };
                    let grown = olia.growth(windows[own], &packet, &paths(&views, own));
                    assert!((grown - expected).abs() < 1e-4, "{own}: {grown}, not {expected}");
                }
            }
        }
    }

    /// A path of half the round-trip time is better at the same loss rate, and as good at four times that.
    #[test]
    fn a_path_is_worth_its_interval_over_the_square_of_its_round_trip() {
        let at = |interval, own: f64| {
            let delivered = LossIntervals { since: own, between: 0.0 };
            let olia = Olia { delivered, ..Olia::new(&OliaSpec::default(), Bytes::new(1_000)) };
            olia.shift(5_000.0, &paths(&[(10_000.0, 100, interval), (5_000.0, 50, own)], 1))
        };
        assert_eq!(at(4_000.0, 999.0), Shift::None);
        assert_eq!(at(4_000.0, 1_001.0), Shift::Onto(2.0));
        assert_eq!(at(4_000.0, 1_000.0), Shift::Onto(2.0));
    }

    /// An acknowledgement of ten packets counts as one packet, and the next one counts again.
    #[test]
    fn growth_may_go_by_acknowledgements() {
        let rtt = SimDuration::from_millis(100);
        let packet = Acked { size: Bytes::new(1_000), ..acked(SimTime::ZERO + rtt, rtt) };
        let views = paths(&[(20_000.0, 100, 1.0), (20_000.0, 100, 1.0)], 0);
        for (growth_per, counted) in [(GrowthPer::Packet, 20.0), (GrowthPer::Acknowledgement, 2.0)]
        {
            let spec = OliaSpec { growth_per, ..OliaSpec::default() };
            let mut olia = Olia::new(&spec, Bytes::new(1_000));
            let mut grown = 0.0;
            for _ in 0..2 {
                grown += (0..10).map(|_| olia.growth(20_000.0, &packet, &views)).sum::<f64>();
                olia.ack_ended(&AckEnd::new(SimTime::ZERO + rtt, Bytes::ZERO));
            }
            // Two equal paths: 1 / (4 w) per byte.
            let expected = counted * 1_000.0 * 1_000.0 / 80_000.0;
            assert!((grown - expected).abs() < 1e-6, "{grown}, not {expected}");
        }
    }
}
