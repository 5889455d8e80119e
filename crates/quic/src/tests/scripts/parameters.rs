//! Invalid transport parameters of the peer (RFC 9000 sections 7.3, 7.4 and 18.2).

use super::*;

/// The error of an end whose peer has changed parameters.
fn answer(role: Role, change: impl FnOnce(&mut Setup)) -> Option<String> {
    let mut setup = Setup::new(role);
    change(&mut setup);
    let player = Player::new(&setup);
    match role {
        Role::Client => player.answer(&["initial: ack 0, hello", "handshake: flight"]),
        Role::Server => player.answer(&["initial: hello"]),
    }
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Whether it is the one for transport parameters.
fn is_refused(role: Role, change: impl FnOnce(&mut Setup)) -> bool {
    let code = answer(role, change);
    assert!(code.as_deref().is_none_or(|code| code == "TRANSPORT_PARAMETER_ERROR"), "{code:?}");
    code.is_some()
}

/// RFC 9000 section 18.2, and 4.6 for the number of streams.
#[test]
fn values_out_of_range_close() {
    let rows = [
        ("max_udp_payload_size of 1,199", "03 02 44 af"),
        ("2^60 + 1 bidirectional streams", "08 08 d0 00 00 00 00 00 00 01"),
        ("ack_delay_exponent of 21", "0a 01 15"),
        ("max_ack_delay of 2^14", "0b 04 80 00 40 00"),
        ("active_connection_id_limit of 1", "0e 01 01"),
        ("a value cut off", "08 02 00"),
        ("a number that is shorter than its field", "08 02 01 00"),
        ("initial_max_data twice (section 7.4)", "04 01 01 04 01 01"),
        ("disable_active_migration with a value", "0c 01 00"),
    ];
    for role in [Role::Client, Role::Server] {
        for (what, bytes) in rows {
            assert!(is_refused(role, |setup| setup.more_params = hex(bytes)), "{what}");
        }
    }
}

/// RFC 9000 sections 7.4.2 and 18.1: unknown parameters are ignored, and values at their limits are fine.
#[test]
fn unknown_parameters_are_ignored() {
    for role in [Role::Client, Role::Server] {
        for bytes in ["40 59 03 aa bb cc", "03 02 44 b0", "0a 01 14", "0b 02 7f ff", "0e 01 02"] {
            assert!(!is_refused(role, |setup| setup.more_params = hex(bytes)), "{bytes}");
        }
    }
}

/// An idle timeout of 2^62 - 1 ms is as good as none.
#[test]
fn the_longest_idle_timeout_is_accepted() {
    let bytes = "01 08 ff ff ff ff ff ff ff ff";
    for role in [Role::Client, Role::Server] {
        assert!(!is_refused(role, |setup| setup.more_params = hex(bytes)), "{role:?}");
    }
}

/// RFC 9000 section 7.3: connection IDs that are absent, or not those of the packets.
#[test]
fn connection_ids_that_do_not_match_close() {
    let other = crate::wire::ConnectionId::new(&[9; 8]);
    for role in [Role::Client, Role::Server] {
        assert!(is_refused(role, |setup| setup.omits_ids = true), "{role:?}");
        assert!(is_refused(role, |setup| setup.params.initial_source = other), "{role:?}");
    }
    let wrong = |setup: &mut Setup| setup.params.original_destination = other;
    assert!(is_refused(Role::Client, wrong));
    let retried = |setup: &mut Setup| setup.params.retry_source = other;
    assert!(is_refused(Role::Client, retried), "there was no Retry");
}

/// RFC 9000 section 18.2: parameters of servers only.
#[test]
fn parameters_of_servers_close_when_a_client_sends_them() {
    let id = crate::wire::ConnectionId::new(&[9; 8]);
    let changes: [&dyn Fn(&mut TransportParameters); 4] = [
        &|params| params.original_destination = id,
        &|params| params.retry_source = id,
        &|params| params.stateless_reset_token = Some(crate::wire::ResetToken([1; 16])),
        &|params| params.preferred_address = Some(preferred(8)),
    ];
    for change in changes {
        assert!(is_refused(Role::Server, |setup| change(&mut setup.params)));
    }
}

fn preferred(id_len: usize) -> crate::wire::PreferredAddress {
    crate::wire::PreferredAddress {
        v4: std::net::SocketAddrV4::new([10, 0, 0, 9].into(), 1),
        v6: std::net::SocketAddrV6::new([0; 8].into(), 0, 0, 0),
        id: crate::wire::ConnectionId::new(&vec![1; id_len]).unwrap(),
        token: crate::wire::ResetToken([2; 16]),
    }
}

/// RFC 9000 section 18.2: a preferred address needs a connection ID.
#[test]
fn a_preferred_address_without_a_connection_id_closes() {
    let with = |len| {
        is_refused(Role::Client, |setup| setup.params.preferred_address = Some(preferred(len)))
    };
    assert!(with(0));
    assert!(!with(8));
}
