//! Hints from outside the connection: forecasts of its path, and reports of the link layer.

use leobench_base::{SimDuration, SimTime};

use super::Sender;
use super::control::PATH;
use crate::endpoint::{AccessReport, Forecast};

impl Sender {
    /// The sender is told what will become of its path, which it leaves alone so long `before` a handover, if at all.
    pub(in crate::tcp) fn on_forecast(
        &mut self,
        now: SimTime,
        before: Option<SimDuration>,
        forecast: &Forecast,
    ) {
        self.control.algorithm.on_forecast(PATH, forecast);
        if let Some(before) = before {
            self.hold.plan(now, before, forecast);
        }
    }

    /// The link layer reports on the access link of its path. A report before the connection is open is kept until then.
    pub(in crate::tcp) fn on_access(&mut self, report: &AccessReport) {
        match &mut self.access {
            Some(access) => **access = *report,
            None => self.access = Some(Box::new(*report)),
        }
        let is_open = self.initial_window > 0;
        if is_open {
            self.control.algorithm.on_access(PATH, report);
        }
    }

    /// Returns the latest report on the access link of its path.
    pub(in crate::tcp) fn access(&self) -> Option<&AccessReport> {
        self.access.as_deref()
    }
}
