//! Capacities of queues: resolves limits that depend on links.

use std::path::Path;

use leobench_base::spec::{Fault, Limit, Span};
use leobench_base::{BitRate, Bytes, RngTree, SimDuration};
use leobench_link::channel::Mean;
use leobench_link::{Capacity, ChannelContext, QueueSpec};

use super::{Direction, LinkSpec, Scenario, ScenarioSpec};

/// The capacity of the queue of `link`, called `name`, in `direction`. Files are looked for in `folder`.
///
/// # Errors
/// If it depends on a link that is not there, has no mean rate or no delay, or if it comes to less than a packet.
pub(crate) fn capacity(
    spec: &ScenarioSpec,
    folder: &Path,
    (name, link): (&str, &LinkSpec),
    direction: Direction,
) -> Result<Capacity, Fault> {
    resolve(spec, folder, link.queue(direction), (Some(name), link.mtu), direction)
}

/// The capacity of the queue of a satellite that sends in `direction` of the links through it.
///
/// # Errors
/// As [`capacity`]; a satellite has no rate of its own.
pub(crate) fn satellite_capacity(
    spec: &ScenarioSpec,
    folder: &Path,
    queue: &QueueSpec,
    direction: Direction,
) -> Result<Capacity, Fault> {
    let links = spec.links.iter().filter(|(_, link)| link.constellation.is_some());
    let mtu = links.map(|(_, link)| link.mtu).max().unwrap_or_default();
    resolve(spec, folder, queue, (None, mtu), direction)
}

/// The capacity of the queue of a hop of this rate, if it has one of its own.
///
/// # Errors
/// As [`capacity`].
pub(crate) fn hop_capacity(
    spec: &ScenarioSpec,
    folder: &Path,
    queue: &QueueSpec,
    rate: Option<BitRate>,
) -> Result<Capacity, Fault> {
    if let (Some(rate), Limit::Carried { span: Span::Time(time), link: None }) =
        (rate, queue.model().limit())
    {
        return Ok(Capacity::Bytes(rate * *time));
    }
    satellite_capacity(spec, folder, queue, Direction::Forward)
}

/// The capacity of a queue in front of a link of this name, if there is one, whose packets have at most this size.
fn resolve(
    spec: &ScenarioSpec,
    folder: &Path,
    queue: &QueueSpec,
    (name, mtu): (Option<&str>, Bytes),
    direction: Direction,
) -> Result<Capacity, Fault> {
    let model = queue.model();
    let fault = |problem: String, allowed: &str| Fault::new(model.limit_key(), problem, allowed);
    if let Some(capacity) = Capacity::of(model.limit()) {
        // A drop-tail queue of less than a packet is none; what manages a queue has to have one.
        let small = matches!(&capacity, Capacity::Bytes(bytes) if *bytes < mtu);
        if small && !matches!(queue, QueueSpec::Fifo(_)) {
            let problem = format!("is less than a packet of the link's MTU, {mtu}");
            return Err(fault(problem, "a larger limit"));
        }
        return Ok(capacity);
    }
    let Limit::Carried { span, link: other } = model.limit() else {
        return Ok(Capacity::Unlimited);
    };
    let Some(carrying) = other.as_deref().or(name) else {
        let problem =
            "depends on the rate of a link, but a satellite's packets have those of several";
        return Err(fault(
            problem.to_owned(),
            "a limit in packets or bytes, or one that names a link, such as `{ bdp = 1.5, link = \"NAME\" }`",
        ));
    };
    let Some((_, carrier)) = spec.links.iter().find(|(other, _)| other == carrying) else {
        let known: Vec<_> = spec.links.iter().map(|(name, _)| format!("`{name}`")).collect();
        let problem = format!("refers to the link `{carrying}`, which does not exist");
        return Err(fault(problem, &format!("one of the links {}", known.join(", "))));
    };
    let none = || {
        let problem = format!("refers to the link `{carrying}`, whose channel has no mean rate");
        fault(problem, "a limit in packets or bytes, or a schedule with `repeat` or `mean_rate`")
    };
    let Some(Mean { rate, .. }) = mean(carrier, folder, direction)? else { return Err(none()) };
    let bytes = match span {
        Span::Time(time) => rate * *time,
        Span::Products(millionths) => {
            let mut round = SimDuration::ZERO;
            for direction in Direction::BOTH {
                let delay = mean(carrier, folder, direction)?.map(|mean| mean.delay);
                round += carrier.delay(direction) + delay.unwrap_or(SimDuration::ZERO);
            }
            if round.is_zero() {
                let problem = format!("refers to the link `{carrying}`, which has no delay");
                return Err(fault(
                    problem,
                    "a limit in packets, bytes or time, or a link with a `delay`",
                ));
            }
            let product = u128::from(rate.bps()) * u128::from(round.as_nanos()) / 8;
            let bytes = product * u128::from(*millionths) / (1_000_000_000 * 1_000_000);
            Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
        }
    };
    if bytes < mtu {
        let problem = format!("comes to {bytes}, less than a packet of the link's MTU, {mtu}");
        return Err(fault(problem, "a larger limit"));
    }
    Ok(Capacity::Bytes(bytes))
}

/// Returns the mean rate, scaled, and delay of a link's channel in one direction; `None` if it has no mean.
fn mean(link: &LinkSpec, folder: &Path, direction: Direction) -> Result<Option<Mean>, Fault> {
    let Some(channel) = link.channel(direction) else { return Ok(None) };
    // No mean depends on the seed.
    let context = ChannelContext { folder: folder.into(), rng: RngTree::new(0) };
    let mean = channel.model().mean_of(direction, &context)?;
    let scale = link.rate_scale(direction);
    Ok(mean.map(|mean| Mean { rate: mean.rate.scaled(scale), ..mean }))
}

impl Scenario {
    /// By direction of the links, forward first, the bytes that a limit which depends on a link comes to.
    pub(crate) fn carried_limits(&self) -> Vec<Option<Bytes>> {
        let directions = self.spec.links.iter().flat_map(|(name, link)| {
            Direction::BOTH.map(|direction| (name.as_str(), link, direction))
        });
        let limit = |(name, link, direction): (&str, &LinkSpec, Direction)| {
            if Capacity::of(link.queue(direction).model().limit()).is_some() {
                return None;
            }
            match capacity(&self.spec, &self.folder, (name, link), direction) {
                Ok(Capacity::Bytes(bytes)) => Some(bytes),
                _ => None,
            }
        };
        directions.map(limit).collect()
    }
}
