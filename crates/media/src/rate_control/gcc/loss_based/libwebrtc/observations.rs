//! How much was sent and lost of late.

use std::collections::BTreeMap;

use leobench_base::{SimDuration, SimTime};

use crate::rate_control::Fate;

/// Observations that are kept (`ObservationWindowSize`), and the shortest time of one (`ObservationDurationLowerBound`).
const KEPT: u64 = 15;
const SHORTEST: SimDuration = SimDuration::from_millis(250);
/// Weight of an observation over that of the one after it (`TemporalWeightFactor`, `InstantUpperBoundTemporalWeightFactor`).
const FADING: f64 = 0.9;
/// Observations beyond which the mean leaves out that with the largest loss and that with the smallest, unless the former sent so
/// many times the median rate (`MedianSendingRateFactor`).
const FEW: u64 = 3;
const OUTBURST: f64 = 2.0;

/// Packets sent in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Observation {
    number: u64,
    pub bytes: f64,
    pub lost: f64,
    /// The rate at which they left, in bit/s.
    pub rate: f64,
}

/// The latest observations. Observation `number` is in place `number` modulo their count.
#[derive(Debug, Default)]
pub(super) struct Observations {
    kept: Vec<Observation>,
    count: u64,
    /// Bytes reported since the last observation, and those of packets that are missing.
    bytes: u64,
    missing: BTreeMap<u64, u64>,
    /// When the last packet of the last observation left.
    until: Option<SimTime>,
    loss: f64,
}

impl Observations {
    /// Adds packets. Returns when the last one left if they complete an observation.
    pub fn on_fates(&mut self, fates: &[Fate]) -> Option<SimTime> {
        for fate in fates {
            self.bytes += fate.bytes.get();
            if fate.arrival.is_some() {
                self.missing.remove(&fate.number);
            } else {
                self.missing.insert(fate.number, fate.bytes.get());
            }
        }
        let sent = || fates.iter().map(|fate| fate.sent);
        let (first, last) = (sent().min()?, sent().max()?);
        let duration = last.saturating_since(*self.until.get_or_insert(first));
        if duration < SHORTEST {
            return None;
        }
        self.until = Some(last);
        let missing: u64 = std::mem::take(&mut self.missing).into_values().sum();
        let bytes = std::mem::take(&mut self.bytes);
        self.add(bytes as f64, missing as f64, (bytes * 8) as f64 / duration.as_secs_f64());
        Some(last)
    }

    /// Adds an observation of bytes, and of bytes lost, at a rate in bit/s.
    pub fn add(&mut self, bytes: f64, lost: f64, rate: f64) {
        let observation = Observation { number: self.count, bytes, lost, rate };
        match self.kept.get_mut((self.count % KEPT) as usize) {
            Some(oldest) => *oldest = observation,
            None => self.kept.push(observation),
        }
        self.count += 1;
        self.loss = self.mean_loss();
    }

    /// How many there have been.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The share of bytes that are lost.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Those that are kept, each with its weight.
    pub fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        self.kept.iter().map(|each| {
            let age = self.count - 1 - each.number;
            (libm::pow(FADING, age as f64), each)
        })
    }

    fn mean_loss(&self) -> f64 {
        let (mut bytes, mut lost) = (0.0, 0.0);
        // Share lost, and weighted bytes and bytes lost, of the observations with the largest and the smallest share.
        let (mut largest, mut smallest) = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0));
        let mut rate = 0.0;
        for (weight, each) in self.weighted() {
            bytes += weight * each.bytes;
            lost += weight * each.lost;
            let extreme = (each.lost / each.bytes, weight * each.bytes, weight * each.lost);
            if extreme.0 > largest.0 {
                (largest, rate) = (extreme, each.rate);
            }
            if extreme.0 < smallest.0 {
                smallest = extreme;
            }
        }
        let others = bytes - largest.1 - smallest.1;
        if self.count <= FEW || OUTBURST * self.median_rate() <= rate || others <= 0.0 {
            return lost / bytes;
        }
        (lost - largest.2 - smallest.2) / others
    }

    fn median_rate(&self) -> f64 {
        let mut rates: Vec<_> = self.kept.iter().map(|each| each.rate).collect();
        rates.sort_by(f64::total_cmp);
        let (low, high) = (rates[(rates.len() - 1) / 2], rates[rates.len() / 2]);
        f64::midpoint(low, high)
    }
}
