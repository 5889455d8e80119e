//! The two ends of a flow.

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Sends the flow's data.
    Sender = 0,
    /// Receives it.
    Receiver = 1,
}

impl End {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}
