//! Constellations: which satellites there are, where terminals and gateways stand, who chooses the serving satellite, and
//! which links lead through all that.

mod hypatia;
mod passage;
mod places;
mod satellites;

use leobench_base::quantity::{Angle, Distance, Elevation};
use leobench_base::spec::{At, Fault, Schema, Spec, SpecError, Value, json};
use leobench_base::{BitRate, DurationDistribution, SimDuration};
use leobench_link::{QueueSpec, Turn};
use leobench_orbit::{Epoch, LayoutSpec, PolicySpec, RoutingSpec};

pub(crate) use hypatia::fault as hypatia_fault;
pub use hypatia::{Forwarded, StateFile};
pub use passage::{PassageSpec, RouteChoice};
pub use places::{BackhaulSpec, GatewaySpec, TerminalSpec};
pub(crate) use satellites::text_of;
pub use satellites::{Satellites, SatellitesModel, SatellitesSpec};

use super::link::default_queue;
use crate::topology::LeftPackets;

leobench_base::spec! {
    /// Satellites over terminals and gateways; links that have a `constellation` lead through them.
    pub struct ConstellationSpec check = ConstellationSpec::check {
        /// The satellites.
        pub satellites: SatellitesSpec,
        /// The instant at which the run starts, in UTC: `2026-03-20T12:00:00Z`.
        pub start: Instant,
        /// Terminals by name; those of a folder of Hypatia are its ground stations.
        pub terminals: Vec<(String, TerminalSpec)> = Vec::new(),
        /// Gateways by name.
        pub gateways: Vec<(String, GatewaySpec)> = Vec::new(),
        /// A CSV file with more gateways: `name`, `latitude`, `longitude` in degrees, and `altitude` in metres if needed.
        pub gateway_list: Option<String>,
        /// Lowest elevation at which terminals use satellites; that of the preset's filing, otherwise 25 degrees.
        pub lowest_elevation: Option<Elevation>,
        /// Lowest elevation at which gateways use satellites; that of the terminals unless given.
        pub gateway_elevation: Option<Elevation>,
        /// Longest link between a terminal or a gateway and a satellite; elevations alone limit it unless given.
        pub longest_range: Option<Distance>,
        /// The choice of the serving satellite.
        pub policy: PolicySpec = PolicySpec::default(),
        /// Period of a grid; policies leave a satellite that can still be used only at its instants.
        pub reconfigure_every: Option<SimDuration>,
        /// Offset of the grid from the start of a minute of UTC.
        pub reconfigure_phase: Option<SimDuration>,
        /// Time at each handover during which packets wait.
        pub outage: DurationDistribution = DurationDistribution::fixed(SimDuration::ZERO),
        /// Make before break: time at each handover in which the old satellite keeps serving the packets that are on
        /// the link. New ones go over the new satellite.
        pub overlap: DurationDistribution = DurationDistribution::fixed(SimDuration::ZERO),
        /// Fate of packets that are in flight at a handover, or at the end of its overlap. By default all arrive; those
        /// in queues take the new satellite, or are still sent by the old one if satellites have queues (`satellite`).
        pub old_packets: LeftPackets = LeftPackets::Drain,
        /// A queue on each satellite, for all links that it serves; without, each link has its own queue and transmitter.
        pub satellite: Option<SatelliteSpec>,
        /// Transmitters with queues between the ground and satellites; without, each link has its own at its terminal and at the satellite
        /// over it.
        pub ground: Option<GroundSpec>,
        /// A transmitter for all terminals of a cell that a satellite serves, in each direction; without, terminals share none, or that of
        /// `ground`.
        pub beam: Option<BeamSpec>,
        /// Links between satellites; without them, each satellite needs a gateway in view (bent pipe).
        pub isl: Option<IslSpec>,
        /// Time between two updates of delay and rate. A delay changes by less than 50 us per second.
        pub step: SimDuration = SimDuration::from_millis(100),
        /// Time between two points of an orbit, which are evaluated in full; positions between them are interpolated.
        pub knots: SimDuration = SimDuration::from_secs(60),
    }
}

