//! Forecasts and reports of the link layer, for the parts that heed them.

use leobench_base::SimTime;
use leobench_transport::endpoint::{AccessReport, EndpointError, Forecast};

use super::Connection;

impl Connection {
    /// The sender is told what will become of a path.
    ///
    /// # Errors
    /// If a scheduler fails.
    pub(crate) fn on_forecast(
        &mut self,
        now: SimTime,
        forecast: &Forecast,
    ) -> Result<(), EndpointError> {
        self.control.on_forecast(forecast);
        self.streams.on_forecast(now, forecast)?;
        if let Some(multipath) = &mut self.multipath {
            multipath.on_forecast(now, forecast)?;
        }
        let Some(path) = self.paths.get_mut(forecast.path) else { return Ok(()) };
        if let Some(member) = &mut path.member {
            member.forecast = Some(*forecast);
        }
        if let Some(before) = self.settings.hold {
            path.hold.plan(now, before, forecast);
        }
        self.manage_paths(now);
        Ok(())
    }

    /// The link layer reports on the access link of a path.
    pub(crate) fn on_access(&mut self, report: &AccessReport) {
        self.control.on_access(report);
    }

    /// Leaves those paths alone from now on whose forecast handovers are near.
    #[inline]
    pub(crate) fn begin_holds(&mut self, now: SimTime) {
        if self.settings.hold.is_some() {
            self.paths.iter_mut().for_each(|path| path.hold.begin(now));
        }
    }
}
