mod hypatia;
mod layouts;
mod links;
mod router;
mod routing;
mod table;

use leobench_base::{SimDuration, SimTime};
use proptest::prelude::*;

use crate::frame::Epoch;
use crate::isl::{Exit, Limits, Outgoing, Router, plus_grid};
use crate::motion::{Constellation, DestinationId, Ephemeris, GatewayId, SatelliteId, Shell};

const SPACING: SimDuration = SimDuration::from_secs(20);

fn ephemeris(shell: Shell) -> Ephemeris {
    let all = Constellation::of_shells(&[shell], Epoch::J2000, false);
    Ephemeris::new(all, Epoch::J2000, SPACING).unwrap()
}

fn router(ephemeris: &Ephemeris, limits: Limits, destinations: usize) -> Router {
    let links = plus_grid(ephemeris.constellation());
    Router::new(ephemeris.len(), links, limits, destinations)
}

fn exit(satellite: usize, micros: u64) -> Exit {
    let gateway = GatewayId::from(satellite);
    Exit { satellite: satellite.into(), gateway, delay: SimDuration::from_micros(micros) }
}

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

fn any_shell() -> impl Strategy<Value = Shell> {
    (300.0..2_000.0f64, 30.0..150.0f64, 2usize..16, 2usize..20, 0usize..16, any::<bool>()).prop_map(
        |(altitude, inclination, planes, per_plane, phasing, star)| {
            let make = if star { Shell::star } else { Shell::delta };
            make("s", altitude, inclination, planes, per_plane).phased(phasing % planes)
        },
    )
}

fn own() -> DestinationId {
    DestinationId::from(0)
}

/// The delay of a packet that is forwarded from table to table, over lasers that are on and leave the satellite that it is at;
/// panics at a loop.
fn forwarded(
    router: &Router,
    table: &[Option<Outgoing>],
    from: SatelliteId,
    exits: &[Exit],
) -> Option<SimDuration> {
    let (mut at, mut total) = (from, SimDuration::ZERO);
    for _ in 0..=table.len() {
        match table[at.index()]? {
            Outgoing::Laser(id) => {
                let laser = router.laser(id);
                assert_eq!(laser.from, at);
                total += router.laser_delay(id).expect("a laser that is on");
                at = laser.to;
            }
            Outgoing::Down(gateway) => {
                let last = exits.iter().filter(|e| e.satellite == at && e.gateway == gateway);
                return Some(total + last.map(|e| e.delay).min().expect("an exit"));
            }
        }
    }
    panic!("a loop from {from:?}");
}
