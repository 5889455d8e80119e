//! The types of TLS in a build without it. They have no values, so the code that needs TLS is there and cannot run; checks of
//! scenarios refuse `protection = "tls"` before.

use leobench_transport::Role;

use super::KeyLog;
use super::early::{Earlier, EarlyKeys};
use super::handshake::{Handshake, KeyChange};
use crate::wire::{Level, TAG_SIZE, TransportError, TransportParameters};

/// Bytes of the authentication tag.
const TAG: usize = TAG_SIZE as usize;

/// A type without values.
#[derive(Clone)]
enum Never {}

/// Settings of a TLS handshake, of which this build has none.
#[derive(Clone)]
pub struct TlsSettings(Never);

/// The configuration of one end.
#[derive(Clone)]
pub(crate) struct TlsConfig(Never);

/// One end of a TLS handshake.
pub(crate) struct TlsHandshake(Never);

/// A key for header protection.
pub(super) struct TlsHeaderKey(Never);

/// A key for packet protection.
pub(super) struct TlsPacketKey(Never);

/// The secrets that later key phases derive from.
pub(super) struct TlsSecrets(Never);

impl TlsConfig {
    pub(crate) fn client(settings: &TlsSettings) -> Result<Self, String> {
        match settings.0 {}
    }

    pub(crate) fn server(
        settings: &TlsSettings,
        _params: &TransportParameters,
    ) -> Result<Self, String> {
        match settings.0 {}
    }

    pub(crate) fn simulated(
        _role: Role,
        _params: &TransportParameters,
        _earlier: Option<&Earlier>,
    ) -> Result<Self, String> {
        Err("this build has no TLS; allowed: the protection `null`".to_owned())
    }

    pub(super) fn log_secrets(&mut self, _log: KeyLog) {
        match self.0 {}
    }
}

impl TlsHandshake {
    pub(crate) fn new(config: &TlsConfig, _params: Vec<u8>) -> Result<Self, TransportError> {
        match config.0 {}
    }
}

impl Handshake for TlsHandshake {
    fn read(&mut self, _level: Level, _data: &[u8]) -> Result<(), TransportError> {
        match self.0 {}
    }

    fn write(&mut self, _out: &mut Vec<u8>) -> Option<KeyChange> {
        match self.0 {}
    }

    fn peer_params(&self) -> Option<&[u8]> {
        match self.0 {}
    }

    fn is_complete(&self) -> bool {
        match self.0 {}
    }

    fn early_keys(&mut self) -> Option<EarlyKeys> {
        match self.0 {}
    }

    fn remembered_params(&self) -> Option<&[u8]> {
        match self.0 {}
    }

    fn accepts_early(&self) -> bool {
        match self.0 {}
    }
}

impl TlsHeaderKey {
    pub(super) fn sample_len(&self) -> usize {
        match self.0 {}
    }

    pub(super) fn protect(&self, _sample: &[u8], _first: &mut u8, _number: &mut [u8]) {
        match self.0 {}
    }

    pub(super) fn unprotect(
        &self,
        _sample: &[u8],
        _first: &mut u8,
        _number: &mut [u8],
    ) -> Option<()> {
        match self.0 {}
    }
}

impl TlsPacketKey {
    pub(super) fn seal(
        &self,
        _path: u32,
        _number: u64,
        _header: &[u8],
        _payload: &mut [u8],
    ) -> [u8; TAG] {
        match self.0 {}
    }

    pub(super) fn open(
        &self,
        _path: u32,
        _number: u64,
        _header: &[u8],
        _payload: &mut [u8],
    ) -> Option<usize> {
        match self.0 {}
    }

    pub(super) fn confidentiality_limit(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn integrity_limit(&self) -> u64 {
        match self.0 {}
    }
}

impl TlsSecrets {
    pub(super) fn next(&mut self) -> [TlsPacketKey; 2] {
        match self.0 {}
    }
}

/// Initial keys of a cipher that no configuration of this build has.
pub(super) fn initial(_role: Role, _destination: &[u8]) -> [(TlsHeaderKey, TlsPacketKey); 2] {
    unreachable!("without TLS, no connection has its cipher")
}

/// The Retry Integrity Tag of a cipher that no configuration of this build has.
pub(super) fn retry_tag(_pseudo: Vec<u8>) -> [u8; TAG] {
    unreachable!("without TLS, no connection has its cipher")
}
