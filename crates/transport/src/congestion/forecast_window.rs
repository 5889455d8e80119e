//! A limit on the window of any algorithm: a multiple of what a path is forecast to hold.

use leobench_base::{BitRate, Bytes, SimTime};

use super::{AckEnd, Acked, CarefulResume, Congestion, CongestionControl, Lost, Sent};
use crate::endpoint::{AccessReport, Forecast, PathId};
use crate::on_forecast::OnForecastSpec;
use crate::path_map::PathMap;

/// The smallest limit in packets, that of a window (RFC 9002 section 7.2).
const SMALLEST_PACKETS: u64 = 2;

/// An algorithm whose window is limited by forecasts.
pub struct ForecastWindow {
    inner: Box<dyn CongestionControl>,
    /// Times the forecast rate times the forecast round-trip time.
    share: f64,
    paths: PathMap<Limit>,
}

/// The limit of a path.
#[derive(Clone, Copy, Debug)]
struct Limit {
    least: Bytes,
    most: Bytes,
}

/// The limit of a path that nothing is known of.
const UNLIMITED: Limit = Limit { least: Bytes::ZERO, most: Bytes::new(u64::MAX) };

impl ForecastWindow {
    /// Limits the window of an algorithm, if a sender is to do that.
    pub fn around(
        inner: Box<dyn CongestionControl>,
        heeded: Option<OnForecastSpec>,
    ) -> Box<dyn CongestionControl> {
        match heeded.and_then(|heeded| heeded.window) {
            None => inner,
            Some(share) => Box::new(Self { inner, share, paths: PathMap::default() }),
        }
    }

    fn limit(&self, path: PathId) -> Bytes {
        self.paths.get(path).map_or(UNLIMITED.most, |limit| limit.most)
    }
}

impl CongestionControl for ForecastWindow {
    fn open(&mut self, path: PathId, now: SimTime, datagram: Bytes) {
        let least = Bytes::new(SMALLEST_PACKETS * datagram.get());
        let limit = self.paths.get(path).copied().unwrap_or(UNLIMITED);
        self.paths.insert(path, Limit { least, ..limit });
        self.inner.open(path, now, datagram);
    }

    fn close(&mut self, path: PathId) {
        self.paths.remove(path);
        self.inner.close(path);
    }

    fn on_sent(&mut self, path: PathId, sent: &Sent) {
        self.inner.on_sent(path, sent);
    }

    /// A window that the limit keeps from being used does not grow (RFC 9002 section 7.8).
    fn on_ack(&mut self, path: PathId, acked: &Acked) {
        let fits = self.inner.window(path) < self.limit(path);
        let cwnd_limited = acked.cwnd_limited && fits;
        self.inner.on_ack(path, &Acked { cwnd_limited, ..*acked });
    }

    fn on_ack_end(&mut self, path: PathId, end: &AckEnd) {
        self.inner.on_ack_end(path, end);
    }

    fn on_packet_lost(&mut self, path: PathId, lost: &Lost) {
        self.inner.on_packet_lost(path, lost);
    }

    fn on_loss(&mut self, path: PathId, congestion: &Congestion) {
        self.inner.on_loss(path, congestion);
    }

    fn on_ecn(&mut self, path: PathId, congestion: &Congestion) {
        self.inner.on_ecn(path, congestion);
    }

    fn on_spurious_loss(&mut self, path: PathId) {
        self.inner.on_spurious_loss(path);
    }

    fn on_forecast(&mut self, path: PathId, forecast: &Forecast) {
        if let Some(limit) = self.paths.get_mut(path) {
            let known = forecast.bottleneck.zip(forecast.base_rtt);
            // A path that is forecast to be down keeps its limit.
            let known = known.filter(|(rate, _)| !rate.is_zero());
            if let Some((rate, rtt)) = known {
                let bytes = rate.bps() as f64 * rtt.as_secs_f64() / 8.0 * self.share;
                limit.most = Bytes::new(bytes as u64).max(limit.least);
            }
        }
        self.inner.on_forecast(path, forecast);
    }

    fn on_access(&mut self, path: PathId, report: &AccessReport) {
        self.inner.on_access(path, report);
    }

    fn window(&self, path: PathId) -> Bytes {
        self.inner.window(path).min(self.limit(path))
    }

    fn pacing_rate(&self, path: PathId) -> Option<BitRate> {
        self.inner.pacing_rate(path)
    }

    fn ssthresh(&self, path: PathId) -> Option<Bytes> {
        self.inner.ssthresh(path)
    }

    fn bypasses_recovery(&self, path: PathId) -> bool {
        self.inner.bypasses_recovery(path)
    }

    fn phase(&self, path: PathId) -> &'static str {
        self.inner.phase(path)
    }

    fn set_window(&mut self, path: PathId, window: Bytes, ssthresh: Option<Bytes>) -> bool {
        self.inner.set_window(path, window, ssthresh)
    }

    fn careful_resume(&mut self) -> Option<&mut CarefulResume> {
        self.inner.careful_resume()
    }

    fn fault(&mut self) -> Option<String> {
        self.inner.fault()
    }
}
