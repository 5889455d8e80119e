//! The network in which the endpoints of transports are built.

use std::io;
use std::net::IpAddr;

use leobench_base::End;
use leobench_quic::{KeyLog, QlogWriter};
use leobench_transport::EndpointError;
use leobench_transport::tcp::Ports;

use crate::capture::CaptureError;

/// The network around an end of a flow that is being built.
pub trait FlowNetwork {
    /// Opens the qlog of this end, if qlogs are written.
    ///
    /// # Errors
    /// If the file cannot be created.
    fn qlog(&mut self) -> Result<Option<QlogWriter>, EndpointFault>;

    /// Opens the log of the secrets of this flow's connection, if packets are captured.
    ///
    /// # Errors
    /// If the file cannot be created.
    fn key_log(&self) -> Result<Option<KeyLog>, EndpointFault>;

    /// The address of the node that answers at one of its links.
    ///
    /// # Errors
    /// If there is no such link.
    fn answerer_address(&self, link: &str) -> Result<IpAddr, EndpointFault>;

    /// Further addresses of the node that opens the connection, by which its packets do not leave at the start.
    ///
    /// # Errors
    /// If the flow's nodes do not exist.
    fn other_interfaces(&self) -> Result<Vec<IpAddr>, EndpointFault>;

    /// Ports for at least `count` connections of this flow, from the range of the senders or the receivers of all flows.
    ///
    /// # Errors
    /// If the flows need more ports than there are.
    fn ports(&self, of: End, count: usize) -> Result<Ports, EndpointFault>;
}

/// Why an end of a flow could not be built.
#[derive(Debug, thiserror::Error)]
pub enum EndpointFault {
    /// The endpoint cannot be made.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Its qlog cannot be opened.
    #[error("the qlog: {0}")]
    Qlog(#[source] io::Error),
    /// The log of its secrets cannot be opened.
    #[error(transparent)]
    KeyLog(#[from] CaptureError),
    /// The network lacks something that it needs.
    #[error(transparent)]
    Unsound(#[from] Unsound),
}

/// A contradiction in a scenario that was not checked: it names what does not exist, or leaves out what it must say.
#[derive(Debug, thiserror::Error)]
#[error("the scenario is invalid: {0}")]
pub struct Unsound(pub String);