leobench_base::spec! {
    /// The transmitters of each satellite: one towards gateways, and one towards terminals.
    ///
    /// Each sends the packets of all links that the satellite serves one by one, every packet at the rate of its own link.
    pub struct SatelliteSpec {
        /// Queue discipline in front of each transmitter.
        pub queue: QueueSpec = default_queue(),
    }
}

leobench_base::spec! {
    /// The transmitters between the ground and satellites: each station sends the packets of all its links to satellites by one, and
    /// each satellite those to all stations below it. Packets of terminals go at the rates of their links.
    pub struct GroundSpec {
        /// Rate between gateways and satellites; without, they take no time.
        pub rate: Option<BitRate>,
        /// Queue discipline in front of each transmitter.
        pub queue: QueueSpec = default_queue(),
    }
}

leobench_base::spec! {
    /// The transmitters of a beam: one to the terminals of a cell (`cell` of a terminal), and one for what they send. Each packet goes at the
    /// rate of its link, and one follows the other.
    pub struct BeamSpec {
        /// Queue discipline in front of it, for each terminal.
        pub queue: QueueSpec = default_queue(),
        /// Whose turn it is.
        pub scheduler: Turn = Turn::RoundRobin,
    }
}

leobench_base::spec! {
    /// Links between satellites.
    pub struct IslSpec: Default {
        /// Which satellites are linked; by default, each one with its neighbours in its plane and in both adjacent planes (+grid).
        pub layout: LayoutSpec = LayoutSpec::default(),
        /// A file of pairs of satellite numbers, one link per line, in place of a `layout`.
        pub file: Option<String>,
        /// Longest link.
        pub longest: Option<Distance>,
        /// Lowest height of a beam above the ground, where the air bends and absorbs it.
        pub clearance: Distance = Distance::constant(80e3),
        /// Latitude beyond which links into other planes are off.
        pub highest_latitude: Option<Angle>,
        /// How routes are chosen.
        pub routing: RoutingSpec = RoutingSpec::default(),
        /// Time between two searches for routes.
        pub every: SimDuration = SimDuration::from_secs(1),
        /// Rate of each laser in each direction; without, packets only take time to propagate.
        pub rate: Option<BitRate>,
        /// Queue discipline in front of each laser, if they have a rate.
        pub queue: QueueSpec = default_queue(),
    }
}

impl ConstellationSpec {
    /// Whether packets go from hop to hop, each with a queue of its own.
    pub fn has_hops(&self) -> bool {
        self.ground.is_some()
            || self.beam.is_some()
            || self.isl.as_ref().is_some_and(|isl| isl.rate.is_some())
            || self.gateways.iter().any(|(_, gateway)| gateway.backhaul.is_some())
            || self.policy.model().is_free()
    }

    /// Whether a pair of ends has two routes, and packets carry theirs along.
    pub fn is_multipath(&self) -> bool {
        self.isl.as_ref().is_some_and(|isl| isl.routing.model().is_multipath())
    }

