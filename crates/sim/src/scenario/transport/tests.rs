//! Rules for every transport of the registry, and an exchange over each.

use std::path::PathBuf;

use leobench_base::packet::{IPV4_HEADER, IPV4_UDP_HEADER};
use leobench_base::spec::{Spec, Value, json};

use super::*;
use crate::load::{Source, Syntax, load};
use crate::record::MemorySink;
use crate::scenario::Scenario;
use crate::{Run, RunOptions};

/// A flow of one message over a transport, and a link with room for its packets.
fn scenario(transport: &TransportSpec, engine: &str) -> Scenario {
    let text = json!({
        "name": "exchange",
        "duration": "10 s",
        "until": "drained",
        "engine": engine,
        "nodes": {"a": {}, "b": {}},
        "links": {"path": {"between": ["a", "b"], "rate": "10 Mbps", "delay": "10 ms", "mtu": "65535 B"}},
        "flows": {"main": {
            "transport": transport.write(),
            "from": "a",
            "to": "b",
            "source": {"kind": "bulk", "size": "1000 B"},
        }},
    });
    let (text, folder) = (text.to_string(), PathBuf::new());
    let source = Source { file: "t.json", text: &text, syntax: Syntax::Json, folder };
    load(&source, &[]).unwrap_or_else(|error| panic!("{}: {error}", transport.kind()))
}

#[test]
fn sizes_and_abilities_agree() {
    for transport in TransportSpec::examples() {
        let (kind, model) = (transport.kind(), transport.model());
        assert!(model.least_payload() <= model.payload(), "{kind}");
        let least = if model.protocol() == Protocol::Tcp { IPV4_HEADER } else { IPV4_UDP_HEADER };
        assert!(model.headers() >= least, "{kind}");
        assert!(model.datagram().is_none_or(|most| most <= model.payload()), "{kind}");
        assert!(model.has_streams() || !model.has_message_streams(), "{kind}");
        assert!(model.congestion().is_some() || model.on_forecast().is_none(), "{kind}");
        assert!(model.connects() || model.multipath().is_none(), "{kind}");
        let Value::Table(keys) = transport.write() else { panic!("{kind} is no table") };
        assert!(keys.get(model.payload_key()).is_some(), "{kind}");
        let real = model.in_real_time();
        assert_eq!(real.as_ref().map_or(kind, TransportSpec::kind), kind);
    }
}

#[test]
fn a_transport_runs_where_its_checks_allow_it() {
    for transport in TransportSpec::examples() {
        let virtual_time = scenario(&transport, "virtual");
        let (kind, flow) = (transport.kind(), &virtual_time.spec.flows[0].1);
        let check = FlowCheck { scenario: &virtual_time.spec, flow, plugins: Plugins::NONE };
        assert_eq!(transport.model().check(check), Ok(()), "{kind}");
        let moved = |opens| MovedFlow { name: "main", flow, opens };
        for fault in
            [true, false].map(|opens| transport.model().check_migration(moved(opens)).err())
        {
            assert!(fault.is_none_or(|fault| fault.field.is_empty()), "{kind}");
        }
        assert_eq!(transport.model().check_real(flow), Ok(()), "{kind}");
        scenario(&transport, "real");
    }
}

/// Both ends are built where they belong, and the receiver gets what the sender writes.
#[test]
fn a_message_arrives_over_every_transport() {
    for transport in TransportSpec::examples() {
        let scenario = scenario(&transport, "virtual");
        let sink = Box::new(MemorySink::new().expect("memory"));
        let mut run = Run::new(&scenario, 1, RunOptions::default(), sink).expect("built");
        run.to_end().expect("to the end");
        let outcome = run.finish().expect("finished");
        let flow = &outcome.summary.flows[0];
        assert_eq!((flow.messages, flow.undelivered_messages), (1, 0), "{}", transport.kind());
        let connected = !outcome.connected.is_empty();
        assert_eq!(connected, transport.model().connects(), "{}", transport.kind());
    }
}
