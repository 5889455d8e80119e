//! A queue for each of those who share a transmitter, served in turn: the scheduler of a beam.
//!
//! Members take turns as in surplus round robin: who has credit may send, pays afterwards what the packet cost, and waits for the next
//! round without credit (Adiseshu, Parulkar and Varghese, SIGCOMM 1996). A cost in bytes gives every member that has packets the same
//! rate; a cost in airtime the same time, and so a rate in proportion to its own, as access points do (Høiland-Jørgensen et al.,
//! USENIX ATC 2017).

use std::collections::VecDeque;
use std::sync::Arc;

use leobench_base::{Bytes, Descriptor, SimDuration, SimTime};

use crate::queue::{Backlog, Causes, Dequeued, Fates, QueueDiscipline, by_arrival};

/// Bytes of a turn: an Ethernet frame.
const BYTES: i64 = 1_514;
/// Airtime of a turn in nanoseconds, as in Linux's mac80211.
const AIRTIME: i64 = 300_000;

leobench_base::words! {
    /// How those who share a transmitter take turns.
    pub enum Turn {
        /// Each sends as many bytes as any other.
        RoundRobin = "round_robin",
        /// Each sends for as long as any other, so a rate in proportion to that of its signal.
        Proportional = "proportional",
    }
}

/// Builds the queue of a member.
pub type MemberQueue = Box<dyn Fn(u32) -> Box<dyn QueueDiscipline> + Send>;

/// A queue for each member.
pub struct Turns {
    turn: Turn,
    /// By tag, the member.
    members_of: Arc<[u32]>,
    build: MemberQueue,
    causes: Causes,
    /// By member.
    members: Vec<Option<Member>>,
    /// Members with packets, in the order of their turns.
    active: VecDeque<u32>,
    /// The member that sent last, and has to pay.
    last: Option<u32>,
}

struct Member {
    queue: Box<dyn QueueDiscipline>,
    credit: i64,
    is_active: bool,
}

impl Turns {
    /// Nobody has sent yet; `members_of` has the member of each tag, `build` its queue.
    pub fn new(turn: Turn, members_of: Arc<[u32]>, build: MemberQueue) -> Self {
        let causes = build(0).causes();
        Self {
            turn,
            members_of,
            build,
            causes,
            members: Vec::new(),
            active: VecDeque::new(),
            last: None,
        }
    }

    fn quantum(&self) -> i64 {
        match self.turn {
            Turn::RoundRobin => BYTES,
            Turn::Proportional => AIRTIME,
        }
    }

    fn member(&mut self, number: u32) -> &mut Member {
        let index = number as usize;
        if self.members.len() <= index {
            self.members.resize_with(index + 1, || None);
        }
        let build = &self.build;
        self.members[index].get_or_insert_with(|| Member {
            queue: build(number),
            credit: 0,
            is_active: false,
        })
    }

    fn queues(&mut self) -> impl Iterator<Item = &mut Box<dyn QueueDiscipline>> {
        self.members.iter_mut().flatten().map(|member| &mut member.queue)
    }
}

impl QueueDiscipline for Turns {
    fn enqueue(&mut self, now: SimTime, packet: Descriptor, fates: &mut Fates) {
        let number = self.members_of[packet.tag.0 as usize];
        let member = self.member(number);
        member.queue.enqueue(now, packet, fates);
        if !std::mem::replace(&mut member.is_active, true) {
            self.active.push_back(number);
        }
    }

    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued {
        let (quantum, mut held, mut earliest) = (self.quantum(), 0, SimTime::MAX);
        while let Some(&number) = self.active.front() {
            let Some(member) = &mut self.members[number as usize] else { break };
            if member.credit <= 0 {
                member.credit += quantum;
                self.active.rotate_left(1);
                continue;
            }
            match member.queue.dequeue(now, fates) {
                Dequeued::Packet(packet) => {
                    self.last = Some(number);
                    return Dequeued::Packet(packet);
                }
                Dequeued::Empty => {
                    (member.is_active, member.credit) = (false, 0);
                    self.active.pop_front();
                }
                Dequeued::NotBefore(time) => {
                    earliest = earliest.min(time);
                    held += 1;
                    if held >= self.active.len() {
                        return Dequeued::NotBefore(earliest);
                    }
                    self.active.rotate_left(1);
                }
            }
        }
        Dequeued::Empty
    }

    fn on_sent(&mut self, wire_size: Bytes, airtime: SimDuration) {
        let cost = match self.turn {
            Turn::RoundRobin => wire_size.get() as i64,
            Turn::Proportional => airtime.as_nanos() as i64,
        };
        let last = self.last.take().and_then(|last| self.members[last as usize].as_mut());
        if let Some(member) = last {
            member.credit -= cost;
        }
    }

    fn backlog(&self) -> Backlog {
        let mut all = Backlog::default();
        for member in self.members.iter().flatten() {
            let Backlog { bytes, packets } = member.queue.backlog();
            all.bytes += bytes;
            all.packets += packets;
        }
        all
    }

    fn flush(&mut self, now: SimTime, out: &mut Vec<Descriptor>) {
        let first = out.len();
        self.queues().for_each(|queue| queue.flush(now, out));
        by_arrival(&mut out[first..]);
    }

    fn withdraw(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        let first = out.len();
        self.queues().for_each(|queue| queue.withdraw(now, leaves, out));
        by_arrival(&mut out[first..]);
    }

    fn causes(&self) -> Causes {
        self.causes.clone()
    }
}
