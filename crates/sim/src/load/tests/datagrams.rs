//! Streams whose messages travel in datagrams.

use super::refusals::{SOURCE, refused};
use super::{changed, load_text};

#[test]
fn streams_travel_in_datagrams_where_the_transport_has_them() {
    let streams = format!("streams = [{{ {SOURCE} }}, {{ {SOURCE}, carried = \"datagrams\" }}]");
    let with = |transport: &str, streams: &str| {
        changed(SOURCE, streams).replace("transport = \"quic\"", transport)
    };
    for transport in [
        "transport = \"quic\"",
        "transport = \"udp\"",
        "transport = { kind = \"quic\", protection = \"tls\", ecn = true }",
    ] {
        assert_eq!(load_text(&with(transport, &streams), &[]).map(|_| ()), Ok(()), "{transport}");
    }
    let only = "allowed: `stream`, or the transport `udp`, or `quic` with the stack `own`";
    for (transport, streams, place, name) in [
        (
            "transport = \"tcp\"",
            format!("streams = [{{ {SOURCE}, carried = \"datagrams\" }}]"),
            0,
            "`tcp`",
        ),
        (
            "transport = { kind = \"quic\", stack = \"noq\" }",
            streams.clone(),
            1,
            "the stack `noq` of `quic`",
        ),
    ] {
        let refusal = format!(
            "t.toml: flows.main.streams[{place}].carried = \"datagrams\": {name} does not send messages in datagrams; {only}"
        );
        assert_eq!(load_text(&with(transport, &streams), &[]).map(|_| ()), Err(refusal));
    }
    refused(&[(
        SOURCE,
        &format!("streams = [{{ {SOURCE}, carried = \"datagram\" }}]"),
        "flows.main.streams[0].carried = \"datagram\": unknown word; allowed: `stream`, `datagrams`, `stream_per_message`; did you mean `datagrams`?",
    )]);
}
