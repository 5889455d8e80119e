//! Acknowledgements and losses as a congestion controller in Python sees them: one object of each kind for a controller, written
//! before every call.

use leobench_base::{BitRate, Bytes, SimDuration, SimTime};
use leobench_transport::plugin::{AckBatch, AckedPacket, LossBatch};
use pyo3::prelude::*;

/// An acknowledgement.
#[pyclass(module = "leobench._core")]
#[derive(Default)]
pub(crate) struct Acknowledgement {
    now: SimTime,
    packets: Vec<AckedPacket>,
    acked: Bytes,
    prior_in_flight: Bytes,
    in_flight: Bytes,
    latest_rtt: SimDuration,
    smoothed_rtt: SimDuration,
    min_rtt: SimDuration,
    delivery_rate: Option<BitRate>,
    app_limited: bool,
    cwnd_limited: bool,
    recovering: bool,
}

impl Acknowledgement {
    /// Takes over the next acknowledgement.
    pub(super) fn set(&mut self, batch: &AckBatch<'_>) {
        self.now = batch.now;
        self.packets.clear();
        self.packets.extend_from_slice(batch.packets);
        self.acked = batch.packets.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.size);
        (self.prior_in_flight, self.in_flight) = (batch.prior_in_flight, batch.in_flight);
        self.latest_rtt = batch.latest_rtt;
        (self.smoothed_rtt, self.min_rtt) = (batch.smoothed_rtt, batch.min_rtt);
        self.delivery_rate = batch.delivery_rate;
        (self.app_limited, self.cwnd_limited) = (batch.app_limited, batch.cwnd_limited);
        self.recovering = batch.recovering;
    }
}

#[pymethods]
impl Acknowledgement {
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.acked.get()
    }

    #[getter]
    fn packets(&self) -> Vec<(u64, u64, f64, bool)> {
        let packet = |packet: &AckedPacket| {
            let AckedPacket { number, size, sent, ambiguous } = *packet;
            (number, size.get(), sent.as_secs_f64(), ambiguous)
        };
        self.packets.iter().map(packet).collect()
    }

    #[getter]
    fn prior_in_flight(&self) -> u64 {
        self.prior_in_flight.get()
    }

    #[getter]
    fn in_flight(&self) -> u64 {
        self.in_flight.get()
    }

    #[getter]
    fn rtt(&self) -> f64 {
        self.latest_rtt.as_secs_f64()
    }

    #[getter]
    fn smoothed_rtt(&self) -> f64 {
        self.smoothed_rtt.as_secs_f64()
    }

    #[getter]
    fn min_rtt(&self) -> f64 {
        self.min_rtt.as_secs_f64()
    }

    #[getter]
    fn delivery_rate(&self) -> Option<u64> {
        self.delivery_rate.map(BitRate::bps)
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.app_limited
    }

    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.cwnd_limited
    }

    #[getter]
    fn recovering(&self) -> bool {
        self.recovering
    }

    fn __repr__(&self) -> String {
        format!("<Acknowledgement of {} bytes at {}>", self.acked.get(), self.now)
    }
}

/// Packets found lost together, or marked.
#[pyclass(module = "leobench._core")]
#[derive(Default)]
pub(crate) struct CongestionEvent {
    now: SimTime,
    sent: SimTime,
    lost: Bytes,
    persistent: bool,
    answered: bool,
    packets: Vec<u64>,
}

impl CongestionEvent {
    /// Takes over the next event.
    pub(super) fn set(&mut self, batch: &LossBatch<'_>) {
        (self.now, self.sent, self.lost) = (batch.now, batch.sent, batch.lost);
        (self.persistent, self.answered) = (batch.persistent, batch.answered);
        self.packets.clear();
        self.packets.extend_from_slice(batch.packets);
    }
}

#[pymethods]
impl CongestionEvent {
    #[getter]
    fn now(&self) -> f64 {
        self.now.as_secs_f64()
    }

    #[getter]
    fn sent(&self) -> f64 {
        self.sent.as_secs_f64()
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.lost.get()
    }

    #[getter]
    fn packets(&self) -> Vec<u64> {
        self.packets.clone()
    }

    #[getter]
    fn persistent(&self) -> bool {
        self.persistent
    }

    #[getter]
    fn answered(&self) -> bool {
        self.answered
    }

    fn __repr__(&self) -> String {
        format!("<CongestionEvent: {} bytes lost at {}>", self.lost.get(), self.now)
    }
}
