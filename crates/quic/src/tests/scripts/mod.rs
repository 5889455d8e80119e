//! Corner cases as scripts in the manner of packetdrill (Cardwell et al. 2013): one end of a connection against a scripted
//! peer, byte by byte. What the end does must equal the script, and the script follows from the RFC section it names.
//!
//! A line is a time in milliseconds, and the event at that time:
//! - `retry 5`, `retry 5 corrupt`: the peer sends a Retry with its connection ID 5; `reset 0`, `reset 0 long`: a stateless reset
//!   with the token of its connection ID 0, with a short header or a long one; `again`: the last datagrams again;
//! - `write 1000`, `write 1000 x5`, `finish`, `close 7`: the application writes to the flow's stream, once or several times;
//!   has no more; closes the connection with an error code;
//! - `< data: ack 0-3 5, ping`: the peer sends a datagram;
//! - `> data 4-6: stream 2 0-3000`: this end does, here three packets in a row with 1,000 bytes each;
//! - `> elsewhere data 5: ping`: to the address from which the peer sends `elsewhere`;
//! - `> reset x2`: it sends two stateless resets;
//! - `! timeout`: it reports an event;
//! - `= window 6000`, `= in-flight 0`, `= rtt 100`: the state of its path.
//!
//! A datagram is `initial 0: hello | handshake 0: crypto 0-800 [1200]`: packets with their numbers, levels `initial`,
//! `handshake` and `data` (1-RTT), frames, and its size if it was padded to 1,200 bytes or
//! has them anyway with an Initial packet. Padding is not shown. `hello`, `flight` and `finished` are whole messages of the handshake: `ClientHello` or `ServerHello`, the
//! rest of the server's flight, and the client's Finished. [`notation`] lists the frames.
//!
//! The peer numbers its packets by itself and pads datagrams with Initial packets to 1,200 bytes. Words in front of the colon
//! change that: a number, `x3` (three times), `corrupt` (not authentic), `phase` (the next key phase), `reserved`
//! (reserved bits), `unfixed` (no fixed bit), `version` (another one), `token`, `marked` (CE), `elsewhere` (from another address), `cut` (a byte too short), `from 7` (another source connection ID),
//! `to 1` (the connection ID of this end with sequence number 1). `[1100]` behind a datagram is its size.
//!
//! Packets of this end show `to 1` if they use the peer's connection ID with sequence number 1.

mod acks;
mod closing;
mod errors;
mod flow;
mod handshake;
mod ids;
mod keys;
mod losses;
mod migration;
mod notation;
mod parameters;
mod peer;
mod player;

use leobench_base::Bytes;

use self::player::Player;
use super::*;
use crate::wire::TransportParameters;

/// The parameters that a script may vary.
struct Setup {
    role: Role,
    spec: QuicSpec,
    /// Streams that the peer may open.
    receives: usize,
    /// The peer's transport parameters but for connection IDs, and bytes to append to them.
    params: TransportParameters,
    more_params: Vec<u8>,
    /// Whether the peer leaves out the connection IDs.
    omits_ids: bool,
}

impl Setup {
    /// Packets of 1,200 bytes, `NewReno` with a window of ten of them, no pacing; a peer with generous limits.
    fn new(role: Role) -> Self {
        let spec = spec(|spec| {
            (spec.payload, spec.pacing, spec.ecn) = (Bytes::new(1_200), false, false);
            spec.congestion = leobench_transport::CongestionSpec::NewReno(
                leobench_transport::congestion::NewRenoSpec::default(),
            );
        });
        let params = TransportParameters {
            initial_max_data: 1_000_000,
            initial_max_stream_data_uni: 1_000_000,
            initial_max_stream_data_bidi_local: 1_000_000,
            initial_max_stream_data_bidi_remote: 1_000_000,
            initial_max_streams_uni: 10,
            ..TransportParameters::default()
        };
        Self { role, spec, receives: 2, params, more_params: Vec::new(), omits_ids: false }
    }
}

/// Plays a script from the very beginning.
fn opening(role: Role, change: impl FnOnce(&mut Setup), script: &str) {
    let mut setup = Setup::new(role);
    change(&mut setup);
    Player::new(&setup).play(script);
}

/// Plays a script on a quiet connection, whose handshake is confirmed. Numbers of 1-RTT packets start anew with it. Two
/// round trips of 100 ms were measured: the smoothed time is 100 ms, its variation 37.5 ms, the probe timeout 275 ms with
/// the peer's `max_ack_delay` of 25 ms (RFC 9002 section 6.2.1).
fn connected(role: Role, change: impl FnOnce(&mut Setup), script: &str) {
    let mut setup = Setup::new(role);
    change(&mut setup);
    let mut player = Player::new(&setup);
    player.connect();
    player.play(script);
}

/// Plays a script on a connected client, as it is by default.
fn client(script: &str) {
    connected(Role::Client, |_| (), script);
}

/// Plays a script on a connected server, as it is by default.
fn server(script: &str) {
    connected(Role::Server, |_| (), script);
}

/// The error that a connected end answers these datagrams with, if any.
fn answer(role: Role, change: impl FnOnce(&mut Setup), datagrams: &[&str]) -> Option<String> {
    let mut setup = Setup::new(role);
    change(&mut setup);
    let mut player = Player::new(&setup);
    player.connect();
    player.answer(datagrams)
}
