//! Why a network cannot be built from a scenario.

use std::io;

use leobench_base::End;
use leobench_base::spec::Fault;
use leobench_transport::EndpointError;

use crate::capture::CaptureError;
use crate::network::{ApplicationError, NetworkError};
use crate::record::SinkError;
use crate::scenario::{EndpointFault, Unsound};

/// Why a network could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A channel cannot be built.
    #[error("links.{link}: channel: {} {}; allowed: {}", .fault.field, .fault.problem, .fault.allowed)]
    Channel {
        /// Name of its link.
        link: String,
        /// The faulty field of the channel, the problem, and the allowed values.
        fault: Fault,
    },
    /// The limit of a queue does not come to anything.
    #[error("links.{link}: queue: {} {}; allowed: {}", .fault.field, .fault.problem, .fault.allowed)]
    Queue {
        /// Name of its link.
        link: String,
        /// The faulty field of the queue, the problem, and the allowed values.
        fault: Fault,
    },
    /// An endpoint cannot be built.
    #[error("flow `{flow}`: {error}")]
    Endpoint {
        /// Name of its flow.
        flow: String,
        /// Error of the endpoint.
        error: EndpointError,
    },
    /// An application cannot be built.
    #[error("flow `{flow}`: {error}")]
    Application {
        /// Name of its flow.
        flow: String,
        /// Error of the application.
        error: ApplicationError,
    },
    /// The scenario was not checked.
    #[error(transparent)]
    Unsound(#[from] Unsound),
    /// A qlog cannot be opened.
    #[error("the qlog of the {end} of flow `{flow}`: {error}")]
    Qlog {
        /// Name of the flow.
        flow: String,
        /// Which end of it.
        end: &'static str,
        /// Why not.
        error: io::Error,
    },
    /// There is no socket for the end of a flow.
    #[error("the {} of flow `{flow}`: {error}", .end.name())]
    Socket {
        /// Name of the flow.
        flow: String,
        /// Which end of it.
        end: End,
        /// Why not.
        error: io::Error,
    },
    /// Results cannot be written.
    #[error(transparent)]
    Sink(#[from] SinkError),
    /// Packet captures cannot be written.
    #[error(transparent)]
    Capture(#[from] CaptureError),
}

impl BuildError {
    /// The same about an end of a flow.
    pub(super) fn endpoint(flow: &str, end: End, fault: EndpointFault) -> Self {
        let flow = flow.to_owned();
        match fault {
            EndpointFault::Endpoint(error) => Self::Endpoint { flow, error },
            EndpointFault::Qlog(error) => Self::Qlog { flow, end: end.name(), error },
            EndpointFault::KeyLog(error) => Self::Capture(error),
            EndpointFault::Unsound(problem) => Self::Unsound(problem),
        }
    }
}

impl From<NetworkError> for BuildError {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Sink(error) => Self::Sink(error),
            NetworkError::Capture(error) => Self::Capture(error),
            NetworkError::Limit(error) => unsound(error.to_string()),
            NetworkError::Instant(error) => unsound(error.to_string()),
            NetworkError::Application { flow, error } => Self::Application { flow, error },
            NetworkError::Flow { flow, error } => unsound(format!("{flow}: {error}")),
        }
    }
}

pub(super) fn unsound(problem: impl Into<String>) -> BuildError {
    Unsound(problem.into()).into()
}
