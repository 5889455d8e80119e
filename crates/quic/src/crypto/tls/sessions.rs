//! Tickets of earlier connections (RFC 8446 sections 4.6.1 and 8.1): a client uses each once, and a server accepts it once.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::{ClientSessionMemoryCache, ResolvesClientCert, Resumption, Tls12Resumption};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup,
};
use rustls::quic::{ClientConnection, Connection, ServerConnection, Version};
use rustls::server::{ServerSessionMemoryCache, StoresServerSessions};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, NamedGroup, ServerConfig, SignatureScheme};

use super::{Pinned, TlsConfig, TlsSettings};
use crate::wire::TransportParameters;

/// Tickets that either end keeps at most.
const MOST_TICKETS: usize = 256;

/// The memory of earlier connections, for later ones. Copies share it.
#[derive(Clone)]
pub struct Sessions {
    /// Tickets of clients.
    tickets: Arc<ClientSessionMemoryCache>,
    /// The sessions that tickets of servers name.
    stored: Arc<ServerSessionMemoryCache>,
    /// The parts of a client's configuration that have to be the same when it uses a ticket.
    verifier: Arc<Mutex<Option<Arc<Pinned>>>>,
    anonymous: Arc<Anonymous>,
    /// Whether clients offer 0-RTT data, and servers accept it.
    early: bool,
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("early", &self.early).finish_non_exhaustive()
    }
}

impl Sessions {
    /// Sessions of which there are none yet, which allow `early` data or none.
    pub fn new(early: bool) -> Self {
        Self {
            tickets: Arc::new(ClientSessionMemoryCache::new(MOST_TICKETS)),
            stored: ServerSessionMemoryCache::new(MOST_TICKETS),
            verifier: Arc::default(),
            anonymous: Arc::new(Anonymous),
            early,
        }
    }

    /// The same, allowing `early` data or none from now on.
    pub fn with_early(&self, early: bool) -> Self {
        Self { early, ..self.clone() }
    }

    /// The verifier of clients that accept the certificate of `made`.
    pub(super) fn verifier(&self, made: Pinned) -> Arc<Pinned> {
        let mut kept = self.verifier.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(kept) if kept.certificate == made.certificate => Arc::clone(kept),
            _ => Arc::clone(kept.insert(Arc::new(made))),
        }
    }

    /// The certificates of clients, of which there are none.
    pub(super) fn anonymous(&self) -> Arc<dyn ResolvesClientCert> {
        Arc::clone(&self.anonymous) as Arc<dyn ResolvesClientCert>
    }

    /// Lets a client use its tickets.
    pub(super) fn resume(&self, config: &mut ClientConfig) {
        config.resumption = Resumption::store(Arc::clone(&self.tickets) as _)
            .tls12_resumption(Tls12Resumption::Disabled);
        config.enable_early_data = self.early;
    }

    /// Lets a server with these transport parameters issue and accept tickets.
    pub(super) fn issue(&self, config: &mut ServerConfig, params: &TransportParameters) {
        let stored = Arc::clone(&self.stored);
        config.session_storage = Arc::new(Limited { stored, params: params.clone() });
        config.send_tls13_tickets = 1;
        // RFC 9001 section 4.6.1: any other value is an error; flow control is the limit.
        config.max_early_data_size = if self.early { u32::MAX } else { 0 };
    }
}

/// The sessions of a server, which may have other limits now than when it issued a ticket.
#[derive(Debug)]
struct Limited {
    stored: Arc<ServerSessionMemoryCache>,
    params: TransportParameters,
}

impl Limited {
    /// The session in a stored value, unless a limit was larger then: the server would have to reject 0-RTT data (RFC 9000
    /// section 7.4.1), and has the client begin anew.
    fn session(&self, value: &[u8]) -> Option<Vec<u8>> {
        let (len, rest) = value.split_first_chunk::<4>()?;
        let (params, session) = rest.split_at_checked(u32::from_be_bytes(*len) as usize)?;
        let then = TransportParameters::of_server(params).ok()?;
        (!self.params.reduces(&then)).then(|| session.to_vec())
    }
}

impl StoresServerSessions for Limited {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let mut params = Vec::new();
        self.params.write(&mut params);
        let kept = [&(params.len() as u32).to_be_bytes()[..], &params, &value].concat();
        self.stored.put(key, kept)
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.stored.get(key).and_then(|value| self.session(&value))
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        self.stored.take(key).and_then(|value| self.session(&value))
    }

    fn can_cache(&self) -> bool {
        true
    }
}

/// A client without certificates.
#[derive(Debug)]
pub(super) struct Anonymous;

impl ResolvesClientCert for Anonymous {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

/// The sessions after a simulated connection between ends with these settings, whose server had these transport parameters. They
/// are the same wherever they are made: the ends of a simulated connection need not share memory.
///
/// # Errors
/// A message for people if TLS refuses the settings.
pub(super) fn simulated(
    settings: &TlsSettings,
    params: &TransportParameters,
) -> Result<Sessions, String> {
    let sessions = Sessions::new(true);
    let settings = TlsSettings { sessions: Some(sessions.clone()), ..settings.clone() };
    let provider =
        CryptoProvider { secure_random: &Fixed, kx_groups: vec![&Fixed], ..super::provider() };
    let TlsConfig::Client(client, name) = TlsConfig::client_by(provider.clone(), &settings)? else {
        unreachable!("it is a client's configuration")
    };
    let TlsConfig::Server(server) = TlsConfig::server_by(provider, &settings, params)? else {
        unreachable!("it is a server's configuration")
    };
    let mut encoded = Vec::new();
    params.write(&mut encoded);
    let text = |error: rustls::Error| format!("the earlier connection failed: {error}");
    let client = ClientConnection::new(client, Version::V1, name, Vec::new()).map_err(text)?;
    let server = ServerConnection::new(server, Version::V1, encoded).map_err(text)?;
    let (mut client, mut server) = (Connection::Client(client), Connection::Server(server));
    // Hello; the server's flight; Finished; tickets.
    for _ in 0..2 {
        pass(&mut client, &mut server).map_err(text)?;
        pass(&mut server, &mut client).map_err(text)?;
    }
    Ok(sessions)
}

/// Passes what an end has to say to the other one.
fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), rustls::Error> {
    loop {
        let mut bytes = Vec::new();
        let change = from.write_hs(&mut bytes);
        if bytes.is_empty() && change.is_none() {
            return Ok(());
        }
        to.read_hs(&bytes)?;
    }
}

/// Random numbers and a key exchange without chance: a simulated connection has no secrets.
#[derive(Debug)]
struct Fixed;

/// Bytes of an X25519 public key, and of the secret that both ends have.
const X25519: usize = 32;

impl SecureRandom for Fixed {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        bytes.iter_mut().zip(1..).for_each(|(byte, value): (&mut u8, u64)| *byte = value as u8);
        Ok(())
    }
}

impl SupportedKxGroup for Fixed {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        Ok(Box::new(Self))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

impl ActiveKeyExchange for Fixed {
    fn complete(self: Box<Self>, _peer: &[u8]) -> Result<SharedSecret, rustls::Error> {
        Ok(SharedSecret::from(&[0x6c; X25519][..]))
    }

    fn pub_key(&self) -> &[u8] {
        &[0x6c; X25519]
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}
