//! A stream as a scheduler in Python sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use leobench_base::{SimTime, StreamIndex};
use leobench_transport::buffer::{Attributes, SendBuffer};
use pyo3::prelude::*;
use typed_index_collections::TiVec;

const NANOS_PER_SEC: f64 = 1e9;

/// Counters of a connection's streams. They are written without waiting for the interpreter, and read only by calls
/// from within the run, which come after the writes.
pub(super) struct Shared {
    now: AtomicU64,
    streams: TiVec<StreamIndex, Counters>,
}

#[derive(Default)]
struct Counters {
    held: AtomicBool,
    backlog: AtomicU64,
    messages: AtomicU64,
    /// When the oldest waiting message was created.
    head_created: AtomicU64,
    /// Sum of the waiting messages' sojourn times at the end of time, modulo 2^64. The sum at any other time follows
    /// from it, and is right as long as it is below 2^64 ns, or 584 years.
    last_sojourn_sum: AtomicU64,
}

impl Shared {
    pub(super) fn new(streams: usize) -> Self {
        let streams = (0..streams).map(|_| Counters::default()).collect();
        Self { now: AtomicU64::new(0), streams }
    }

    pub(super) fn set_now(&self, now: SimTime) {
        self.now.store(now.as_nanos(), Relaxed);
    }

    pub(super) fn update(&self, stream: StreamIndex, streams: &SendBuffer) {
        let (counters, buffer) = (&self.streams[stream], &streams.streams()[stream]);
        counters.held.store(buffer.backlog() > 0 && !streams.is_occupied(stream), Relaxed);
        counters.backlog.store(buffer.backlog(), Relaxed);
        counters.messages.store(buffer.messages() as u64, Relaxed);
        let head = buffer.head_created().map_or(0, SimTime::as_nanos);
        counters.head_created.store(head, Relaxed);
        counters.last_sojourn_sum.store(buffer.sojourn_sum(SimTime::MAX) as u64, Relaxed);
    }
}

/// A stream of a connection, as it is at the time of the packet being filled.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct Stream {
    shared: Arc<Shared>,
    #[pyo3(get)]
    number: usize,
    #[pyo3(get)]
    weight: f64,
    attributes: Attributes,
}

impl Stream {
    pub(super) fn new(
        shared: &Arc<Shared>,
        number: usize,
        weight: f64,
        attributes: Attributes,
    ) -> Self {
        Self { shared: Arc::clone(shared), number, weight, attributes }
    }

    /// Its number, if it is of this connection.
    pub(super) fn of(&self, shared: &Arc<Shared>) -> Option<usize> {
        Arc::ptr_eq(&self.shared, shared).then_some(self.number)
    }

    fn counters(&self) -> &Counters {
        &self.shared.streams[StreamIndex::from(self.number)]
    }

    fn now(&self) -> u64 {
        self.shared.now.load(Relaxed)
    }
}

#[pymethods]
impl Stream {
    #[getter]
    fn held(&self) -> bool {
        self.counters().held.load(Relaxed)
    }

    #[getter]
    fn backlog(&self) -> u64 {
        self.counters().backlog.load(Relaxed)
    }

    #[getter]
    fn messages(&self) -> u64 {
        self.counters().messages.load(Relaxed)
    }

    #[getter]
    fn head_age(&self) -> f64 {
        if self.messages() == 0 {
            return 0.0;
        }
        let created = self.counters().head_created.load(Relaxed);
        self.now().saturating_sub(created) as f64 / NANOS_PER_SEC
    }

    #[getter]
    fn sojourn_sum(&self) -> f64 {
        let rest = (u64::MAX - self.now()).wrapping_mul(self.messages());
        self.counters().last_sojourn_sum.load(Relaxed).wrapping_sub(rest) as f64 / NANOS_PER_SEC
    }

    #[getter]
    fn urgency(&self) -> u8 {
        self.attributes.urgency
    }

    #[getter]
    fn incremental(&self) -> bool {
        self.attributes.incremental
    }

    #[getter]
    fn deadline(&self) -> Option<f64> {
        let lifetime = self.attributes.deadline.filter(|_| self.messages() > 0)?;
        let created = self.counters().head_created.load(Relaxed);
        let left = i128::from(created) + i128::from(lifetime.as_nanos()) - i128::from(self.now());
        Some(left as f64 / NANOS_PER_SEC)
    }

    /// Like that of its number: sets of streams have the same order in every run, as by address they would not.
    fn __hash__(&self) -> usize {
        self.number
    }

    fn __repr__(&self) -> String {
        format!("<Stream {}: {} bytes waiting>", self.number, self.backlog())
    }
}
