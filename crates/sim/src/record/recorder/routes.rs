//! Rows on the routes of packets: over links, and over satellites.

use leobench_base::{DirectionId, FlowId, SimTime};

use super::super::schema::Table;
use super::super::sink::SinkError;
use super::Recorder;
use crate::topology::TransitWay;

impl Recorder {
    /// The links that a flow's packets take from now on in a direction, `there` (from its sender) or `back`; none if there
    /// is no way.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn route(
        &mut self,
        now: SimTime,
        flow: FlowId,
        direction: &str,
        route: Option<&[DirectionId]>,
    ) -> Result<(), SinkError> {
        if !self.has_series(flow) {
            return Ok(());
        }
        let links = route.map(|route| {
            let names: Vec<_> =
                route.iter().map(|link| self.names.directions[*link].as_str()).collect();
            names.join(" ")
        });
        let flow = self.names.flows[flow].name.as_str();
        let row = [now.into(), flow.into(), direction.into(), links.as_deref().into()];
        self.tables.append(Table::Routes, row)
    }

    /// The satellites that a link's packets pass from now on in a direction; none if there is no way.
    ///
    /// # Errors
    /// If the sink fails.
    pub fn way(
        &mut self,
        now: SimTime,
        direction: DirectionId,
        way: Option<&TransitWay>,
    ) -> Result<(), SinkError> {
        if !self.settings.series {
            return Ok(());
        }
        let satellites = way.map(|way| {
            let names =
                way.satellites.iter().map(|number| self.names.satellite((*number as usize).into()));
            names.collect::<Vec<_>>().join("->")
        });
        let station =
            |end: usize| way.map(|way| self.names.stations[way.stations[end] as usize].as_str());
        let row = [
            now.into(),
            self.names.directions[direction].as_str().into(),
            station(0).into(),
            satellites.as_deref().into(),
            station(1).into(),
            way.map(|way| way.satellites.len() as u64 - 1).into(),
            way.map(|way| way.delay).into(),
        ];
        self.tables.append(Table::Ways, row)
    }
}
