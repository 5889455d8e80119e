//! Tokens of Retry packets, by which a client shows that it receives at its address (RFC 9000 section 8.1.2).

use std::net::{IpAddr, SocketAddr};

use bytes::{BufMut as _, Bytes, BytesMut};
use leobench_base::{RngTree, SimDuration, SimTime};

use super::token_key::{TAG, TokenKey};
use crate::wire::ConnectionId;

/// How long a Retry token is valid: longer than a client needs for it, probes included.
const TOKEN_LIFETIME: SimDuration = SimDuration::from_secs(15);
/// The first byte of a Retry token, to tell it from tokens of other origin (RFC 9000 section 8.1.1).
const RETRY_TOKEN: u8 = 0x52;

/// The key of a server's tokens.
pub(super) struct RetryTokens(TokenKey);

impl RetryTokens {
    pub(super) fn new(rng: &RngTree) -> Self {
        Self(TokenKey::new(rng, "retry-token-key"))
    }

    /// Whether a token claims to be of a Retry packet.
    pub(super) fn is_one(token: &[u8]) -> bool {
        token.first() == Some(&RETRY_TOKEN)
    }

    /// A token, valid from `now` on, for a client at `address` that first sent to `original` and is told to send to `source`.
    pub(super) fn issue(
        &self,
        now: SimTime,
        address: SocketAddr,
        original: ConnectionId,
        source: ConnectionId,
    ) -> Bytes {
        let mut token = BytesMut::new();
        token.put_u8(RETRY_TOKEN);
        token.put_u64((now + TOKEN_LIFETIME).as_nanos());
        token.put_slice(original.as_slice());
        let tag = self.tag(&token, address, source);
        token.put_slice(&tag);
        token.freeze()
    }

    /// The ID in a token that is authentic and has not expired.
    pub(super) fn original(
        &self,
        now: SimTime,
        address: SocketAddr,
        destination: ConnectionId,
        token: &[u8],
    ) -> Option<ConnectionId> {
        let (content, tag) = token.split_last_chunk::<TAG>()?;
        let (until, original) = content.get(1..)?.split_first_chunk::<8>()?;
        let authentic = self.tag(content, address, destination) == *tag;
        let until = SimTime::from_nanos(u64::from_be_bytes(*until));
        (authentic && now < until).then(|| ConnectionId::new(original)).flatten()
    }

    fn tag(&self, content: &[u8], address: SocketAddr, source: ConnectionId) -> [u8; TAG] {
        let mut data = content.to_vec();
        match address.ip() {
            IpAddr::V4(ip) => data.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => data.extend_from_slice(&ip.octets()),
        }
        data.extend_from_slice(&address.port().to_be_bytes());
        data.extend_from_slice(source.as_slice());
        self.0.tag(&data)
    }
}
