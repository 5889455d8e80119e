//! Key updates (RFC 9001 section 6).

use super::*;
use crate::wire::ErrorCode;

/// Two ends after a handshake, with TLS or without.
struct Pair {
    ends: [Protection; 2],
    next: u64,
    /// The path of the packets.
    path: PathId,
}

impl Pair {
    fn both() -> [Self; 2] {
        [[Crypto::Null(None), Crypto::Null(None)], tls(&settings())].map(|cryptos| {
            let ends = shake(&cryptos, usize::MAX).unwrap().map(|end| end.protection);
            Self { ends, next: 0, path: PATH }
        })
    }

    /// The bytes of the next packet of an end.
    fn send(&mut self, from: usize) -> (u64, BytesMut) {
        let role = [Role::Client, Role::Server][from];
        let number = self.next;
        self.next += 1;
        let end = &mut self.ends[from];
        let packet = packet(Level::OneRtt, role, number, end.key_phase(), ping());
        (number, sealed_on(self.path, end, &packet))
    }

    /// Delivers it; its key phase bit.
    fn deliver(
        &mut self,
        to: usize,
        at: u64,
        (number, mut bytes): (u64, BytesMut),
    ) -> Result<Option<bool>, ErrorCode> {
        let receive = receive(SimTime::from_nanos(at * 1_000_000), number.checked_sub(1));
        let receive = Receive { path: self.path, ..receive };
        match self.ends[to].open(&mut bytes, &receive) {
            Ok(Some(Opened::Packet(packet))) => match packet.header {
                Header::OneRtt { key_phase, .. } => Ok(Some(key_phase)),
                _ => unreachable!("only 1-RTT packets are sent"),
            },
            Ok(_) => Ok(None),
            Err(error) => Err(error.code),
        }
    }

    fn update(&mut self, end: usize, at: u64) -> bool {
        self.ends[end].update_keys(SimTime::from_nanos(at * 1_000_000))
    }
}

#[test]
fn an_update_is_answered() {
    for mut pair in Pair::both() {
        let first = pair.send(0);
        assert_eq!(pair.deliver(1, 0, first), Ok(Some(false)));
        assert!(pair.update(0, 0));
        let updated = pair.send(0);
        let (largest, _) = updated;
        assert_eq!(pair.deliver(1, 1, updated), Ok(Some(true)));
        assert!(pair.ends[1].key_phase(), "the peer follows at once");
        let answer = pair.send(1);
        assert_eq!(pair.deliver(0, 2, answer), Ok(Some(true)));
        assert!(!pair.update(0, 3), "no packet of this phase is acknowledged");
        assert_eq!(pair.ends[0].on_ack(PATH, largest - 1, true), Ok(()));
        assert!(!pair.update(0, 4), "an older packet is acknowledged");
        assert_eq!(pair.ends[0].on_ack(PATH, largest, true), Ok(()));
        // Three PTO of 100 ms after the answer, the old keys are gone (section 6.5).
        assert!(!pair.update(0, 301));
        assert!(pair.update(0, 302));
        let again = pair.send(0);
        assert_eq!(
            pair.deliver(1, 400, again),
            Ok(Some(false)),
            "the third phase has the bit of the first"
        );
    }
}

#[test]
fn delayed_packets_open_with_old_keys_for_three_pto() {
    for mut pair in Pair::both() {
        let [early, late, later] = [0, 1, 2].map(|_| pair.send(0));
        assert!(pair.update(0, 0));
        let updated = pair.send(0);
        assert_eq!(pair.deliver(1, 10, updated), Ok(Some(true)));
        assert_eq!(pair.deliver(1, 11, early), Ok(Some(false)));
        assert_eq!(pair.deliver(1, 309, late), Ok(Some(false)));
        assert_eq!(pair.deliver(1, 310, later), Ok(None));
        assert!(pair.ends[1].key_phase(), "an old packet is no update");
    }
}

/// The initiator has new keys, while its peer still sends with the old ones.
#[test]
fn the_initiator_keeps_reading_the_old_phase() {
    for mut pair in Pair::both() {
        let old = pair.send(1);
        assert!(pair.update(0, 0));
        assert_eq!(pair.deliver(0, 10_000, old), Ok(Some(false)));
        let old = pair.send(1);
        assert_eq!(pair.deliver(0, 20_000, old), Ok(Some(false)), "until it answers");
        assert!(pair.ends[0].key_phase());
    }
}

#[test]
fn both_may_start_at_once() {
    for mut pair in Pair::both() {
        assert!(pair.update(0, 0) && pair.update(1, 0));
        let [client, server] = [pair.send(0), pair.send(1)];
        assert_eq!(pair.deliver(1, 1, client), Ok(Some(true)));
        assert_eq!(pair.deliver(0, 1, server), Ok(Some(true)));
        assert!(pair.ends[0].key_phase() && pair.ends[1].key_phase());
    }
}

#[test]
fn the_first_packet_may_be_of_the_second_phase() {
    for mut pair in Pair::both() {
        let _lost = pair.send(0);
        assert!(pair.update(0, 0));
        let updated = pair.send(0);
        assert_eq!(pair.deliver(1, 0, updated), Ok(Some(true)));
    }
}

