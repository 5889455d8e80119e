//! The cryptography of a connection (RFC 9001): a handshake that yields keys, and keys that protect packets. Both exist
//! twice: `null` keeps all sizes and costs nothing, `tls` is TLS 1.3, and a feature.

mod early;
mod handshake;
mod keys;
mod null;
mod one_rtt;
mod protection;
mod retry_tag;
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
pub(crate) use early::Earlier;
pub(crate) use handshake::Handshake;
pub(crate) use keys::Cipher;
pub use null::{NullHandshake, NullKeys};
pub(crate) use protection::{Opened, Protection, Receive};
pub use tls::TlsSettings;
#[cfg(feature = "tls")]
pub use tls::{Certificate, Sessions};
pub(crate) use tls::{TlsConfig, TlsHandshake};
#[cfg(test)]
use {handshake::KeyChange, keys::Keys};

/// Receives lines of an NSS key log, without line ends.
pub type KeyLog = Arc<dyn Fn(&str) + Send + Sync>;

/// How the connections of an endpoint are secured.
#[derive(Clone)]
pub(crate) enum Crypto {
    /// By nothing: a handshake of the usual sizes, and tags that tell the packet number only. With an earlier connection that
    /// may be resumed, if there is one.
    Null(Option<Box<Earlier>>),
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
            Self::Null(earlier) => {
                Box::new(NullHandshake::after(role, params, earlier.as_deref().cloned()))
            }
            Self::Tls(config) => Box::new(TlsHandshake::new(config, params)?),
        })
    }

    /// Logs the secrets of the connections, of which `null` has none.
    pub(crate) fn log_secrets(&mut self, log: KeyLog) {
        if let Self::Tls(config) = self {
            config.log_secrets(log);
        }
    }

    /// The same for a further connection: a ticket serves once (RFC 8446 sections 8.1 and C.4). TLS sees to that itself.
    pub(crate) fn for_another(&self) -> Self {
        match self {
            Self::Null(_) => Self::Null(None),
            Self::Tls(config) => Self::Tls(config.clone()),
        }
    }

    /// The protection of packets.
    pub(crate) const fn cipher(&self) -> Cipher {
        match self {
            Self::Null(_) => Cipher::Null,
            Self::Tls(_) => Cipher::Tls,
        }
    }
}
