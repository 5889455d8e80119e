//! Client and server.

/// The role of an end: which of the two opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens the connection.
    Client,
    /// Accepts it.
    Server,
}
