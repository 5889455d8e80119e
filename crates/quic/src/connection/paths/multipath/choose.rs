//! The choice of the path of the next packet with data: the scheduler's, of the paths that may carry data.

use leobench_base::SimTime;
use leobench_transport::endpoint::{EndpointError, Forecast, PathId};
use leobench_transport::path_scheduler::{Backlog, Choice, PathView};

use super::Multipath;
use crate::connection::Connection;
use crate::paths::PathSet;
use crate::recovery::Control;

impl Connection {
    /// The path that the scheduler chooses for the next packet with data. Without room on any path, it is not asked.
    ///
    /// # Errors
    /// If the scheduler failed, or chose what it must not.
    pub(super) fn choose_path(&mut self, now: SimTime) -> Result<Choice, EndpointError> {
        let Some(multipath) = &mut self.multipath else { return Ok(Choice::Wait) };
        let mut views = std::mem::take(&mut multipath.views);
        show_paths(&self.paths, &self.control, &mut views);
        let chosen = if views.iter().any(|view| view.has_room(now)) {
            if multipath.scheduler.uses_delivery_rates() {
                for view in &mut views {
                    let path = &mut self.paths[view.id];
                    view.delivery_rate = path.measure_delivery(now, view.rtt, &self.control);
                }
            }
            multipath.ask_scheduler(now, &views, &self.streams.waiting())
        } else {
            Ok(Choice::Wait)
        };
        multipath.views = views;
        chosen
    }
}

impl Multipath {
    /// Asks the scheduler, and checks its answer.
    fn ask_scheduler(
        &mut self,
        now: SimTime,
        views: &[PathView],
        backlog: &Backlog,
    ) -> Result<Choice, EndpointError> {
        let chosen = self.scheduler.choose(now, views, backlog);
        let checked = chosen.and_then(|chosen| {
            check(now, chosen, views).map_err(|problem| match self.scheduler.place() {
                Some(place) => format!("{problem} ({place})"),
                None => problem,
            })
        });
        checked.map_err(|problem| self.scheduler_error(now, problem))
    }

    /// A failure of the scheduler.
    #[cold]
    pub(super) fn scheduler_error(&self, at: SimTime, problem: String) -> EndpointError {
        let scheduler = self.offer.scheduler_name.clone();
        EndpointError::PathScheduler { scheduler, at, problem }
    }

    /// Tells the scheduler of a forecast.
    ///
    /// # Errors
    /// If it fails.
    pub(crate) fn on_forecast(
        &mut self,
        now: SimTime,
        forecast: &Forecast,
    ) -> Result<(), EndpointError> {
        let told = self.scheduler.on_forecast(now, forecast);
        told.map_err(|problem| self.scheduler_error(now, problem))
    }
}

/// Views of the paths that may carry data: of the usable ones, those with the smallest reserve.
#[inline]
fn show_paths(paths: &PathSet, control: &Control, views: &mut Vec<PathView>) {
    views.clear();
    let mut least = u8::MAX;
    for id in paths.open() {
        let path = &paths[*id];
        if !path.is_usable() {
            continue;
        }
        let reserve = path.reserve();
        if reserve < least {
            views.clear();
            least = reserve;
        }
        if reserve == least {
            views.push(path.view(control));
        }
    }
}

/// Refuses a choice of paths that are not there, of a full one, and of waiting for nothing.
fn check(now: SimTime, choice: Choice, views: &[PathView]) -> Result<Choice, String> {
    let first = match &choice {
        Choice::Wait
            if views.iter().any(|view| !view.has_room(now) || !view.in_flight.is_zero()) =>
        {
            return Ok(choice);
        }
        Choice::Wait => {
            return Err(
                "waits, although nothing is in flight: no event would ever end that".to_owned()
            );
        }
        Choice::One(first) => *first,
        Choice::Several(ids) => {
            if let Some(unknown) = ids.iter().find(|id| !views.iter().any(|view| view.id == **id)) {
                return Err(unknown_path(*unknown, views));
            }
            let mut places = ids.iter().enumerate();
            if let Some((_, twice)) = places.find(|(place, id)| ids[..*place].contains(id)) {
                return Err(format!("chose path {} twice for one packet", twice.0));
            }
            *ids.first().ok_or("chose no path, but did not wait either")?
        }
    };
    match views.iter().find(|view| view.id == first) {
        None => Err(unknown_path(first, views)),
        Some(view) if view.has_room(now) => Ok(choice),
        Some(view) => Err(format!(
            "chose path {}, which has no room: {} of {} are in flight, and pacing lets the next packet go at {}",
            first.0, view.in_flight, view.window, view.ready,
        )),
    }
}

#[cold]
fn unknown_path(id: PathId, views: &[PathView]) -> String {
    let known: Vec<_> = views.iter().map(|view| view.id.0.to_string()).collect();
    format!("chose path {}, which cannot carry data now; allowed: {}", id.0, known.join(", "))
}

#[cfg(test)]
mod tests {
    use leobench_base::{Bytes, SimDuration};
    use leobench_transport::path_scheduler::PathIds;

    use super::*;

    const NOW: SimTime = SimTime::from_nanos(1_000_000_000);

    /// Path 0 with room, and path 2 with so many bytes of its window in flight.
    fn views(in_flight: u64) -> [PathView; 2] {
        let view = |id, in_flight| PathView {
            id: PathId(id),
            link: None,
            rtt: SimDuration::from_millis(20),
            variation: SimDuration::ZERO,
            window: Bytes::new(12_000),
            in_flight: Bytes::new(in_flight),
            payload: Bytes::new(1_200),
            ready: NOW,
            slow_start: true,
            delivery_rate: None,
            forecast: None,
        };
        [view(0, 0), view(2, in_flight)]
    }

    fn several(ids: &[u32]) -> Choice {
        Choice::Several(ids.iter().copied().map(PathId).collect::<PathIds>())
    }

    #[test]
    fn choices_that_can_be_kept_are() {
        let full = views(12_000);
        for choice in [Choice::Wait, Choice::One(PathId(0)), several(&[0]), several(&[0, 2])] {
            assert_eq!(check(NOW, choice.clone(), &full), Ok(choice));
        }
        assert_eq!(
            check(NOW, Choice::Wait, &views(1)),
            Ok(Choice::Wait),
            "an acknowledgement comes"
        );
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        let refused = |choice, in_flight| check(NOW, choice, &views(in_flight)).unwrap_err();
        let unknown = "chose path 1, which cannot carry data now; allowed: 0, 2";
        assert_eq!(refused(Choice::One(PathId(1)), 0), unknown);
        assert_eq!(refused(several(&[0, 1]), 0), unknown);
        let full = refused(Choice::One(PathId(2)), 11_000);
        assert!(full.starts_with("chose path 2, which has no room: 11 kB of 12 kB"), "{full}");
        assert_eq!(refused(several(&[2, 0]), 11_000), full, "the first has to have room");
        assert_eq!(refused(several(&[0, 2, 0]), 0), "chose path 0 twice for one packet");
        assert_eq!(refused(several(&[]), 0), "chose no path, but did not wait either");
        assert!(refused(Choice::Wait, 0).starts_with("waits, although nothing is in flight"));
    }
}