    fn check(&self) -> Result<(), Fault> {
        let times = [
            ("reconfigure_every", self.reconfigure_every),
            ("step", Some(self.step)),
            ("knots", Some(self.knots)),
            ("isl.every", self.isl.as_ref().map(|isl| isl.every)),
        ];
        for (field, time) in times {
            if time.is_some_and(SimDuration::is_zero) {
                return Err(Fault::new(field, "is zero", "a time above zero"));
            }
        }
        let least = [
            ("reconfigure_every", self.reconfigure_every, SimDuration::from_secs(1)),
            ("step", Some(self.step), SimDuration::from_millis(1)),
            ("knots", Some(self.knots), SimDuration::from_secs(1)),
            ("isl.every", self.isl.as_ref().map(|isl| isl.every), SimDuration::from_millis(1)),
        ];
        for (field, time, least) in least {
            if time.is_some_and(|time| time < least) {
                return Err(Fault::new(field, "is too short", format!("{least} or more")));
            }
        }
        if self.knots > SimDuration::from_secs(180) {
            let allowed = "at most 3 min, which keeps positions within 40 m";
            return Err(Fault::new("knots", "is too long for interpolation", allowed));
        }
        if let Some(isl) = &self.isl
            && isl.file.is_some()
            && isl.layout != LayoutSpec::default()
        {
            let allowed = "either a `file` or a `layout`";
            return Err(Fault::new("isl.layout", "is given together with `isl.file`", allowed));
        }
        if self.reconfigure_phase.is_some() && self.reconfigure_every.is_none() {
            let allowed = "`reconfigure_phase` only with `reconfigure_every`";
            return Err(Fault::new(
                "reconfigure_phase",
                "is given without `reconfigure_every`",
                allowed,
            ));
        }
        let own_period = self.policy.model().period();
        if self.reconfigure_every.is_some()
            && let Some(period) = own_period
        {
            let policy = self.policy.kind();
            let problem = format!("is given together with the policy `{policy}`");
            let allowed = format!(
                "another policy, or no `reconfigure_every`: `{policy}` reconfigures every {period}"
            );
            return Err(Fault::new("reconfigure_every", problem, allowed));
        }
        if self.has_hops() {
            self.check_hops()?;
        }
        self.check_routing()?;
        if self.old_packets == LeftPackets::Forward && self.satellite.is_none() && !self.has_hops()
        {
            let allowed = "`drain`, `deliver` or `drop`, because the link keeps its queue; or satellites with queues (`satellite`, `ground`, `isl.rate`)";
            return Err(Fault::new("old_packets", "is not possible in a constellation", allowed));
        }
        if self.overlap.mean() > 0.0 && self.outage.mean() > 0.0 {
            let allowed = "an `outage` (break before make) or an `overlap` (make before break)";
            return Err(Fault::new("overlap", "is given together with an `outage`", allowed));
        }
        let grid = match self.satellites {
            SatellitesSpec::Hypatia(_) => None,
            _ => own_period.or(self.reconfigure_every),
        };
        for (field, span) in [("outage", &self.outage), ("overlap", &self.overlap)] {
            if let Some(grid) = grid.filter(|grid| span.mean() >= grid.as_nanos() as f64) {
                let problem = format!("is as long as the time between handovers, {grid}");
                return Err(Fault::new(field, problem, format!("a time shorter than {grid}")));
            }
        }
        if matches!(self.satellites, SatellitesSpec::Hypatia(_)) {
            return self.check_forwarded();
        }
        let mut apart = self.terminals.iter().filter(|(_, terminal)| terminal.apart);
        if let (SatellitesSpec::Chain(_), Some((name, _))) = (&self.satellites, apart.next()) {
            let allowed =
                "no `apart`, because the subflows of a `chain` define the satellites of its links";
            let field = format!("terminals.{name}.apart");
            return Err(Fault::new(field, "is given together with a `chain`", allowed));
        }
        if self.longest_range.is_some() && matches!(self.satellites, SatellitesSpec::Chain(_)) {
            let allowed = "no `longest_range`, because a `chain` defines who serves";
            return Err(Fault::new("longest_range", "is given together with a `chain`", allowed));
        }
        Ok(())
    }
}

impl ConstellationSpec {
    /// Refuses routes that need what is not given.
    fn check_routing(&self) -> Result<(), Fault> {
        if let Some(isl) = self.isl.as_ref().filter(|_| !self.has_hops())
            && isl.routing.model().is_multipath()
        {
            let problem = "gives packets routes of their own, but they take no hops with queues";
            let allowed = "`isl.rate` or `ground`, or another `routing`";
            return Err(Fault::new("isl.routing", problem, allowed));
        }
        if let Some(isl) = self.isl.as_ref().filter(|isl| isl.rate.is_none())
            && isl.routing.model().needs_loads()
        {
            let problem = "depends on what lasers carry, but they have no rate";
            return Err(Fault::new(
                "isl.routing",
                problem,
                "a `rate` of lasers, or another `routing`",
            ));
        }
        Ok(())
    }

