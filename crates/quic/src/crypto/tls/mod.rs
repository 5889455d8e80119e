//! The handshake of TLS 1.3 (RFC 8446), by rustls.

mod certificate;
mod keys;
mod sessions;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use certificate::Certificate;
use keys::direction;
pub(super) use keys::{TlsHeaderKey, TlsPacketKey, TlsSecrets, directions, initial, retry_tag};
use leobench_transport::Role;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::quic::{ClientConnection, Connection, ServerConnection, Version};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};
pub use sessions::Sessions;

use super::early::EarlyKeys;
use super::handshake::{Handshake, KeyChange, check_level, reading};
use super::keys::{Directional, Keys, Next};
use super::{Earlier, KeyLog};
use crate::wire::{ErrorCode, Level, TransportError, TransportParameters};

/// TLS alerts (RFC 8446 section 6.2); the last two are those that QUIC itself raises (RFC 9001 sections 8.1 and 8.2).
const DECODE_ERROR: u8 = 50;
const MISSING_EXTENSION: u8 = 109;
const NO_APPLICATION_PROTOCOL: u8 = 120;

/// The simulated server's name, and its application protocol.
const SERVER_NAME: &str = "leobench";
/// The seed of the simulated server's key. A simulated server has no secrets.
const KEY_SEED: [u8; 32] = [0x6c; 32];

/// Settings that both ends of a TLS handshake share.
#[derive(Clone)]
pub struct TlsSettings {
    /// The server's name, which the client asks for.
    pub server_name: String,
    /// The server's certificate and key. A client accepts this certificate only.
    pub certificate: Certificate,
    /// Application protocols, the preferred one first; QUIC demands one at least (RFC 9001 section 8.1).
    pub protocols: Vec<Vec<u8>>,
    /// The log of the secrets, if they are logged.
    pub key_log: Option<KeyLog>,
    /// Earlier connections that may be resumed, if any may.
    pub sessions: Option<Sessions>,
}

/// The configuration of one end.
#[derive(Clone)]
pub(crate) enum TlsConfig {
    Client(Arc<ClientConfig>, ServerName<'static>),
    Server(Arc<ServerConfig>),
}

impl TlsConfig {
    /// Configures a client.
    ///
    /// # Errors
    /// A message for people if the settings are invalid.
    pub(crate) fn client(settings: &TlsSettings) -> Result<Self, String> {
        Self::client_by(provider(), settings)
    }

    /// The same with another source of randomness.
    fn client_by(provider: CryptoProvider, settings: &TlsSettings) -> Result<Self, String> {
        let provider = Arc::new(provider);
        let certificate = settings.certificate.chain().swap_remove(0);
        let verifier = Pinned { certificate, provider: Arc::clone(&provider) };
        let sessions = settings.sessions.clone().unwrap_or_else(|| Sessions::new(false));
        let mut config = ClientConfig::builder_with_details(provider, Arc::new(NoTime))
            .with_protocol_versions(&[&TLS13])
            .map_err(|error| error.to_string())?
            .dangerous()
            .with_custom_certificate_verifier(sessions.verifier(verifier))
            .with_client_cert_resolver(sessions.anonymous());
        config.alpn_protocols.clone_from(&settings.protocols);
        match &settings.sessions {
            Some(sessions) => sessions.resume(&mut config),
            None => config.resumption = Resumption::disabled(),
        }
        config.key_log = key_log(settings);
        let name = ServerName::try_from(settings.server_name.clone()).map_err(|error| {
            format!("server name {:?} is invalid: {error}", settings.server_name)
        })?;
        Ok(Self::Client(Arc::new(config), name))
    }

    /// Configures a server with these transport parameters.
    ///
    /// # Errors
    /// A message for people if the settings are invalid.
    pub(crate) fn server(
        settings: &TlsSettings,
        params: &TransportParameters,
    ) -> Result<Self, String> {
        Self::server_by(provider(), settings, params)
    }

