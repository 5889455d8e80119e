//! Stream schedulers written in Python.

mod stream;

use std::sync::Arc;

use leobench_base::{SimTime, StreamIndex};
use leobench_transport::buffer::SendBuffer;
use leobench_transport::endpoint;
use leobench_transport::plugin::PluginScheduler;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use typed_index_collections::{TiSlice, TiVec, ti_vec};

use stream::Shared;
pub(crate) use stream::Stream;

use crate::answers::{shown, unless_interrupted, whole};
use crate::forecast::Forecast;
use crate::raised::raised;
use crate::watch::Watch;

/// Pairs without bytes, in all, that an answer may have; more than any scheduler of our own returns. An answer without
/// an end is noticed by then.
const MOST_EMPTY: usize = 10_000;

/// Description of the value that `schedule` returns, for messages.
const PAIRS: &str = "a list of pairs of a stream and its bytes, such as `[(streams[0], 1000)]`";

/// Whether the scheduler declares that it fills packets; false by default.
fn fills_packets(scheduler: &Bound<'_, PyAny>) -> PyResult<bool> {
    scheduler.getattr_opt("fills_packets")?.map_or(Ok(false), |promise| promise.is_truthy())
}

/// A scheduler of the user's for one connection.
pub(crate) struct PythonScheduler {
    /// The bound method.
    schedule: Py<PyAny>,
    fills_packets: bool,
    /// Changed streams for the next calls of `on_change`, if the scheduler has that method.
    changes: Option<Changes>,
    /// The bound method that is told of forecasts, if the scheduler has it.
    on_forecast: Option<Py<PyAny>>,
    weights: Vec<f64>,
    shared: Arc<Shared>,
    /// The streams as Python sees them; made on first use, because their attributes are known then.
    streams: TiVec<StreamIndex, Py<Stream>>,
    /// By stream: whether it has bytes waiting and is not held.
    occupied: TiVec<StreamIndex, bool>,
    /// The streams that have, as long as they are the same.
    waiting: Option<Py<PyTuple>>,
    watch: Arc<Watch>,
}

/// Streams that have changed since the last packet, each once.
struct Changes {
    /// The bound method that is told.
    on_change: Py<PyAny>,
    changed: Vec<StreamIndex>,
    has_changed: TiVec<StreamIndex, bool>,
}

impl Changes {
    fn new(on_change: Py<PyAny>, streams: usize) -> Self {
        Self { on_change, changed: Vec::new(), has_changed: ti_vec![false; streams] }
    }

    fn add(&mut self, stream: StreamIndex) {
        if !std::mem::replace(&mut self.has_changed[stream], true) {
            self.changed.push(stream);
        }
    }

    fn tell(&mut self, py: Python<'_>, streams: &TiSlice<StreamIndex, Py<Stream>>) -> PyResult<()> {
        for stream in self.changed.drain(..) {
            self.has_changed[stream] = false;
            self.on_change.call1(py, (&streams[stream],))?;
        }
        Ok(())
    }
}

impl PluginScheduler for PythonScheduler {
    fn fills_packets(&self) -> bool {
        self.fills_packets
    }

    fn on_change(&mut self, stream: StreamIndex, streams: &SendBuffer) {
        self.shared.update(stream, streams);
        if let Some(changes) = &mut self.changes {
            changes.add(stream);
        }
        let occupied = streams.is_occupied(stream);
        if self.occupied[stream] != occupied {
            self.occupied[stream] = occupied;
            self.waiting = None;
        }
    }

    fn on_forecast(&mut self, now: SimTime, forecast: &endpoint::Forecast) -> Result<(), String> {
        self.shared.set_now(now);
        Forecast::tell(self.on_forecast.as_ref(), now, forecast)
    }

    fn choose(
        &mut self,
        now: SimTime,
        streams: &SendBuffer,
        room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String> {
        self.shared.set_now(now);
        let watch = Arc::clone(&self.watch);
        Python::attach(|py| {
            watch.during(|| {
                let returned = self.call(py, now, streams, room);
                self.read(&returned.map_err(|error| raised(py, &error))?, room, requests)
            })
        })
    }
}

impl PythonScheduler {
    /// The scheduler of a connection whose streams have these weights.
    pub(crate) fn new(
        object: &Bound<'_, PyAny>,
        weights: &[f64],
        watch: Arc<Watch>,
    ) -> PyResult<Self> {
        let schedule = object.getattr("schedule")?;
        let on_change = object.getattr_opt("on_change")?;
        let on_forecast = object.getattr_opt("on_forecast")?;
        let streams = weights.len();
        Ok(Self {
            schedule: schedule.unbind(),
            fills_packets: fills_packets(object)?,
            changes: on_change.map(|on_change| Changes::new(on_change.unbind(), streams)),
            on_forecast: on_forecast.map(Bound::unbind),
            weights: weights.to_vec(),
            shared: Arc::new(Shared::new(streams)),
            streams: TiVec::new(),
            occupied: ti_vec![false; streams],
            waiting: None,
            watch,
        })
    }