    /// Refuses what does not go with queues of hops.
    fn check_hops(&self) -> Result<(), Fault> {
        let rates = [
            ("isl.rate", self.isl.as_ref().and_then(|isl| isl.rate)),
            ("ground.rate", self.ground.as_ref().and_then(|ground| ground.rate)),
        ];
        let rates = rates.into_iter().map(|(key, rate)| (key.to_owned(), rate));
        let backhauls = self.gateways.iter().map(|(name, gateway)| {
            let rate = gateway.backhaul.as_ref().map(|backhaul| backhaul.rate);
            (format!("gateways.{name}.backhaul.rate"), rate)
        });
        for (key, rate) in rates.chain(backhauls) {
            if rate.is_some_and(BitRate::is_zero) {
                let problem = "is zero, so nothing gets through";
                return Err(Fault::new(key, problem, "a rate above zero"));
            }
        }
        let hops = "queues of hops (`ground`, `isl.rate`, `backhaul`, the policy `shortest`)";
        let given = |key: &str, allowed: &str| {
            Err(Fault::new(key, format!("is given together with {hops}"), allowed))
        };
        if self.satellite.is_some() {
            return given("satellite", "`ground`, which gives satellites transmitters as well");
        }
        if self.overlap.mean() > 0.0 {
            return given(
                "overlap",
                "an `outage`, or none: packets on their way go on by the tables of satellites",
            );
        }
        if self.outage.mean() > 0.0 && self.policy.model().is_free() {
            let policy = self.policy.kind();
            let problem =
                format!("is given together with the policy `{policy}`, which has no handovers");
            return Err(Fault::new("outage", problem, "another policy, or no `outage`"));
        }
        if matches!(self.satellites, SatellitesSpec::Chain(_)) {
            let allowed = "a preset, Walker shells, element sets or a folder of Hypatia";
            return given("satellites", allowed);
        }
        Ok(())
    }

    /// A forwarding state says who serves and which way packets take, and its folder has the stations.
    fn check_forwarded(&self) -> Result<(), Fault> {
        let given = [
            ("terminals", !self.terminals.is_empty()),
            ("gateways", !self.gateways.is_empty()),
            ("gateway_list", self.gateway_list.is_some()),
            ("lowest_elevation", self.lowest_elevation.is_some()),
            ("gateway_elevation", self.gateway_elevation.is_some()),
            ("longest_range", self.longest_range.is_some()),
            ("policy", self.policy != PolicySpec::default()),
            ("reconfigure_every", self.reconfigure_every.is_some()),
        ];
        let problem = "is given together with a folder of Hypatia";
        if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
            let allowed = "no such key, because the folder defines stations and routes";
            return Err(Fault::new(key, problem, allowed));
        }
        if let Some(isl) = &self.isl {
            let queue = IslSpec { rate: isl.rate, queue: isl.queue.clone(), ..IslSpec::default() };
            if isl.rate.is_none() || *isl != queue {
                let allowed = "only the `rate` and the `queue` of lasers, because the folder defines links and routes";
                return Err(Fault::new("isl", problem, allowed));
            }
        }
        if self.beam.is_some() {
            return Err(Fault::new("beam", problem, "`ground`, because the folder has no cells"));
        }
        if self.has_hops() && self.outage.mean() > 0.0 {
            let allowed = "no `outage`, or no queues of hops (`ground`, `isl.rate`): the forwarding state is in force at once";
            return Err(Fault::new("outage", problem, allowed));
        }
        Ok(())
    }
}

/// An instant of UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instant(pub Epoch);

const INSTANT: &str = "an instant of UTC from 1900 to 2199, such as \"2026-03-20T12:00:00Z\"";

impl Spec for Instant {
    fn schema() -> Schema {
        json!({"type": "string", "description": INSTANT})
    }

    fn read(value: &Value, at: &At<'_>) -> Result<Self, SpecError> {
        let text = match value {
            Value::String(text) => text.clone(),
            other => {
                let error = at.error(other, format!("is {}, not a string", other.type_name()));
                return Err(error.allowed(INSTANT));
            }
        };
        let epoch = Epoch::parse(&text);
        epoch.map(Self).ok_or_else(|| at.error(value, "is not an instant").allowed(INSTANT))
    }

    fn write(&self) -> Value {
        Value::String(self.0.to_string())
    }
}