    /// The same with another source of randomness.
    fn server_by(
        provider: CryptoProvider,
        settings: &TlsSettings,
        params: &TransportParameters,
    ) -> Result<Self, String> {
        let certificate = &settings.certificate;
        let mut config = ServerConfig::builder_with_details(Arc::new(provider), Arc::new(NoTime))
            .with_protocol_versions(&[&TLS13])
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(certificate.chain(), certificate.private_key())
            })
            .map_err(|error| format!("the certificate or its key is invalid: {error}"))?;
        config.alpn_protocols.clone_from(&settings.protocols);
        match &settings.sessions {
            Some(sessions) => sessions.issue(&mut config, params),
            None => config.send_tls13_tickets = 0,
        }
        config.key_log = key_log(settings);
        Ok(Self::Server(Arc::new(config)))
    }

    /// Configures an end of a simulated connection, whose ends share a certificate that never changes; after an `earlier` one, if
    /// there was one. The server has these transport parameters.
    ///
    /// # Errors
    /// A message for people if TLS refuses it.
    pub(crate) fn simulated(
        role: Role,
        params: &TransportParameters,
        earlier: Option<&Earlier>,
    ) -> Result<Self, String> {
        let mut settings = TlsSettings {
            server_name: SERVER_NAME.to_owned(),
            certificate: Certificate::self_signed(SERVER_NAME, &KEY_SEED),
            protocols: vec![SERVER_NAME.as_bytes().to_vec()],
            key_log: None,
            sessions: None,
        };
        if let Some(earlier) = earlier {
            let sessions = sessions::simulated(&settings, params)?;
            settings.sessions = Some(sessions.with_early(earlier.early));
        }
        let mut config = match role {
            Role::Client => Self::client(&settings)?,
            Role::Server => Self::server(&settings, params)?,
        };
        if let Self::Server(config) = &mut config {
            // Nothing comes after a simulated connection.
            Arc::make_mut(config).send_tls13_tickets = 0;
        }
        Ok(config)
    }

    /// Logs the secrets of later connections.
    pub(super) fn log_secrets(&mut self, log: KeyLog) {
        let log = Arc::new(Logged(log));
        match self {
            Self::Client(config, _) => Arc::make_mut(config).key_log = log,
            Self::Server(config) => Arc::make_mut(config).key_log = log,
        }
    }
}

/// The cryptography of *ring*; AES-128 is preferred, the cheapest.
fn provider() -> CryptoProvider {
    use ring::cipher_suite::{
        TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
    };
    let suites =
        [TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256];
    CryptoProvider { cipher_suites: suites.to_vec(), ..ring::default_provider() }
}

/// One end of a TLS handshake.
pub(crate) struct TlsHandshake {
    connection: Connection,
    has_handshake_keys: bool,
    /// Whether this end is a client that offers a ticket, and the server's parameters in the earlier connection if it also offers
    /// 0-RTT data.
    resumes: bool,
    remembered: Option<Vec<u8>>,
    /// Whether the keys of 0-RTT packets were yielded.
    yielded: bool,
}

impl TlsHandshake {
    /// The end with this configuration and its encoded transport parameters.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` if TLS cannot start.
    pub(crate) fn new(config: &TlsConfig, params: Vec<u8>) -> Result<Self, TransportError> {
        let connection = match config {
            TlsConfig::Client(config, name) => {
                ClientConnection::new(Arc::clone(config), Version::V1, name.clone(), params)
                    .map(Connection::Client)
            }
            TlsConfig::Server(config) => {
                ServerConnection::new(Arc::clone(config), Version::V1, params)
                    .map(Connection::Server)
            }
        };
        let connection = connection.map_err(|error| {
            TransportError::new(ErrorCode::INTERNAL_ERROR, format!("TLS cannot start: {error}"))
        })?;
        // rustls has the parameters of the earlier connection until it knows those of now.
        let known = connection.quic_transport_parameters();
        let early = connection.zero_rtt_keys().is_some();
        let remembered = known.filter(|_| early).map(<[u8]>::to_vec);
        let resumes = known.is_some();
        Ok(Self { connection, has_handshake_keys: false, resumes, remembered, yielded: false })
    }
}

