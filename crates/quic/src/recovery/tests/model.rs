//! Recovery against the RFC's pseudocode, written down plainly: it searches all packets ever sent.

use proptest::prelude::*;

use super::*;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Outstanding,
    Acked,
    Lost,
    /// Lost, then acknowledged.
    Late,
    Discarded,
}

#[derive(Clone, Debug)]
struct Record {
    space: usize,
    number: u64,
    at: SimTime,
    eliciting: bool,
    fate: Fate,
}

/// Everything ever sent, and what the RFC makes of it.
#[derive(Default)]
struct Model {
    packets: Vec<Record>,
    sizes: u64,
    largest_acked: [Option<u64>; 3],
    confirmed: bool,
    pto_count: u32,
    handshake_acked: bool,
    anti_deadlock: Option<SimTime>,
}

/// Numbers acknowledged and lost in a step.
#[derive(Debug, Default)]
struct Found {
    acked: Vec<u64>,
    lost: Vec<u64>,
    late: Vec<u64>,
}

impl Model {
    fn of(&self, space: usize) -> impl Iterator<Item = &Record> {
        self.packets.iter().filter(move |packet| packet.space == space)
    }

    fn outstanding(&self, space: usize) -> impl Iterator<Item = &Record> {
        self.of(space).filter(|packet| packet.fate == Fate::Outstanding)
    }

    fn in_flight(&self) -> u64 {
        let all = (0..3).flat_map(|space| self.outstanding(space));
        all.filter(|packet| packet.eliciting).count() as u64 * self.sizes
    }

    fn settle(
        &mut self,
        space: usize,
        which: impl Fn(&Record) -> bool,
        fate: impl Fn(Fate) -> Fate,
    ) -> Vec<u64> {
        let mut numbers = Vec::new();
        for packet in self.packets.iter_mut().filter(|packet| packet.space == space) {
            let after = fate(packet.fate);
            if after != packet.fate && which(packet) {
                packet.fate = after;
                numbers.push(packet.number);
            }
        }
        numbers
    }

    fn ack(&mut self, space: usize, ranges: &[(u64, u64)]) -> Found {
        let covers = |packet: &Record| {
            ranges.iter().any(|(from, to)| (*from..=*to).contains(&packet.number))
        };
        let acked = self.settle(space, covers, |fate| match fate {
            Fate::Outstanding => Fate::Acked,
            other => other,
        });
        // Whatever did not count is not remembered.
        let late = self.settle(
            space,
            |packet| covers(packet) && packet.eliciting,
            |fate| if fate == Fate::Lost { Fate::Late } else { fate },
        );
        self.largest_acked[space] = self.largest_acked[space].max(ranges.last().map(|r| r.1));
        Found { acked, late, lost: Vec::new() }
    }

    fn lose(&mut self, space: usize, now: SimTime, delay: SimDuration) -> Vec<u64> {
        let Some(largest) = self.largest_acked[space] else { return Vec::new() };
        let is_lost = |packet: &Record| {
            packet.number <= largest && (packet.at + delay <= now || packet.number + 3 <= largest)
        };
        self.settle(space, is_lost, |fate| match fate {
            Fate::Outstanding => Fate::Lost,
            other => other,
        })
    }

    fn loss_time(&self, space: usize, delay: SimDuration) -> Option<SimTime> {
        let largest = self.largest_acked[space]?;
        let waiting = self.outstanding(space).filter(|packet| packet.number <= largest);
        waiting.map(|packet| packet.at + delay).min()
    }

    /// `GetPtoTimeAndSpace`.
    fn probe(&self, rtt: &RttEstimator, max_ack_delay: SimDuration) -> Option<SimTime> {
        // The RFC has no bound; ours keeps times in range, at 18 hours for a probe timeout of a second.
        let backoff = 1 << self.pto_count.min(16);
        let spaces = (0..3).filter(|space| *space < 2 || self.confirmed);
        let times = spaces.filter_map(|space| {
            let delay = if space == 2 { max_ack_delay } else { SimDuration::ZERO };
            self.outstanding(space).find(|packet| packet.eliciting)?;
            let kept = self.of(space).filter(|packet| packet.fate != Fate::Discarded);
            let last = kept.filter(|packet| packet.eliciting).map(|packet| packet.at).max()?;
            Some(last + (rtt.probe_timeout() + delay) * backoff)
        });
        times.min().or(self.anti_deadlock)
    }

