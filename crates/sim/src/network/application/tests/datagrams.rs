//! Datagrams of an application over a network: media there, and feedback back.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use leobench_base::packet::Datagram;
use leobench_base::{FlowId, RngTree};
use leobench_quic::{QuicConfig, QuicEndpoint, QuicSpec};
use leobench_transport::buffer::{Attributes, Carried};
use leobench_transport::{Endpoint, Plugins, Role};

use super::*;
use crate::build::Sinks;
use crate::load::{Source, Syntax, load};
use crate::network::forwarding::Forwarding;
use crate::network::schedule::Entity;
use crate::network::{FlowSlot, Network};
use crate::record::Nowhere;

/// Messages of two datagrams, and their interval in ms.
const MESSAGES: u64 = 100;
const EVERY: u64 = 50;
/// Numbers of the feedback, far from those of messages.
const FEEDBACK: u64 = 1_000_000;

type Notes = Arc<Mutex<Vec<(u64, End, Report)>>>;

/// A sender of messages in two datagrams of 1,000 bytes, and a receiver that answers each with 50 bytes.
struct Call {
    notes: Notes,
    written: u64,
    /// Datagrams to answer.
    owed: Vec<Datagram>,
    now: SimTime,
}

impl Application for Call {
    fn next_wake(&self) -> Option<SimTime> {
        let next = (self.written < MESSAGES).then(|| ms(1_000 + self.written * EVERY));
        if self.owed.is_empty() { next } else { Some(self.now) }
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        for datagram in self.owed.drain(..) {
            let message = FEEDBACK + datagram.message;
            let datagram = Datagram { message, payload: 50, ..datagram };
            actions.push(Action::Datagram { end: End::Receiver, datagram, created: now });
        }
        if self.written < MESSAGES && now >= ms(1_000 + self.written * EVERY) {
            let message = Message { size: Bytes::new(2_000), created: now };
            actions.push(Action::Create { stream: 0.into(), message });
            for part in [0, 1] {
                let (message, id) = (self.written, 2 * self.written + part);
                let datagram = Datagram { message, id, stream: 0.into(), payload: 1_000 };
                actions.push(Action::Datagram { end: End::Sender, datagram, created: now });
            }
            self.written += 1;
        }
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, end: End, report: Report) -> bool {
        self.notes.lock().unwrap().push((now.as_nanos(), end, report));
        self.now = now;
        match report {
            Report::Datagram { datagram, .. } if end == End::Receiver => {
                self.owed.push(datagram);
                true
            }
            _ => false,
        }
    }

    fn is_finished(&self) -> bool {
        self.written == MESSAGES && self.owed.is_empty()
    }
}

