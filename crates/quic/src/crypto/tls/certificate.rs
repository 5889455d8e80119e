//! Self-signed certificates (RFC 5280) with Ed25519 keys (RFC 8410), whose signatures have always the same size.

use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The start of an Ed25519 private key without attributes, up to its 32-byte seed (RFC 8410 section 10.3).
const PKCS8_START: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// The algorithm identifier of Ed25519 (RFC 8410 section 3).
const ED25519: [u8; 7] = [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70];
/// The attribute type `commonName` (RFC 5280 appendix A.1).
const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
/// The extension `subjectAltName` (RFC 5280 section 4.2.1.6).
const SUBJECT_ALT_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x11];
/// When certificates are valid. Nothing here reads a clock; peers that do must accept them.
const VALIDITY: [&[u8]; 2] = [b"200101000000Z", b"491231235959Z"];

/// Tags of DER.
mod tag {
    pub(super) const INTEGER: u8 = 0x02;
    pub(super) const BIT_STRING: u8 = 0x03;
    pub(super) const OCTET_STRING: u8 = 0x04;
    pub(super) const UTF8_STRING: u8 = 0x0c;
    pub(super) const UTC_TIME: u8 = 0x17;
    pub(super) const SEQUENCE: u8 = 0x30;
    pub(super) const SET: u8 = 0x31;
    pub(super) const DNS_NAME: u8 = 0x82;
    pub(super) const VERSION: u8 = 0xa0;
    pub(super) const EXTENSIONS: u8 = 0xa3;
}

/// A server's certificate and its private key, both in DER.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The certificate (X.509).
    pub certificate: Vec<u8>,
    /// Its private key (PKCS #8).
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificate").finish_non_exhaustive()
    }
}

/// One element: tag, length, and the parts of its content.
fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut out = vec![tag];
    match content.len() {
        len @ 0..=0x7f => out.push(len as u8),
        len @ 0x80..=0xff => out.extend([0x81, len as u8]),
        len => out.extend([0x82, (len >> 8) as u8, len as u8]),
    }
    out.extend(content);
    out
}

impl Certificate {
    /// A certificate for a host name of at most 63 bytes; the seed determines its key, and so all its bytes.
    pub fn self_signed(name: &str, seed: &[u8; 32]) -> Self {
        let Ok(pair) = Ed25519KeyPair::from_seed_unchecked(seed) else {
            unreachable!("any 32 bytes are a seed (RFC 8032 section 5.1.5)")
        };
        let sequence = |parts: &[&[u8]]| element(tag::SEQUENCE, parts);
        let common_name = sequence(&[&COMMON_NAME, &element(tag::UTF8_STRING, &[name.as_bytes()])]);
        let subject = sequence(&[&element(tag::SET, &[&common_name])]);
        let [start, end] = VALIDITY.map(|time| element(tag::UTC_TIME, &[time]));
        let public_key = element(tag::BIT_STRING, &[&[0], pair.public_key().as_ref()]);
        let names = sequence(&[&element(tag::DNS_NAME, &[name.as_bytes()])]);
        let names = sequence(&[&SUBJECT_ALT_NAME, &element(tag::OCTET_STRING, &[&names])]);
        let content = sequence(&[
            // Version 3 (RFC 5280 section 4.1.2.1), serial number 1.
            &element(tag::VERSION, &[&element(tag::INTEGER, &[&[2]])]),
            &element(tag::INTEGER, &[&[1]]),
            &ED25519,
            &subject,
            &sequence(&[&start, &end]),
            &subject,
            &sequence(&[&ED25519, &public_key]),
            &element(tag::EXTENSIONS, &[&sequence(&[&names])]),
        ]);
        let signature = element(tag::BIT_STRING, &[&[0], pair.sign(&content).as_ref()]);
        Self {
            certificate: sequence(&[&content, &ED25519, &signature]),
            key: [&PKCS8_START[..], seed].concat(),
        }
    }

    pub(in crate::crypto) fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![CertificateDer::from(self.certificate.clone())]
    }

    pub(super) fn private_key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()))
    }
}
