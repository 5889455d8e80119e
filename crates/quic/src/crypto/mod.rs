//! The cryptography of a connection (RFC 9001): a handshake that yields keys, and keys that protect packets. Both exist
//! twice: `null` keeps all sizes and costs nothing, `tls` is TLS 1.3, and a feature.

mod handshake;
mod keys;
mod null;
mod one_rtt;
mod protection;
mod retry;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use leobench_transport::Role;

use crate::wire::TransportError;
pub(crate) use handshake::Handshake;
pub(crate) use keys::Cipher;
pub use null::{NullHandshake, NullKeys};
pub(crate) use protection::{Opened, Protection, Receive};
#[cfg(feature = "tls")]
pub use tls::Certificate;
pub use tls::TlsSettings;
pub(crate) use tls::{TlsConfig, TlsHandshake};
#[cfg(test)]
use {handshake::KeyChange, keys::Keys};

/// Receives lines of an NSS key log, without line ends.
pub type KeyLog = Arc<dyn Fn(&str) + Send + Sync>;

/// How the connections of an endpoint are secured.
#[derive(Clone)]
pub(crate) enum Crypto {
    /// By nothing: a handshake of the usual sizes, and tags that tell the packet number only.
    Null,
    /// By TLS 1.3.
    Tls(TlsConfig),
}

impl Crypto {
    /// Starts a handshake that sends these encoded transport parameters.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if TLS cannot start.
    pub(crate) fn start(
        &self,
        role: Role,
        params: Vec<u8>,
    ) -> Result<Box<dyn Handshake>, TransportError> {
        Ok(match self {
            Self::Null => Box::new(NullHandshake::new(role, params)),
            Self::Tls(config) => Box::new(TlsHandshake::new(config, params)?),
        })
    }

    /// Logs the secrets of the connections, of which `null` has none.
    pub(crate) fn log_secrets(&mut self, log: KeyLog) {
        if let Self::Tls(config) = self {
            config.log_secrets(log);
        }
    }

    /// The protection of packets.
    pub(crate) const fn cipher(&self) -> Cipher {
        match self {
            Self::Null => Cipher::Null,
            Self::Tls(_) => Cipher::Tls,
        }
    }
}