impl Handshake for TlsHandshake {
    fn read(&mut self, level: Level, data: &[u8]) -> Result<(), TransportError> {
        check_level(level, reading(self.has_handshake_keys, self.is_complete()))?;
        if let Err(error) = self.connection.read_hs(data) {
            // rustls raises no alert of its own for bytes that are no handshake message.
            let code = match (self.connection.alert(), &error) {
                (Some(alert), _) => ErrorCode::crypto(u8::from(alert)),
                (None, rustls::Error::InvalidMessage(_)) => ErrorCode::crypto(DECODE_ERROR),
                (None, _) => ErrorCode::PROTOCOL_VIOLATION,
            };
            return Err(TransportError::new(code, error.to_string()));
        }
        if self.is_complete() {
            let crypto = |alert, reason: &'static str| {
                Err(TransportError::new(ErrorCode::crypto(alert), reason))
            };
            if self.peer_params().is_none() {
                return crypto(MISSING_EXTENSION, "the peer sent no transport parameters");
            }
            if self.connection.alpn_protocol().is_none() {
                return crypto(NO_APPLICATION_PROTOCOL, "no application protocol was agreed on");
            }
        }
        Ok(())
    }

    fn write(&mut self, out: &mut Vec<u8>) -> Option<KeyChange> {
        Some(match self.connection.write_hs(out)? {
            rustls::quic::KeyChange::Handshake { keys } => {
                self.has_handshake_keys = true;
                KeyChange {
                    level: Level::Handshake,
                    keys: Keys::tls(directions(keys), Next::Never),
                }
            }
            rustls::quic::KeyChange::OneRtt { keys, next } => {
                let next = Next::Tls(TlsSecrets::new(next));
                KeyChange { level: Level::OneRtt, keys: Keys::tls(directions(keys), next) }
            }
        })
    }

    fn peer_params(&self) -> Option<&[u8]> {
        let is_known = !self.resumes || self.is_complete();
        self.connection.quic_transport_parameters().filter(|_| is_known)
    }

    fn is_complete(&self) -> bool {
        !self.connection.is_handshaking()
    }

    fn early_keys(&mut self) -> Option<EarlyKeys> {
        if self.yielded {
            return None;
        }
        let keys = self.connection.zero_rtt_keys()?;
        self.yielded = true;
        Some(EarlyKeys::new(Directional::tls(direction(keys))))
    }

    fn remembered_params(&self) -> Option<&[u8]> {
        self.remembered.as_deref()
    }

    fn accepts_early(&self) -> bool {
        match &self.connection {
            Connection::Client(connection) => connection.is_early_data_accepted(),
            Connection::Server(_) => self.yielded,
        }
    }
}

/// Accepts one certificate, whatever the time.
#[derive(Debug)]
pub(super) struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end_entity == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::CertificateError::UnknownIssuer.into())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("QUIC has no TLS 1.2".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// A clock that stands still: nothing here expires.
#[derive(Debug)]
struct NoTime;

impl TimeProvider for NoTime {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::ZERO))
    }
}

/// Writes the secrets of TLS as lines of an NSS key log.
struct Logged(KeyLog);

impl fmt::Debug for Logged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Logged")
    }
}

impl rustls::KeyLog for Logged {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        (self.0)(&format!("{label} {} {}", hex(client_random), hex(secret)));
    }
}

fn key_log(settings: &TlsSettings) -> Arc<dyn rustls::KeyLog> {
    match &settings.key_log {
        Some(log) => Arc::new(Logged(Arc::clone(log))),
        None => Arc::new(rustls::NoKeyLog),
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0x0f)]).collect()
}
