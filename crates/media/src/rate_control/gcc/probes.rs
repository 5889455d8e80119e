//! Bursts of padding that measure the capacity at the start of a call (libwebrtc, `ProbeController`, `ProbeBitrateEstimator`).
//!
//! Two bursts follow the first packet, at three and at six times the start. A result of nearly what was sent leads to a burst at twice
//! the result, until the path carries less than that, or the highest rate is reached.

use std::collections::VecDeque;

use leobench_base::{Bytes, SimDuration, SimTime};

use crate::rate_control::{Bounds, Fate};

/// Rates of the first bursts over the start, and of a further burst over the result of the last.
const FIRST: [f64; 2] = [3.0, 6.0];
const FURTHER: f64 = 2.0;
/// A result below this share of the rate of its burst ends the search.
const ENOUGH: f64 = 0.7;
/// The packets and the time of a burst at least.
const PACKETS: usize = 5;
const LENGTH_S: f64 = 0.015;
/// The share of packets and bytes that have to arrive for a result.
const ARRIVED: f64 = 0.8;
/// A burst that arrives more slowly has filled the path, of which this share is the result.
const UNSATURATED: f64 = 0.9;
const UTILISED: f64 = 0.95;
/// A burst that seems to arrive so many times faster than it left says nothing; nor does one that took longer than this.
const MOST_FASTER: f64 = 2.0;
const LONGEST: SimDuration = SimDuration::from_secs(1);

#[derive(Clone, Copy, Debug)]
struct Part {
    number: u64,
    sent: SimTime,
    bits: u64,
    arrival: Option<SimTime>,
}

/// The packets that left while padding was sent at a rate.
#[derive(Debug)]
struct Burst {
    rate: f64,
    packets: Vec<Part>,
}

impl Burst {
    fn new(rate: f64) -> Self {
        Self { rate, packets: Vec::new() }
    }

    fn bits(packets: &[Part]) -> f64 {
        packets.iter().map(|packet| packet.bits).sum::<u64>() as f64
    }

    fn is_whole(&self) -> bool {
        self.packets.len() >= PACKETS && Self::bits(&self.packets) >= self.rate * LENGTH_S
    }

    /// The rate that the path carries, as far as this burst can tell.
    fn result(&self) -> Option<f64> {
        let mut arrived: Vec<_> =
            self.packets.iter().copied().filter(|packet| packet.arrival.is_some()).collect();
        let share = |some: f64, all: f64| some / all >= ARRIVED;
        let all = Self::bits(&self.packets);
        if !share(arrived.len() as f64, self.packets.len() as f64)
            || !share(Self::bits(&arrived), all)
        {
            return None;
        }
        let (first, last) = (arrived.first()?, arrived.last()?);
        let left = Self::bits(&arrived) - last.bits as f64;
        let leaving = last.sent.saturating_since(first.sent);
        arrived.sort_by_key(|packet| packet.arrival);
        let (first, last) = (arrived.first()?, arrived.last()?);
        let came = Self::bits(&arrived) - first.bits as f64;
        let arriving = last.arrival?.saturating_since(first.arrival?);
        let is_sound = |time: SimDuration| !time.is_zero() && time <= LONGEST;
        if !is_sound(leaving) || !is_sound(arriving) {
            return None;
        }
        let (send, receive) = (left / leaving.as_secs_f64(), came / arriving.as_secs_f64());
        if receive > MOST_FASTER * send {
            None
        } else if receive < UNSATURATED * send {
            Some(UTILISED * receive)
        } else {
            Some(send.min(receive))
        }
    }
}

/// The bursts of a call.
#[derive(Debug)]
pub(super) struct Probes {
    most: f64,
    /// Rates of bursts to come.
    planned: VecDeque<f64>,
    /// The one that is being sent.
    active: Option<Burst>,
    /// Those whose feedback is awaited, in order.
    sent: VecDeque<Burst>,
}

impl Probes {
    pub fn new(bounds: Bounds) -> Self {
        let mut planned = VecDeque::new();
        for rate in FIRST.map(|factor| bounds.clamp(factor * bounds.start)) {
            if rate > bounds.start && planned.back() != Some(&rate) {
                planned.push_back(rate);
            }
        }
        Self { most: bounds.most, planned, active: None, sent: VecDeque::new() }
    }

    /// The rate at which padding leaves now, if any does.
    pub fn padding(&self) -> Option<f64> {
        self.active.as_ref().map(|burst| burst.rate)
    }

    /// A packet leaves: a part of the burst that is being sent, or the sign that the next one can begin.
    pub fn on_sent(&mut self, now: SimTime, number: u64, bytes: Bytes) {
        if let Some(active) = &mut self.active {
            active.packets.push(Part { number, sent: now, bits: bytes.bits(), arrival: None });
            if active.is_whole() {
                self.sent.extend(self.active.take());
            }
        }
        if self.active.is_none() {
            self.active = self.planned.pop_front().map(Burst::new);
        }
    }

    /// Learns what became of packets; the result of a burst of which nothing more is to come.
    pub fn on_fates(&mut self, fates: &[Fate]) -> Option<f64> {
        for burst in &mut self.sent {
            for packet in &mut burst.packets {
                let known = fates.iter().find(|fate| fate.number == packet.number);
                packet.arrival = packet.arrival.or(known.and_then(|fate| fate.arrival));
            }
        }
        let newest = fates.iter().map(|fate| fate.number).max()?;
        let is_over =
            |burst: &mut Burst| burst.packets.last().is_none_or(|last| last.number <= newest);
        let mut result = None;
        while let Some(burst) = self.sent.pop_front_if(is_over) {
            let Some(rate) = burst.result() else { continue };
            let further = (FURTHER * rate).min(self.most);
            if rate > ENOUGH * burst.rate
                && burst.rate < self.most
                && self.sent.is_empty()
                && self.planned.is_empty()
                && self.active.is_none()
            {
                self.planned.push_back(further);
            }
            result = Some(rate);
        }
        result
    }
}
