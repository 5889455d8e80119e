//! Checks of a network's memory and tables against the limits of its run. Data piles up if a source produces more than
//! the network can carry; without limits, the process would run out of memory and abort.

use leobench_base::{Bytes, DirectionId, SimTime};

use crate::limits::{self, LimitsSpec, about, number};
use crate::network::Network;

/// Steps from one look at what is kept to the next. A step adds at most a hundred messages, or what an endpoint sends
/// at once: some ten megabytes in all.
const EVERY: u64 = 1_024;

/// A packet's bytes where a link does not count them: those of a full one on Ethernet.
const FULL_PACKET: Bytes = Bytes::new(1_500);

/// A run took more than its scenario allows.
#[derive(Debug, thiserror::Error)]
#[error(
    "at {at}: {what}; that is more than `limits.{limit}`, {allowed}; allowed: {advice}, or a larger `limits.{limit}`"
)]
pub struct LimitError {
    at: SimTime,
    what: String,
    limit: &'static str,
    allowed: Bytes,
    advice: String,
}

/// Something that is kept, and how to have less of it.
struct Kept {
    bytes: u64,
    what: String,
    advice: String,
}

impl Network {
    /// Steps from one look to the next. Each visits all flows, and all links that they can use; in a large network looks are
    /// rarer, so that a step pays for a quarter of a visit at most.
    pub(in crate::network) fn look_every(&self) -> u64 {
        EVERY.max(4 * (self.flows.len() + self.observer.sampled().len()) as u64)
    }

    /// # Errors
    /// If the network keeps more than `limits` allows.
    #[inline(never)]
    pub(in crate::network) fn check_limits(&self, limits: &LimitsSpec) -> Result<(), LimitError> {
        let written = self.observer.recorded();
        if written > limits.tables {
            let what = format!("the tables have grown to {}", about(written.get() as f64));
            let advice =
                "`record.messages`, `record.series` or `record.packets` = false, a longer \
                          `record.interval`, a shorter run"
                    .to_owned();
            let (limit, allowed) = ("tables", limits.tables);
            return Err(LimitError { at: self.now, what, limit, allowed, advice });
        }
        if self.memory() <= limits.memory.get() {
            return Ok(());
        }
        let total = about(self.memory() as f64);
        let largest = self.kept().max_by_key(|kept| kept.bytes);
        let (what, advice) = match largest {
            Some(Kept { bytes, what, advice }) => {
                let part = about(bytes as f64);
                (format!("the run takes about {total} of memory, {part} of it for {what}"), advice)
            }
            None => unreachable!("something takes the memory"),
        };
        let (limit, allowed) = ("memory", limits.memory);
        Err(LimitError { at: self.now, what, limit, allowed, advice })
    }

    fn memory(&self) -> u64 {
        let (messages, bytes) = self.observer.messages_in_all();
        debug_assert_eq!(
            self.observer.messages().fold((0, 0), |all, flow| (all.0 + flow.0, all.1 + flow.1)),
            (messages, bytes),
            "the running totals are those of the flows"
        );
        let flows = messages * limits::MESSAGE.get() + bytes;
        let directions = self.observer.sampled();
        let queued: u64 = directions.iter().map(|direction| self.packets_in(*direction).1).sum();
        flows + queued + self.observer.recorded_in_memory().get()
    }

    /// Packets in a direction of a link, waiting or on their way, and the memory they take.
    fn packets_in(&self, direction: DirectionId) -> (u64, u64) {
        let link = &self.directions[direction];
        let (backlog, in_flight) = (link.backlog(), link.in_flight());
        let packets = backlog.packets + in_flight;
        let bytes = backlog.bytes.get() + in_flight * FULL_PACKET.get();
        (packets, packets * limits::PACKET.get() + bytes)
    }

    /// All that takes memory, one by one.
    fn kept(&self) -> impl Iterator<Item = Kept> + '_ {
        let messages = self.observer.messages().zip(&self.flows).map(|((messages, bytes), flow)| Kept {
            bytes: messages * limits::MESSAGE.get() + bytes,
            what: format!(
                "{} messages of flow `{}` that have not arrived",
                number(messages as f64),
                flow.name
            ),
            advice: format!(
                "fewer waiting messages: a lower rate or larger messages for the sources of `flows.{0}`, \
                 `flows.{0}.application = \"blocking\"`",
                flow.name
            ),
        });
        let packets = self.observer.sampled().iter().map(|&direction| {
            let (packets, bytes) = self.packets_in(direction);
            let names = self.observer.names();
            let (name, table) = (&names.directions[direction], &names.links[direction.link()]);
            let shares = self.transmitters.as_ref().is_some_and(|shared| shared.serve(direction));
            let in_orbit = self.transit.as_ref().is_some_and(|transit| transit.serves(direction));
            let queue = if in_orbit {
                "constellation.isl.queue".to_owned()
            } else if shares {
                "constellation.satellite.queue".to_owned()
            } else {
                format!("links.{table}.queue")
            };
            Kept {
                bytes,
                what: format!("{} packets in link `{name}`", number(packets as f64)),
                advice: format!("a limit for `{queue}`, a shorter delay"),
            }
        });
        let tables = Kept {
            bytes: self.observer.recorded_in_memory().get(),
            what: "tables".to_owned(),
            advice: "results in a folder, `record.messages`, `record.series` or `record.packets` = false, a longer \
                     `record.interval`"
                .to_owned(),
        };
        messages.chain(packets).chain(std::iter::once(tables))
    }
}
