//! The stack's configuration, made deterministic: every random choice comes from the run's seed, no clock is read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use leobench_base::spec::Window;
use leobench_base::{Bytes, RngTree, SimDuration, SimRng};
use leobench_quic::QuicSpec;
use noq_proto::congestion::ControllerFactory;
use noq_proto::crypto::{CryptoError, HandshakeTokenKey, HmacKey};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig,
    IdleTimeout, ServerConfig, TimeSource, TransportConfig, VarInt,
};
use siphasher::sip128::SipHasher13;

use super::clock::duration;
use super::null_tls::NullTls;
use super::tap::Tap;

/// Bytes of a connection ID, long enough for a client's first choice (RFC 9000 section 7.2).
pub(super) const CONNECTION_ID_LEN: usize = 8;

pub(super) fn endpoint(payload: Bytes, rng: &RngTree) -> EndpointConfig {
    let reset_key = Arc::new(NullKey(rng.child("reset-key").rng().bits()));
    let mut config = EndpointConfig::new(reset_key);
    let mut seed = [0; 32];
    let mut random = rng.child("stack").rng();
    for part in seed.chunks_exact_mut(8) {
        part.copy_from_slice(&random.bits().to_le_bytes());
    }
    config.rng_seed(Some(seed));
    let ids = rng.child("connection-ids");
    config.cid_generator(Arc::new(move || Box::new(ConnectionIds(ids.rng()))));
    let payload = u16::try_from(payload.get()).unwrap_or(u16::MAX);
    if let Err(error) = config.max_udp_payload_size(payload) {
        unreachable!("the specification allows no payload below 1,200 bytes: {error}");
    }
    config
}

pub(super) fn client(
    transport: Arc<TransportConfig>,
    tap: &Arc<Tap>,
    rng: &RngTree,
) -> ClientConfig {
    client_with(Arc::new(NullTls { tap: Arc::clone(tap) }), transport, rng)
}

fn client_with(
    crypto: Arc<dyn noq_proto::crypto::ClientConfig>,
    transport: Arc<TransportConfig>,
    rng: &RngTree,
) -> ClientConfig {
    let mut config = ClientConfig::new(crypto);
    config.transport_config(transport);
    let ids = Mutex::new(ConnectionIds(rng.child("initial-destination").rng()));
    config.initial_dst_cid_provider(Arc::new(move || {
        ids.lock().unwrap_or_else(PoisonError::into_inner).generate_cid()
    }));
    config
}

pub(super) fn server(
    transport: Arc<TransportConfig>,
    tap: &Arc<Tap>,
    rng: &RngTree,
) -> ServerConfig {
    let token_key = Arc::new(NullKey(rng.child("token-key").rng().bits()));
    let mut config = ServerConfig::new(Arc::new(NullTls { tap: Arc::clone(tap) }), token_key);
    config.transport_config(transport);
    config.time_source(Arc::new(NoTime));
    config.validation_token.sent(0);
    config
}

/// Cryptography for both roles.
#[cfg(any(test, feature = "testing"))]
pub type Cryptography =
    (Arc<dyn noq_proto::crypto::ClientConfig>, Arc<dyn noq_proto::crypto::ServerConfig>);

/// The configuration of an endpoint for UDP payloads of so many bytes, and of both roles, with null protection unless given another, for tests that drive
/// the stack themselves.
#[cfg(any(test, feature = "testing"))]
pub fn for_tests(
    payload: Bytes,
    rng: &RngTree,
    transport: TransportConfig,
    crypto: Option<Cryptography>,
) -> (EndpointConfig, ClientConfig, ServerConfig) {
    let (transport, tap) = (Arc::new(transport), Arc::new(Tap::new(0, None)));
    let mut server = server(Arc::clone(&transport), &tap, rng);
    let client = match crypto {
        None => client(transport, &tap, rng),
        Some((client, of_server)) => {
            server.crypto = of_server;
            client_with(client, transport, rng)
        }
    };
    (endpoint(payload, rng), client, server)
}

/// The transport configuration of one side; `sends` says whether it sends data, `streams` how many the peer may open.
pub(super) fn transport(
    spec: &QuicSpec,
    sends: bool,
    streams: usize,
    controllers: Arc<dyn ControllerFactory + Send + Sync>,
) -> TransportConfig {
    let mut config = TransportConfig::default();
    let payload = u16::try_from(spec.payload.get()).unwrap_or(u16::MAX);
    let streams = VarInt::from_u32(u32::try_from(streams).unwrap_or(u32::MAX));
    config
        .max_concurrent_uni_streams(streams)
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_idle_timeout(spec.idle_timeout.map(idle_timeout))
        .stream_receive_window(window(spec.stream_window))
        .receive_window(window(spec.connection_window))
        .send_window(u64::MAX)
        .initial_rtt(duration(spec.initial_rtt))
        .initial_mtu(payload)
        .min_mtu(payload)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .allow_spin(false)
        .datagram_receive_buffer_size(None)
        .ack_frequency_config(ack_frequency(spec).filter(|_| sends))
        .congestion_controller_factory(controllers);
    config
}

/// The extension by which the peer is asked to acknowledge less often. Reordering is acknowledged at once, as without
/// it (RFC 9000 section 13.2.1), which is a reordering threshold of 1.
fn ack_frequency(spec: &QuicSpec) -> Option<AckFrequencyConfig> {
    let (threshold, delay) = spec.ack_frequency()?;
    let mut config = AckFrequencyConfig::default();
    config
        .ack_eliciting_threshold(VarInt::from_u32(threshold))
        .max_ack_delay(Some(duration(delay)))
        .reordering_threshold(VarInt::from_u32(1));
    Some(config)
}

/// The timeout in the stack's terms; the specification allows none that it could not express.
fn idle_timeout(timeout: SimDuration) -> IdleTimeout {
    let millis = VarInt::from_u64(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(VarInt::MAX);
    IdleTimeout::from(millis)
}

fn window(window: Window) -> VarInt {
    match window {
        Window::Bytes(size) => VarInt::from_u64(size.get()).unwrap_or(VarInt::MAX),
        Window::Unlimited => VarInt::MAX,
    }
}

struct ConnectionIds(SimRng);

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.bits().to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID_LEN
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// Keyed hashes for stateless resets; tokens are left as they are.
struct NullKey(u64);

impl HmacKey for NullKey {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        let hash = SipHasher13::new_with_keys(self.0, 0).hash(data);
        let bytes = [hash.h1.to_be_bytes(), hash.h2.to_be_bytes()].concat();
        for (out, byte) in signature_out.iter_mut().zip(bytes.iter().cycle()) {
            *out = *byte;
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for NullKey {
    fn seal(&self, _token_nonce: u128, _data: &mut Vec<u8>) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, _token_nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Ok(data)
    }
}

struct NoTime;

impl TimeSource for NoTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
