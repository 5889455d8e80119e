//! A QUIC connection for Python programs, which hand it datagrams and the time.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use leobench_base::SimTime;
use leobench_base::spec::{At, Spec, Value};
use leobench_quic::wire::Directionality;
use leobench_quic::{
    ByteConfig, ByteConnection, ByteEvent, Certificate, Protected, QuicSpec, Sessions, TlsSettings,
};
use leobench_transport::Role;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::errors::{InputError, RunError};

/// A datagram, and the host and port that it is for.
type Addressed<'py> = (Bound<'py, PyBytes>, (String, u16));

/// One end of a connection. `leobench.quic.Connection` checks what it is given.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct QuicConnection(Mutex<ByteConnection>);

impl QuicConnection {
    fn lock(&self) -> MutexGuard<'_, ByteConnection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    RunError::new_err(error.to_string())
}

fn invalid(error: impl std::fmt::Display) -> PyErr {
    InputError::new_err(error.to_string())
}

const fn time(nanos: u64) -> SimTime {
    SimTime::from_nanos(nanos)
}

/// The tickets of earlier connections.
#[pyclass(module = "leobench._core", frozen)]
pub(crate) struct QuicSessions(Sessions);

#[pymethods]
impl QuicSessions {
    #[new]
    fn new(early_data: bool) -> Self {
        Self(Sessions::new(early_data))
    }

    fn with_early(&self, early_data: bool) -> Self {
        Self(self.0.with_early(early_data))
    }
}

#[pymethods]
impl QuicConnection {
    /// `parameters` are those of a `quic` transport, as JSON; certificate and key are in DER.
    #[new]
    #[pyo3(signature = (
        is_client, now, parameters, server_name, certificate, private_key, protocols, streams,
        datagrams, seed, sessions
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn new(
        is_client: bool,
        now: u64,
        parameters: &str,
        server_name: String,
        certificate: Vec<u8>,
        private_key: Vec<u8>,
        protocols: Vec<Vec<u8>>,
        streams: (u64, u64),
        datagrams: bool,
        seed: u64,
        sessions: Option<&QuicSessions>,
    ) -> PyResult<Self> {
        let value: Value = serde_json::from_str(parameters).map_err(invalid)?;
        let spec = QuicSpec::read(&value, &At::ROOT).map_err(invalid)?;
        let certificate = Certificate { certificate, key: private_key };
        let sessions = sessions.map(|sessions| sessions.0.clone());
        let tls = TlsSettings { server_name, certificate, protocols, key_log: None, sessions };
        let config = ByteConfig {
            role: if is_client { Role::Client } else { Role::Server },
            tls: (spec.protection == Protected::Tls).then_some(tls),
            spec,
            bidirectional: streams.0,
            unidirectional: streams.1,
            datagrams,
            seed,
        };
        let connection = ByteConnection::new(&config, time(now)).map_err(invalid)?;
        Ok(Self(Mutex::new(connection)))
    }

    /// `source` is the peer's address and port, where it is known to be if not given.
    #[pyo3(signature = (now, datagram, source = None))]
    fn receive(&self, now: u64, datagram: &[u8], source: Option<(IpAddr, u16)>) -> PyResult<()> {
        let datagram = BytesMut::from(datagram);
        let received = match source {
            Some(source) => self.lock().receive_from(time(now), source.into(), datagram),
            None => self.lock().receive(time(now), datagram),
        };
        received.map_err(failed)
    }

    /// Datagrams, and where each is to go.
    fn transmit_to<'py>(&self, py: Python<'py>, now: u64) -> PyResult<Vec<Addressed<'py>>> {
        let mut connection = self.lock();
        let mut datagrams = Vec::new();
        while let Some((datagram, to)) = connection.transmit_to(time(now)).map_err(failed)? {
            datagrams.push((PyBytes::new(py, &datagram), (to.ip().to_string(), to.port())));
        }
        Ok(datagrams)
    }

    fn transmit<'py>(&self, py: Python<'py>, now: u64) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let mut connection = self.lock();
        let mut datagrams = Vec::new();
        while let Some(datagram) = connection.transmit(time(now)).map_err(failed)? {
            datagrams.push(PyBytes::new(py, &datagram));
        }
        Ok(datagrams)
    }

    fn timer(&self, now: u64) -> Option<u64> {
        self.lock().timer(time(now)).map(SimTime::as_nanos)
    }

    fn on_timer(&self, now: u64) {
        self.lock().on_timer(time(now));
    }

    /// The next event: its name and what its class takes.
    fn next_event<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(&'static str, Bound<'py, PyTuple>)>> {
        let Some(event) = self.lock().next_event() else { return Ok(None) };
        Ok(Some(match event {
            ByteEvent::Established => ("HandshakeCompleted", PyTuple::empty(py)),
            ByteEvent::Data { id, data } => {
                ("StreamData", (id, PyBytes::new(py, &data)).into_pyobject(py)?)
            }
            ByteEvent::Finished { id } => ("StreamFinished", (id,).into_pyobject(py)?),
            ByteEvent::Reset { id, code } => ("StreamReset", (id, code).into_pyobject(py)?),
            ByteEvent::Stopped { id, code } => ("StreamStopped", (id, code).into_pyobject(py)?),
            ByteEvent::Acked { id } => ("StreamAcknowledged", (id,).into_pyobject(py)?),
            ByteEvent::DatagramReceived { data } => {
                ("DatagramReceived", (PyBytes::new(py, &data),).into_pyobject(py)?)
            }
            ByteEvent::DatagramAcked { number } => {
                ("DatagramAcknowledged", (number,).into_pyobject(py)?)
            }
            ByteEvent::DatagramLost { number } => ("DatagramLost", (number,).into_pyobject(py)?),
            ByteEvent::Lost { reason, close } => {
                let close = close.map(|close| {
                    let phrase = String::from_utf8_lossy(&close.reason).into_owned();
                    (close.code, close.by_application, phrase)
                });
                ("ConnectionLost", (reason, close).into_pyobject(py)?)
            }
        }))
    }

    fn open(&self, unidirectional: bool) -> Option<u64> {
        self.lock().open(if unidirectional {
            Directionality::Unidirectional
        } else {
            Directionality::Bidirectional
        })
    }

    fn write(&self, stream: u64, data: &[u8]) -> bool {
        self.lock().write(stream, data)
    }

    fn finish(&self, stream: u64) -> bool {
        self.lock().finish(stream)
    }

    fn reset(&self, stream: u64, code: u64) -> bool {
        self.lock().reset(stream, code)
    }

    fn stop(&self, now: u64, stream: u64, code: u64) -> bool {
        self.lock().stop(time(now), stream, code)
    }

    fn send_datagram(&self, data: &[u8]) -> Option<u64> {
        self.lock().send_datagram(data).ok()
    }

    fn largest_datagram(&self) -> Option<u64> {
        self.lock().largest_datagram()
    }

    fn close(&self, now: u64, code: u64, reason: &str) {
        self.lock().close(time(now), code, reason);
    }

    fn update_keys(&self, now: u64) -> bool {
        self.lock().update_keys(time(now))
    }

    fn early_data(&self) -> Option<bool> {
        self.lock().early_data()
    }

    fn is_closed(&self) -> bool {
        self.lock().is_closed()
    }
}
