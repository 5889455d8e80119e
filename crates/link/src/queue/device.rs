//! A queue discipline above the ring of a network device, which pushes back instead of dropping.

use leobench_base::spec::{At, Fault, Limit, Ring, Schema, Spec, SpecError, Value, json};
use leobench_base::{Descriptor, RngTree, SimTime};

use super::{
    Backlog, Capacity, Causes, Dequeued, Fates, Line, QueueDiscipline, QueueModel, QueueSpec,
    by_arrival,
};

leobench_base::spec! {
    /// A queue discipline above the ring of a device, which pushes back when it is full.
    ///
    /// As in Linux (qdisc and driver ring) and ns-3 (traffic control and `NetDevice` queue): the discipline sees a packet
    /// leave when it moves to the ring, and manages only what the ring has no room for. With an unlimited ring it
    /// manages nothing.
    pub struct DeviceSpec
        example = r#"{"ring": "7 packets", "queue": "fq_codel"}"#
        check = check
    {
        /// Capacity of the ring, not counting the packet on the wire. A ring with a capacity in bytes takes packets
        /// until it is reached, as Linux's byte queue limits do.
        pub ring: Ring,
        /// The discipline above the ring.
        pub queue: Above,
    }
}

fn check(spec: &DeviceSpec) -> Result<(), Fault> {
    if spec.ring.limit().is_zero() {
        return Err(Fault::new("ring", "is zero, so nothing gets through", "a ring above zero"));
    }
    Ok(())
}

/// The queue discipline above a ring.
#[derive(Clone, Debug, PartialEq)]
pub struct Above(pub Box<QueueSpec>);

impl Above {
    fn kinds() -> Vec<&'static str> {
        QueueSpec::KINDS.iter().copied().filter(|kind| *kind != "device").collect()
    }
}

/// As the queue of a link, but for a second ring. The schema leaves its keys open, or it would contain itself.
impl Spec for Above {
    fn schema() -> Schema {
        let kinds: Vec<_> = Self::kinds().iter().map(|kind| format!("`{kind}`")).collect();
        let title = format!("{}, or a table of such a kind", kinds.join(" or "));
        json!({"title": title, "oneOf": [{"enum": Self::kinds()}, {"type": "object"}]})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let queue = QueueSpec::read(value, at)?;
        if let QueueSpec::Device(_) = queue {
            let kinds = Self::kinds().join(", ");
            return Err(at
                .error(value, "is a ring above another ring")
                .allowed(format!("one of {kinds}")));
        }
        Ok(Self(Box::new(queue)))
    }

    fn write(&self) -> Value {
        self.0.write()
    }
}

impl QueueModel for DeviceSpec {
    fn limit(&self) -> &Limit {
        self.queue.0.model().limit()
    }

    fn limit_key(&self) -> &'static str {
        "queue.limit"
    }

    fn build(&self, capacity: Capacity, rng: &RngTree) -> Box<dyn QueueDiscipline> {
        Box::new(Device {
            room: Capacity::of(self.ring.limit()).unwrap_or(Capacity::Unlimited),
            ring: Line::default(),
            queue: self.queue.0.model().build(capacity, rng),
        })
    }
}

struct Device {
    room: Capacity,
    ring: Line,
    queue: Box<dyn QueueDiscipline>,
}

impl Device {
    fn has_room(&self) -> bool {
        let Backlog { packets, bytes } = self.ring.backlog();
        match self.room {
            Capacity::Packets(limit) => packets < limit,
            Capacity::Bytes(limit) => bytes < limit,
            Capacity::Unlimited => true,
        }
    }

    /// Moves packets to the ring; the answer that ended it, if the ring still has room.
    fn fill(&mut self, now: SimTime, fates: &mut Fates) -> Option<Dequeued> {
        while self.has_room() {
            match self.queue.dequeue(now, fates) {
                Dequeued::Packet(packet) => self.ring.push(packet),
                other => return Some(other),
            }
        }
        None
    }
}

impl QueueDiscipline for Device {
    fn enqueue(&mut self, now: SimTime, packet: Descriptor, fates: &mut Fates) {
        self.queue.enqueue(now, packet, fates);
        self.fill(now, fates);
    }

    fn dequeue(&mut self, now: SimTime, fates: &mut Fates) -> Dequeued {
        let ended = self.fill(now, fates);
        match self.ring.pop() {
            Some(packet) => {
                self.fill(now, fates);
                Dequeued::Packet(packet)
            }
            None => ended.unwrap_or(Dequeued::Empty),
        }
    }

    fn backlog(&self) -> Backlog {
        let (ring, queue) = (self.ring.backlog(), self.queue.backlog());
        Backlog { packets: ring.packets + queue.packets, bytes: ring.bytes + queue.bytes }
    }

    fn flush(&mut self, now: SimTime, out: &mut Vec<Descriptor>) {
        let first = out.len();
        self.ring.flush(out);
        self.queue.flush(now, out);
        by_arrival(&mut out[first..]);
    }

    fn withdraw(
        &mut self,
        now: SimTime,
        leaves: &dyn Fn(&Descriptor) -> bool,
        out: &mut Vec<Descriptor>,
    ) {
        let first = out.len();
        self.ring.withdraw(leaves, out);
        self.queue.withdraw(now, leaves, out);
        by_arrival(&mut out[first..]);
    }

    fn causes(&self) -> Causes {
        self.queue.causes()
    }
}