/// The reports of a call over a link of 1 Mbit/s and 10 ms; whether its ledger is drained after all.
fn call(transport: &str, loss: &str) -> (Vec<(u64, End, Report)>, bool) {
    let text = format!(
        r#"
        name = "call"
        duration = "10 s"
        nodes = {{ a = {{}}, b = {{}} }}
        [links.path]
        between = ["a", "b"]
        rate = "1 Mbps"
        delay = "10 ms"
        {loss}
        [flows.call]
        transport = "{transport}"
        from = "a"
        to = "b"
        streams = [{{ source = {{ kind = "bulk", size = "1 B" }}, carried = "datagrams" }}]
        "#
    );
    let source =
        Source { file: "t.toml", text: &text, syntax: Syntax::Toml, folder: PathBuf::new() };
    let scenario = load(&source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut qlogs = |_: &str, _: &str| Ok(None);
    let (tables, ports, qlogs) = (Box::new(Nowhere), Vec::new(), &mut qlogs);
    let sinks = Sinks { tables, captures: None, trace: None, qlogs, ports, sockets: None };
    let mut network = Network::new(&scenario, 1, Plugins::NONE, sinks).unwrap();
    let flow = FlowId::from(0);
    if transport == "quic" {
        answer(&mut network, flow);
    }
    let notes = Notes::default();
    let now = SimTime::ZERO;
    let call = Call { notes: Arc::clone(&notes), written: 0, owed: Vec::new(), now };
    network.wakes.set(Entity::Application(flow), call.next_wake());
    network.flows[flow].application = Box::new(call);
    network.advance(ms(10_000)).unwrap();
    let drained = network.is_drained();
    drop(network);
    (Arc::try_unwrap(notes).unwrap().into_inner().unwrap(), drained)
}

/// Puts endpoints of QUIC in place that both send datagrams.
fn answer(network: &mut Network, flow: FlowId) {
    let streams = [Attributes { carried: Carried::Datagrams, ..Attributes::default() }];
    let FlowSlot { ends, nodes, .. } = network.flows[flow];
    let address = |end: usize| {
        let port = [32_768, 4_433][end];
        SocketAddr::new(Forwarding::own_address(nodes[end]), port)
    };
    for (end, role) in [(0, Role::Client), (1, Role::Server)] {
        let config = QuicConfig {
            spec: &QuicSpec::default(),
            role,
            sends: &streams,
            receives: 1,
            datagrams: true,
            message_streams: None,
            local: address(end),
            remote: address(1 - end),
            start: SimTime::ZERO,
            rng: &RngTree::new(end as u64),
            plugins: Plugins::NONE,
            qlog: None,
        };
        let endpoint: Box<dyn Endpoint> = Box::new(QuicEndpoint::new(&config).unwrap());
        network.endpoints[ends[end]].endpoint = endpoint;
    }
}

/// Those that arrive at an end, by message and number, with the time in ns.
fn arrivals(notes: &[(u64, End, Report)], at: End) -> Vec<(u64, u64, u64)> {
    let arrived = notes.iter().filter_map(|(now, end, report)| match report {
        Report::Datagram { datagram: part, .. } if *end == at => {
            Some((part.message, part.id, *now))
        }
        _ => None,
    });
    arrived.collect()
}

/// With headers of 28 bytes, 1,000 bytes take 8.224 ms at 1 Mbit/s, and 50 bytes 0.624 ms.
#[test]
fn media_and_feedback_cross_a_link_over_udp() {
    let (notes, drained) = call("udp", "");
    let there: Vec<_> = (0..2 * MESSAGES)
        .map(|id| {
            let sent = 1_000_000_000 + id / 2 * EVERY * 1_000_000;
            (id / 2, id, sent + (id % 2 + 1) * 8_224_000 + 10_000_000)
        })
        .collect();
    assert_eq!(arrivals(&notes, End::Receiver), there);
    let back = there.iter().map(|(message, id, at)| (FEEDBACK + message, *id, at + 10_624_000));
    assert_eq!(arrivals(&notes, End::Sender), back.collect::<Vec<_>>());
    assert!(drained, "the feedback is no message of the flow");
}

/// Lost datagrams are not sent again, either way: of 200 datagrams, 20 % are lost, with a standard deviation of 2.8 %. Feedback is for
/// those that arrived.
#[test]
fn losses_stay_either_way() {
    for transport in ["udp", "quic"] {
        let (notes, drained) =
            call(transport, r#"loss = { kind = "bernoulli", probability = 0.2 }"#);
        let [there, back] = [End::Receiver, End::Sender].map(|end| arrivals(&notes, end));
        let share = |some: usize, all: usize| some as f64 / all as f64;
        assert!((share(there.len(), 200) - 0.8).abs() < 3.0 * 0.028, "{}", there.len());
        let rate = share(back.len(), there.len());
        assert!((rate - 0.8).abs() < 3.0 * 0.032, "{rate}");
        assert!(back.iter().all(|(_, id, _)| there.iter().any(|(_, other, _)| id == other)));
        assert!(drained, "{transport}");
        // QUIC's senders find out about every loss, and never about anything that arrived: nothing is reordered.
        for (end, mut arrived, all) in
            [(End::Sender, there.clone(), 200), (End::Receiver, back, there.len())]
        {
            let lost = notes.iter().filter_map(|(_, at, report)| match report {
                Report::Lost { datagram, dropped } if *at == end => {
                    assert!(!dropped);
                    Some((datagram.message, datagram.id, 0))
                }
                _ => None,
            });
            let lost: Vec<_> = lost.collect();
            if transport == "udp" {
                assert!(lost.is_empty());
                continue;
            }
            arrived.extend(lost);
            arrived.sort_unstable();
            arrived.dedup_by_key(|(_, id, _)| *id);
            assert_eq!(arrived.len(), all, "{end:?}");
        }
    }
}