    fn call<'py>(
        &mut self,
        py: Python<'py>,
        now: SimTime,
        streams: &SendBuffer,
        room: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let waiting = self.waiting(py, streams)?;
        if let Some(changes) = &mut self.changes {
            changes.tell(py, &self.streams)?;
        }
        self.schedule.bind(py).call1((now.as_secs_f64(), waiting, room))
    }

    /// The streams that have bytes waiting and are not held, in order.
    fn waiting<'py>(
        &mut self,
        py: Python<'py>,
        streams: &SendBuffer,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if self.streams.is_empty() {
            let views = streams.streams().iter().zip(&self.weights).enumerate();
            let views = views.map(|(number, (buffer, weight))| {
                Py::new(py, Stream::new(&self.shared, number, *weight, buffer.attributes()))
            });
            self.streams = views.collect::<PyResult<_>>()?;
        }
        if let Some(waiting) = &self.waiting {
            return Ok(waiting.bind(py).clone());
        }
        let all = self.streams.iter().zip(&self.occupied);
        let waiting: Vec<_> = all.filter_map(|(view, waits)| waits.then_some(view)).collect();
        let waiting = PyTuple::new(py, waiting)?;
        self.waiting = Some(waiting.clone().unbind());
        Ok(waiting)
    }

    /// Reads what `schedule` returned, up to where the packet is more than full: there may be no end.
    fn read(
        &self,
        returned: &Bound<'_, PyAny>,
        room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String> {
        let py = returned.py();
        let items = returned.try_iter().map_err(|error| {
            if error.is_instance_of::<PyTypeError>(py) {
                return format!("returned {}; allowed: {PAIRS}", shown(returned));
            }
            raised(py, &error)
        })?;
        let (mut sum, mut empty) = (0_u64, 0);
        for item in items {
            let item = item.map_err(|error| raised(py, &error))?;
            let Some((stream, bytes)) = pair(&item)? else {
                return Err(format!(
                    "returned {} instead of a pair; allowed: {PAIRS}",
                    shown(&item)
                ));
            };
            let number = self.number(&stream)?;
            let bytes = whole(&bytes)?.ok_or_else(|| {
                let bytes = shown(&bytes);
                format!("gave stream {number} {bytes} bytes; allowed: a whole number from 0")
            })?;
            requests.push((number, bytes));
            sum = sum.saturating_add(bytes);
            empty += usize::from(bytes == 0);
            if sum > room {
                break;
            }
            if empty > MOST_EMPTY.max(self.occupied.len()) {
                let allowed = "pairs with bytes, or the end of the list";
                return Err(format!(
                    "returned {empty} pairs without bytes for one packet; allowed: {allowed}"
                ));
            }
        }
        Ok(())
    }

    /// The number of a stream, given as itself or by its number.
    fn number(&self, stream: &Bound<'_, PyAny>) -> Result<usize, String> {
        if let Ok(view) = stream.cast::<Stream>() {
            let number = view.get().of(&self.shared);
            return number.ok_or_else(|| "chose a stream of another connection".into());
        }
        let number = whole(stream)?.and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| {
            let streams = "one of the streams, or its number";
            format!("chose {}, which is not a stream; allowed: {streams}", shown(stream))
        })
    }
}

/// The two items of a sequence, whether a tuple, a list, or the row of an array.
fn pair<'py>(item: &Bound<'py, PyAny>) -> Result<Option<Pair<'py>>, String> {
    if let Ok(tuple) = item.cast::<PyTuple>() {
        return Ok(tuple.extract().ok());
    }
    let items = item.len().and_then(|length| match length {
        2 => Ok(Some((item.get_item(0)?, item.get_item(1)?))),
        _ => Ok(None),
    });
    items.or_else(|error| unless_interrupted(item.py(), &error))
}

type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);
