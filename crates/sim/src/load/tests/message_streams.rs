//! Streams whose messages travel in streams of their own, and their cancellation.

use super::refusals::{SOURCE, refused};
use super::{changed, load_text};

fn streams(keys: &str) -> String {
    format!("streams = [{{ {SOURCE}, {keys} }}]")
}

#[test]
fn messages_travel_in_streams_of_their_own_over_our_quic() {
    let with = |transport: &str, keys: &str| {
        changed(SOURCE, &streams(keys)).replace("transport = \"quic\"", transport)
    };
    let own = "carried = \"stream_per_message\"";
    let cancels = format!("{own}, deadline = \"1 s\", on_deadline = \"cancel\"");
    for keys in [own, &cancels] {
        for transport in ["\"quic\"", "{ kind = \"quic\", protection = \"tls\" }"] {
            let text = with(&format!("transport = {transport}"), keys);
            assert_eq!(load_text(&text, &[]).map(|_| ()), Ok(()), "{transport} {keys}");
        }
        for (transport, name) in [
            ("\"tcp\"", "`tcp`"),
            ("\"udp\"", "`udp`"),
            ("{ kind = \"quic\", stack = \"noq\" }", "the stack `noq` of `quic`"),
        ] {
            let refusal = format!(
                "t.toml: flows.main.streams[0].carried = \"stream_per_message\": {name} has no stream for each message; allowed: \
                 `stream`, or the transport `quic` with the stack `own`"
            );
            let text = with(&format!("transport = {transport}"), keys);
            assert_eq!(load_text(&text, &[]).map(|_| ()), Err(refusal));
        }
    }
}

#[test]
fn a_cancellation_needs_a_deadline_and_a_stream_to_reset() {
    let place = "flows.main.streams[0].on_deadline";
    refused(&[
        (
            SOURCE,
            &streams("carried = \"stream_per_message\", on_deadline = \"cancel\""),
            &format!(
                "{place} = \"cancel\": needs a deadline; allowed: `deliver`, or a `deadline` beside it"
            ),
        ),
        (
            SOURCE,
            &streams("deadline = \"1 s\", on_deadline = \"cancel\""),
            &format!(
                "{place} = \"cancel\": needs messages in streams of their own; allowed: `deliver`, or `carried = \
                 \"stream_per_message\"` beside it"
            ),
        ),
        (
            SOURCE,
            &streams("deadline = \"1 s\", on_deadline = \"cancle\""),
            &format!(
                "{place} = \"cancle\": unknown word; allowed: `deliver`, `cancel`; did you mean `cancel`?"
            ),
        ),
    ]);
}