/// Section 6.2: a second update before the first is answered.
#[test]
fn hasty_updates_are_errors() {
    for mut pair in Pair::both() {
        assert!(pair.update(0, 0));
        let updated = pair.send(0);
        assert_eq!(pair.deliver(1, 0, updated), Ok(Some(true)));
        // The client goes on without an acknowledgement, against the rules.
        let Some(keys) = &mut pair.ends[0].one_rtt else { unreachable!("after a handshake") };
        keys.update();
        let updated = pair.send(0);
        assert_eq!(pair.deliver(1, 0, updated), Err(ErrorCode::KEY_UPDATE_ERROR));
    }
}

/// Section 6.2: a packet under new keys is acknowledged under the old ones.
#[test]
fn acknowledgements_must_use_the_new_keys() {
    for mut pair in Pair::both() {
        assert!(pair.update(0, 0));
        let (number, _) = pair.send(0);
        let code = pair.ends[0].on_ack(pair.path, number, false).map_err(|error| error.code);
        assert_eq!(code, Err(ErrorCode::KEY_UPDATE_ERROR));
    }
}

/// On a path without a packet of the present phase, numbers do not tell a late packet from one of the next phase. The peer may begin
/// that one while the old keys are still around, as its PTO may be shorter.
#[test]
fn the_next_phase_may_begin_on_a_new_path() {
    for mut pair in Pair::both() {
        pair.path = PathId(1);
        let late = pair.send(0);
        pair.path = PathId(0);
        assert!(pair.update(0, 0));
        let updated = pair.send(0);
        assert_eq!(pair.deliver(1, 0, updated), Ok(Some(true)));
        let _answer = pair.send(1);
        let pto = receive(SimTime::ZERO, None).pto.as_nanos() / 1_000_000;
        pair.path = PathId(1);
        assert_eq!(pair.deliver(1, pto / 2, late), Ok(Some(false)), "a late one");
        assert!(pair.ends[1].key_phase());
        let Some(keys) = &mut pair.ends[0].one_rtt else { unreachable!("after a handshake") };
        keys.update();
        let next = pair.send(0);
        assert_eq!(pair.deliver(1, pto * 2, next), Ok(Some(false)), "the next phase");
        assert!(!pair.ends[1].key_phase());
    }
}

/// Section 6.2 allows an error. A peer may take a packet on a new path for a late one of the phase before, and acknowledge it so.
#[test]
fn acknowledgements_over_several_paths_may_use_the_old_keys() {
    for mut pair in Pair::both() {
        assert!(pair.update(0, 0));
        pair.path = PathId(1);
        let (number, _) = pair.send(0);
        assert_eq!(pair.ends[0].on_ack(pair.path, number, false), Ok(()));
        let is_acked =
            |pair: &Pair| pair.ends[0].one_rtt.as_ref().is_some_and(|keys| keys.is_acked);
        assert!(!is_acked(&pair), "the update is not answered yet");
        assert_eq!(pair.ends[0].on_ack(pair.path, number, true), Ok(()));
        assert!(is_acked(&pair));
    }
}

/// Section 6.3: a forged key phase bit changes nothing.
#[test]
fn forged_updates_change_nothing() {
    let [_, mut pair] = Pair::both();
    let (number, mut bytes) = pair.send(0);
    bytes[0] ^= 0x04;
    assert_eq!(pair.deliver(1, 0, (number, bytes)), Ok(None));
    assert!(!pair.ends[1].key_phase());
    let next = pair.send(0);
    assert_eq!(pair.deliver(1, 0, next), Ok(Some(false)));
}

/// Packets that travel as structs have the same phases.
#[test]
fn structs_update_keys_too() {
    let [mut pair, _] = Pair::both();
    let deliver = |pair: &mut Pair, number, key_phase| {
        let header = packet(Level::OneRtt, Role::Client, number, key_phase, ping()).header;
        pair.ends[0].on_sent(PATH, &header).unwrap();
        pair.ends[1].on_received(SimTime::ZERO, SimDuration::from_millis(1), PATH, &header)
    };
    assert_eq!(deliver(&mut pair, 0, false), Ok(true));
    assert!(pair.update(0, 0));
    assert_eq!(deliver(&mut pair, 1, true), Ok(true));
    assert!(pair.ends[1].key_phase());
    assert_eq!(pair.ends[0].on_ack(PATH, 1, true), Ok(()));
}

/// Section 6.6: AES-128-GCM encrypts 2^23 packets with one key.
#[test]
fn keys_wear_out() {
    let [mut null, mut tls] = Pair::both();
    for (pair, has_limit) in [(&mut null, false), (&mut tls, true)] {
        let Some(keys) = &mut pair.ends[0].one_rtt else { unreachable!("after a handshake") };
        let limit = keys.local().confidentiality_limit();
        assert_eq!(limit, if has_limit { 1 << 23 } else { u64::MAX });
        keys.set_limit(16);
        for _ in 0..14 {
            assert!(!pair.ends[0].wants_key_update());
            pair.send(0);
        }
        assert!(pair.ends[0].wants_key_update());
        let [_, _] = [pair.send(0), pair.send(0)];
        let packet = packet(Level::OneRtt, Role::Client, pair.next, false, ping());
        let error = pair.ends[0].seal(PATH, &packet, &Zeros, &mut BytesMut::new()).unwrap_err();
        assert_eq!(error.code, ErrorCode::AEAD_LIMIT_REACHED);
        assert!(pair.update(0, 0));
        assert!(!pair.ends[0].wants_key_update());
        pair.send(0);
    }
}