    /// Section 7.6.2 in its words, but for numbers in place of times within a space; with the rule for late packets.
    fn is_persistent(&self, space: usize, lost: &[u64], first: SimTime, over: SimDuration) -> bool {
        let is_candidate = |packet: &&Record| packet.eliciting && packet.at > first;
        let ends: Vec<&Record> = self.of(space).filter(is_candidate).collect();
        let new = ends.iter().filter(|end| lost.contains(&end.number));
        new.into_iter().any(|end| {
            ends.iter().any(|start| {
                let between = |packet: &&Record| {
                    matches!(packet.fate, Fate::Acked | Fate::Late)
                        && (packet.space == space
                            && (start.number..=end.number).contains(&packet.number)
                            || packet.space != space && (start.at..=end.at).contains(&packet.at))
                };
                start.fate == Fate::Lost
                    && start.number < end.number
                    && end.at.saturating_since(start.at) > over
                    && !self.packets.iter().any(|packet| between(&packet))
            })
        })
    }
}

/// One step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Send {
        space: usize,
        eliciting: bool,
        skips: bool,
    },
    /// Ranges by how far they lie below the newest number, and their lengths.
    Ack {
        space: usize,
        ranges: Vec<(u64, u64)>,
    },
    Wait(u64),
    /// Waits for the timer.
    Expire,
    Confirm,
    Discard(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let space = prop_oneof![1 => 0_usize..2, 4 => Just(2_usize)];
    let ranges = prop::collection::vec((0_u64..12, 0_u64..4), 1..4);
    let step = prop_oneof![
        20 => (space.clone(), prop::bool::weighted(0.9), prop::bool::weighted(0.05))
            .prop_map(|(space, eliciting, skips)| Step::Send { space, eliciting, skips }),
        8 => (space, ranges).prop_map(|(space, ranges)| Step::Ack { space, ranges }),
        8 => (0_u64..60).prop_map(Step::Wait),
        2 => (60_u64..2_000).prop_map(Step::Wait),
        4 => Just(Step::Expire),
        1 => Just(Step::Confirm),
        1 => (0_usize..2).prop_map(Step::Discard),
    ];
    prop::collection::vec(step, 0..150)
}

/// The real thing beside the model.
struct Pair {
    bench: Bench,
    model: Model,
    now: SimTime,
    alone: bool,
}

impl Pair {
    fn new() -> Self {
        let mut bench = Bench::new(Role::Client);
        bench.recovery.set_max_ack_delay(ms(25));
        let model = Model { sizes: SIZE, ..Model::default() };
        Self { bench, model, now: at(0), alone: true }
    }

