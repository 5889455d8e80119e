//! Routes of links over satellites, on change.

use super::rows::RouteRow;
use crate::satellite_links::SatelliteLinks;
use crate::topology::TransitWay;

/// The routes of all links as they were last recorded, by link and direction.
#[derive(Default)]
pub(super) struct Routes(Vec<[Option<TransitWay>; 2]>);

impl Routes {
    /// Appends a row for each direction of a link that has changed its route; at first, for all of them.
    pub(super) fn follow(&mut self, links: &SatelliteLinks, rows: &mut Vec<RouteRow>) {
        if links.is_chain() {
            return;
        }
        let is_first = self.0.is_empty();
        self.0.resize(links.len(), [None, None]);
        for (path, known) in self.0.iter_mut().enumerate() {
            let ways = links.ways(path);
            for ((known, way), direction) in known.iter_mut().zip(ways).zip(["there", "back"]) {
                let is_same = TransitWay::are_same(known.as_ref(), way.as_ref());
                if is_first || !is_same {
                    rows.push(row(links, path, direction, way.as_ref()));
                }
                *known = way;
            }
        }
    }
}

fn row(
    links: &SatelliteLinks,
    path: usize,
    direction: &'static str,
    way: Option<&TransitWay>,
) -> RouteRow {
    let stations = links.stations();
    let station = |number: u32| {
        let name = stations.terminals.iter().chain(&stations.gateways).nth(number as usize);
        name.map(|station| station.name.clone())
    };
    let names = |way: &TransitWay| {
        let names = way.satellites.iter().map(|number| links.name((*number as usize).into()));
        names.collect::<Vec<_>>().join("->")
    };
    RouteRow {
        t_s: links.now().as_secs_f64(),
        link: links.link(path).to_owned(),
        direction,
        from_station: way.and_then(|way| station(way.stations[0])),
        satellites: way.map(names),
        to_station: way.and_then(|way| station(way.stations[1])),
        hops: way.map(|way| way.satellites.len() - 1),
        delay_ms: way.map(|way| way.delay.as_millis_f64()),
    }
}
