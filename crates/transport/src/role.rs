//! Who speaks first.

/// Who speaks first on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Opens the connection.
    Client,
    /// Accepts it.
    Server,
}
