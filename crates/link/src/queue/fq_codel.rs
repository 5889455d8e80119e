//! `FQ-CoDel`: a queue for every flow, served in turn, each under `CoDel` (RFC 8290).

use std::collections::VecDeque;

use leobench_base::spec::{Fault, Limit, UpTo, Whole};
use leobench_base::{Bytes, Descriptor, RngTree, SimDuration, SimTime};

use super::codel::{CODEL, Control, INTERVAL, Settings, TARGET, check_times};
use super::hash::{index, spread};
use super::{
    Backlog, Capacity, Cause, Causes, Dequeued, Fates, Line, QueueDiscipline, QueueModel,
    by_arrival, check_limit,
};

/// Most packets that are dropped at once from the fattest flow (RFC 8290 section 4.1).
const BATCH: u64 = 64;
/// Smallest and largest quantum. Linux warns of smaller ones: a flow would wait many rounds for each packet.
const QUANTA: [Bytes; 2] = [Bytes::new(256), Bytes::new(1 << 20)];

/// How many queues there are.
pub type Flows = Whole<1, 65_536>;

leobench_base::spec! {
    /// `FQ-CoDel` (RFC 8290): a queue under `CoDel` for every flow, sparse flows first.
    pub struct FqCodelSpec: Default check = check {
        /// Queues that flows are hashed to (RFC 8290 section 5.2.5).
        pub flows: Flows = Flows::nearest(1_024),
        /// Bytes that a flow may send in its turn (RFC 8290 section 5.2.4: an Ethernet frame).
        pub quantum: Bytes = Bytes::new(1_514),
        /// Delay that may stand in a flow's queue (RFC 8290 section 5.2.2).
        pub target: SimDuration [UpTo::DELAY] = TARGET,
        /// Time within which the delay must fall below the target (RFC 8290 section 5.2.1).
        pub interval: SimDuration [UpTo::DELAY] = INTERVAL,
        /// Whether ECN-capable packets are marked instead of dropped (RFC 8290 section 5.2.6).
        pub ecn: bool = true,
        /// Capacity of all queues together; beyond it, the flow with the most waiting bytes loses packets (RFC 8290
        /// section 5.2.3).
        pub limit: Limit = Limit::Packets(10_240),
    }
}

fn check(spec: &FqCodelSpec) -> Result<(), Fault> {
    check_limit(&spec.limit)?;
    check_quantum(spec.quantum)?;
    check_times(spec.target, spec.interval)
}

/// Refuses a quantum far from the size of a packet.
pub(super) fn check_quantum(quantum: Bytes) -> Result<(), Fault> {
    let [least, most] = QUANTA;
    if (least..=most).contains(&quantum) {
        return Ok(());
    }
    let allowed = format!("from {least} to {most}, such as `1514 B`");
    Err(Fault::new("quantum", "is far from the size of a packet", allowed))
}

impl QueueModel for FqCodelSpec {
    fn limit(&self) -> &Limit {
        &self.limit
    }

    fn build(&self, capacity: Capacity, rng: &RngTree) -> Box<dyn QueueDiscipline> {
        let flows = self.flows.get() as usize;
        Box::new(FqCodel {
            capacity,
            settings: Settings { target: self.target, interval: self.interval, ecn: self.ecn },
            quantum: self.quantum.get() as i64,
            perturbation: rng.rng().bits(),
            flows: std::iter::repeat_with(Flow::default).take(flows).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            largest: Bytes::ZERO,
        })
    }
}

struct FqCodel {
    capacity: Capacity,
    settings: Settings,
    quantum: i64,
    perturbation: u64,
    flows: Vec<Flow>,
    /// Flows that have begun to send, by index.
    new: VecDeque<usize>,
    /// Flows that have used up a quantum.
    old: VecDeque<usize>,
    backlog: Backlog,
    largest: Bytes,
}

#[derive(Debug, Default)]
struct Flow {
    line: Line,
    control: Control,
    /// Bytes it may still send in its turn.
    credits: i64,
    /// Whether it is in one of the two lists.
    listed: bool,
}

impl FqCodel {
    /// Drops half of the packets of the fattest flow from its head, at most a batch (RFC 8290 section 4.1).
    fn make_room(&mut self, fates: &mut Fates) {
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.line.backlog().bytes);
        let Some(flow) = fattest else { return };
        let count = (flow.line.backlog().packets / 2).clamp(1, BATCH);
        for _ in 0..count {
            let Some(packet) = flow.line.pop() else { break };
            self.backlog.remove(packet.meta.size);
            fates.drop(packet, Cause::QUEUE);
        }
    }

    /// The flow whose turn it is, and whether it is a new one (RFC 8290 section 4.2).
    fn turn(&mut self) -> Option<(usize, bool)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let number = *list.front()?;
            let flow = &mut self.flows[number];
            if flow.credits > 0 {
                return Some((number, is_new));
            }
            flow.credits += self.quantum;
            list.pop_front();
            self.old.push_back(number);
        }
    }
}

impl QueueDiscipline for FqCodel {
    fn enqueue(&mut self, _now: SimTime, packet: Descriptor, fates: &mut Fates) {
        let spread = spread(packet.meta.flow_hash(), self.perturbation);
        let number = index(spread, self.flows.len());
        self.largest = self.largest.max(packet.meta.size);
        self.backlog.add(packet.meta.size);
        let flow = &mut self.flows[number];
        flow.line.push(packet);
        if !flow.listed {
            flow.listed = true;
            flow.credits = self.quantum;
            self.new.push_back(number);
        }
        while self.capacity.is_exceeded(self.backlog) {
            self.make_room(fates);
        }
    }

    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued {
        while let Some((number, is_new)) = self.turn() {
            let flow = &mut self.flows[number];
            let before = flow.line.backlog();
            let next =
                flow.control.dequeue(now, &self.settings, self.largest, &mut flow.line, fates);
            let after = flow.line.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(packet) = next {
                flow.credits -= packet.meta.size.get() as i64;
                return Dequeued::Packet(packet);
            }
            // An empty new flow waits for the round to end, so that it cannot come back as new at once.
            if is_new {
                self.new.pop_front();
                self.old.push_back(number);
            } else {
                self.old.pop_front();
                flow.listed = false;
            }
        }
        Dequeued::Empty
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn flush(&mut self, _now: SimTime, out: &mut Vec<Descriptor>) {
        let first = out.len();
        for number in self.new.drain(..).chain(self.old.drain(..)) {
            let flow = &mut self.flows[number];
            flow.line.flush(out);
            *flow = Flow::default();
        }
        by_arrival(&mut out[first..]);
        self.backlog = Backlog::default();
    }

    fn withdraw(
        &mut self,
        _now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        let first = out.len();
        for number in self.new.iter().chain(&self.old) {
            let gone = self.flows[*number].line.withdraw(leaves, out);
            self.backlog.packets -= gone.packets;
            self.backlog.bytes -= gone.bytes;
        }
        by_arrival(&mut out[first..]);
    }

    fn causes(&self) -> Causes {
        let marks = if self.settings.ecn { vec![CODEL] } else { Vec::new() };
        Causes { drops: vec![CODEL], marks }
    }
}
