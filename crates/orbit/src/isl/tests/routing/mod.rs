mod conformance;
mod disjoint;
mod hysteresis;
mod load_aware;
mod table;

use leobench_base::SimDuration;

use crate::isl::{Exit, LaserId, Outgoing, Router};
use crate::motion::SatelliteId;

/// The least costs to the exits by rounds of relaxation over all lasers (Bellman and Ford), in nanoseconds.
fn least_costs(
    router: &Router,
    satellites: usize,
    exits: &[Exit],
    price: impl Fn(LaserId) -> u64,
) -> Vec<Option<u64>> {
    let mut costs: Vec<Option<u64>> = vec![None; satellites];
    for exit in exits {
        let cost = &mut costs[exit.satellite.index()];
        *cost = Some(cost.unwrap_or(u64::MAX).min(exit.delay.as_nanos()));
    }
    for _ in 0..satellites {
        for laser in router.lasers() {
            let (Some(delay), Some(rest)) = (router.laser_delay(laser.id), costs[laser.to.index()])
            else {
                continue;
            };
            let over = rest + delay.as_nanos() + price(laser.id);
            let cost = &mut costs[laser.from.index()];
            *cost = Some(cost.unwrap_or(u64::MAX).min(over));
        }
    }
    costs
}

/// The present cost of a way by a table, in nanoseconds; `None` if it is interrupted.
fn cost_by(
    router: &Router,
    table: &[Option<Outgoing>],
    from: SatelliteId,
    exits: &[Exit],
) -> Option<u64> {
    let (mut at, mut total) = (from, 0);
    loop {
        match table[at.index()]? {
            Outgoing::Laser(laser) => {
                total += router.laser_delay(laser)?.as_nanos();
                at = router.laser(laser).to;
            }
            Outgoing::Down(gateway) => {
                let here = exits.iter().filter(|e| e.satellite == at && e.gateway == gateway);
                return Some(total + here.map(|exit| exit.delay).min()?.as_nanos());
            }
        }
    }
}

fn nanos(delay: Option<SimDuration>) -> Option<u64> {
    delay.map(SimDuration::as_nanos)
}