    /// Turns ranges below the newest number into disjoint ascending ones of numbers that were sent.
    fn ranges(&self, space: usize, wanted: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let sent: Vec<u64> = self.model.of(space).map(|packet| packet.number).collect();
        let Some(&newest) = sent.last() else { return Vec::new() };
        let wants = |number: u64| {
            wanted.iter().any(|(below, len)| {
                let largest = newest.saturating_sub(*below);
                (largest.saturating_sub(*len)..=largest).contains(&number)
            })
        };
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for number in sent.into_iter().filter(|number| wants(*number)) {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        ranges
    }

    /// Compares the outcome of a step. Old losses may be forgotten.
    fn expect(&self, found: &Found) {
        let out = &self.bench.out;
        assert_eq!(numbers(&out.acked), found.acked);
        assert_eq!(numbers(&out.lost), found.lost);
        assert!(numbers(&out.late).iter().all(|number| found.late.contains(number)));
    }

    fn is_validated(&self) -> bool {
        self.model.handshake_acked || self.model.confirmed
    }

    /// `SetLossDetectionTimer` was called: an anti-deadlock timeout starts from now.
    fn restart_guard(&mut self) {
        let backoff = 1 << self.model.pto_count;
        let guard = self.now + self.bench.recovery.rtt().probe_timeout() * backoff;
        self.model.anti_deadlock = (!self.is_validated()).then_some(guard);
    }

    fn check_persistence(&mut self, space: usize, found: &Found) {
        let rtt = self.bench.recovery.rtt();
        let Some(first) = rtt.first_sample() else { return };
        let over = rtt.persistent_duration(ms(25));
        let persistent = self.model.is_persistent(space, &found.lost, first, over);
        let is_alone = self.alone && !self.model.packets.iter().any(|p| p.fate == Fate::Late);
        if is_alone {
            assert_eq!(self.bench.out.persistent, persistent);
        } else {
            // Where it cannot tell it does not say so.
            assert!(persistent || !self.bench.out.persistent);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Send { space, eliciting, skips } => self.send(*space, *eliciting, *skips),
            Step::Ack { space, ranges } => self.ack(*space, ranges),
            Step::Wait(millis) => {
                let later = self.now + ms(*millis);
                let timer = self.bench.recovery.timer().unwrap_or(later);
                self.now = self.now.max(later.min(timer));
            }
            Step::Expire => self.expire(),
            Step::Confirm => {
                let state = HandshakeState { confirmed: true, ..HandshakeState::default() };
                let changes = !self.model.confirmed;
                self.bench.recovery.set_handshake(self.now, state);
                self.model.confirmed = true;
                if changes {
                    self.restart_guard();
                }
            }
            Step::Discard(space) => {
                self.bench.recovery.discard(self.now, Space::ALL[*space]);
                self.model.settle(*space, |_| true, |_| Fate::Discarded);
                self.model.largest_acked[*space] = None;
                self.model.pto_count = 0;
                self.restart_guard();
            }
        }
    }

    fn send(&mut self, space: usize, eliciting: bool, skips: bool) {
        let number = self.bench.send_as(self.now, Space::ALL[space], |sent| {
            sent.number += u64::from(skips);
            (sent.ack_eliciting, sent.in_flight) = (eliciting, eliciting);
        });
        let record = Record { space, number, at: self.now, eliciting, fate: Fate::Outstanding };
        self.model.packets.push(record);
        self.alone &= space == 2;
        if eliciting {
            self.restart_guard();
        }
    }

    fn ack(&mut self, space: usize, wanted: &[(u64, u64)]) {
        let ranges = self.ranges(space, wanted);
        if ranges.is_empty() || self.model.of(space).any(|p| p.fate == Fate::Discarded) {
            return;
        }
        let mut found = self.model.ack(space, &ranges);
        self.bench.ack_in(self.now, Space::ALL[space], &ranges);
        if !found.acked.is_empty() {
            let delay = self.bench.recovery.rtt().loss_delay();
            found.lost = self.model.lose(space, self.now, delay);
            self.model.handshake_acked |= space == 1;
            if self.is_validated() {
                self.model.pto_count = 0;
            }
            self.restart_guard();
        }
        self.expect(&found);
        self.check_persistence(space, &found);
    }

    fn expire(&mut self) {
        let Some(timer) = self.bench.recovery.timer() else { return };
        self.now = self.now.max(timer);
        let delay = self.bench.recovery.rtt().loss_delay();
        let due = (0..3).filter_map(|space| {
            self.bench.recovery.spaces[space].loss_time.map(|time| (time, space))
        });
        let due = due.min();
        let (probe, _) = self.bench.expire_at(self.now);
        let mut found = Found::default();
        if let Some((_, space)) = due {
            assert_eq!(probe, None);
            found.lost = self.model.lose(space, self.now, delay);
            self.check_persistence(space, &found);
        } else {
            assert!(probe.is_some());
            self.model.pto_count += 1;
        }
        self.expect(&found);
        self.restart_guard();
    }

    /// Whatever is known must agree after each step.
    fn compare(&self) {
        let (recovery, model) = (&self.bench.recovery, &self.model);
        assert_eq!(recovery.in_flight(), model.in_flight());
        assert_eq!(recovery.pto_count(), model.pto_count);
        for (space, state) in recovery.spaces.iter().enumerate() {
            let eliciting = model.outstanding(space).any(|packet| packet.eliciting);
            assert_eq!(state.sent.has_eliciting(), eliciting);
            let is_waiting = model.loss_time(space, recovery.rtt().loss_delay()).is_some();
            assert_eq!(state.loss_time.is_some(), is_waiting);
        }
        let loss_time = recovery.spaces.iter().filter_map(|state| state.loss_time).min();
        if !model.packets.is_empty() {
            let probe = model.probe(recovery.rtt(), ms(25));
            assert_eq!(recovery.timer(), loss_time.or(probe));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn recovery_does_what_the_pseudocode_does(steps in steps()) {
        let mut pair = Pair::new();
        for step in &steps {
            pair.step(step);
            pair.compare();
        }
    }
}
