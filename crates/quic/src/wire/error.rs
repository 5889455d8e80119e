//! Errors of a connection (RFC 9000 sections 11 and 20).

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use super::frame::Close;

/// An error code of the transport (RFC 9000 section 20.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub u64);

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+) => {
        impl ErrorCode {
            $($(#[doc = $doc])+ pub const $name: Self = Self($code);)+

            /// Its name in the registry of RFC 9000, if it is there.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($code => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// The connection closes without an error.
    NO_ERROR = 0x00,
    /// The endpoint cannot continue for a reason of its own.
    INTERNAL_ERROR = 0x01,
    /// The server refuses the connection.
    CONNECTION_REFUSED = 0x02,
    /// More data than the advertised limits allow.
    FLOW_CONTROL_ERROR = 0x03,
    /// A stream beyond the advertised limit.
    STREAM_LIMIT_ERROR = 0x04,
    /// A frame that the state of its stream does not allow.
    STREAM_STATE_ERROR = 0x05,
    /// A final size that contradicts data or another final size.
    FINAL_SIZE_ERROR = 0x06,
    /// A malformed frame.
    FRAME_ENCODING_ERROR = 0x07,
    /// Malformed, invalid, missing or forbidden transport parameters.
    TRANSPORT_PARAMETER_ERROR = 0x08,
    /// More connection IDs than the advertised limit allows.
    CONNECTION_ID_LIMIT_ERROR = 0x09,
    /// Any other violation of the protocol.
    PROTOCOL_VIOLATION = 0x0a,
    /// A client's Initial packet with an invalid Retry token.
    INVALID_TOKEN = 0x0b,
    /// The application closed the connection; stands for its own code in Initial and Handshake packets.
    APPLICATION_ERROR = 0x0c,
    /// More CRYPTO data than can be buffered.
    CRYPTO_BUFFER_EXCEEDED = 0x0d,
    /// An error in updating keys (RFC 9001 section 6).
    KEY_UPDATE_ERROR = 0x0e,
    /// The keys have reached the limits of their AEAD (RFC 9001 section 6.6).
    AEAD_LIMIT_REACHED = 0x0f,
    /// No path can carry packets.
    NO_VIABLE_PATH = 0x10,
    /// A path is abandoned at the application's request (draft-ietf-quic-multipath section 4.2.1).
    APPLICATION_ABANDON_PATH = 0x3e,
    /// A path is abandoned for lack of resources.
    PATH_RESOURCE_LIMIT_REACHED = 0x3e75,
    /// A path is abandoned because it does not work, or badly.
    PATH_UNSTABLE_OR_POOR = 0x3e76,
    /// A path is abandoned for lack of a connection ID.
    NO_CID_AVAILABLE_FOR_PATH = 0x3e77,
}

impl ErrorCode {
    /// The code of a TLS alert: `CRYPTO_ERROR` (RFC 9001 section 4.8).
    pub const fn crypto(alert: u8) -> Self {
        Self(0x0100 + alert as u64)
    }

    /// Whether the end that closes with this code cannot go on, though the other end broke no rule.
    pub(crate) const fn blames_this_end(self) -> bool {
        matches!(self, Self::INTERNAL_ERROR | Self::AEAD_LIMIT_REACHED)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name(), self.0) {
            (Some(name), _) => f.write_str(name),
            (None, code @ 0x0100..=0x01ff) => write!(f, "CRYPTO_ERROR (TLS alert {})", code & 0xff),
            (None, code) => write!(f, "error {code:#x}"),
        }
    }
}

/// An error that closes the connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct TransportError {
    /// Its code.
    pub code: ErrorCode,
    /// Type of the frame that caused it, if it was a frame.
    pub frame_type: Option<u64>,
    /// Its cause, for people.
    pub reason: Cow<'static, str>,
}

impl TransportError {
    /// An error that no particular frame caused.
    #[cold]
    pub fn new(code: ErrorCode, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { code, frame_type: None, reason: reason.into() }
    }

    /// The same error, caused by a frame of this type.
    #[cold]
    pub fn in_frame(self, frame_type: u64) -> Self {
        Self { frame_type: Some(frame_type), ..self }
    }

    /// The fields of the `CONNECTION_CLOSE` frame that reports it (RFC 9000 section 19.19).
    pub fn close(&self) -> Close {
        Close {
            code: self.code.0,
            frame_type: Some(self.frame_type.unwrap_or(0)),
            reason: Bytes::copy_from_slice(self.reason.as_bytes()),
        }
    }
}
