use leobench_base::spec::{At, Spec, TableSpec, Value};
use leobench_base::{Bytes, RngTree, StreamIndex};

use super::super::{FrameCosts, Multiplexer, Share};
use super::*;
use crate::buffer::{Attributes, Message};
use crate::testing::in_order;

/// Returns the same choice for every packet.
struct Fixed(&'static [(usize, u64)]);

impl PluginScheduler for Fixed {
    fn on_change(&mut self, _stream: StreamIndex, _streams: &SendBuffer) {}

    fn choose(
        &mut self,
        _now: SimTime,
        _streams: &SendBuffer,
        _room: u64,
        requests: &mut Vec<(usize, u64)>,
    ) -> Result<(), String> {
        requests.extend(self.0);
        Ok(())
    }
}

/// The shares of a packet of 1,000 bytes; 600, 2,000, 0 and, held back, 500 bytes are waiting.
fn scheduled(requests: &'static [(usize, u64)]) -> Result<Vec<Share>, String> {
    let mut streams = SendBuffer::new(&[Attributes::default(); 4]);
    for (stream, size) in [(0, 600), (1, 2_000), (3, 500)] {
        streams.push(stream.into(), Message { size: Bytes::new(size), created: SimTime::ZERO });
    }
    streams.hold(3.into(), true);
    let plugin = Box::new(Fixed(requests));
    let mut scheduler = Python { plugin, requests: Vec::new(), requested: ti_vec![0; 4] };
    let mut packet = PacketShares::default();
    let mut given = Vec::new();
    // Twice, because no state may remain between packets.
    for _ in 0..2 {
        packet.start(1_000, FrameCosts::Exact);
        scheduler.schedule(SimTime::ZERO, &streams, &mut packet)?;
        given.push(packet.shares().to_vec());
    }
    assert_eq!(given[0], given[1]);
    Ok(given.remove(0))
}

#[test]
fn wishes_are_granted_in_order_and_the_last_is_cut_for_the_headers() {
    let shares = |requests| -> Vec<_> {
        scheduled(requests)
            .unwrap()
            .iter()
            .map(|share| (share.stream.index(), share.bytes))
            .collect()
    };
    assert_eq!(shares(&[(1, 10), (0, 20)]), [(1, 10), (0, 20)]);
    // Headers (RFC 9000 section 19.8) at offset 0: type, stream and two bytes of length, then type and stream.
    assert_eq!(shares(&[(0, 400), (1, 600)]), [(0, 400), (1, 1_000 - 404 - 2)]);
    assert_eq!(shares(&[(1, 1_000)]), [(1, 998)]);
    assert_eq!(shares(&[(0, 100), (1, 50), (0, 200), (1, 0)]), [(0, 300), (1, 50)]);
    assert_eq!(shares(&[(1, 0)]), []);
    assert_eq!(shares(&[]), []);
}

#[test]
fn what_no_packet_can_hold_is_refused() {
    let refused = |requests| scheduled(requests).unwrap_err();
    assert_eq!(refused(&[(4, 1)]), "chose stream 4, which does not exist; allowed: 0 to 3");
    assert_eq!(refused(&[(2, 1)]), "chose stream 2, which has no bytes waiting");
    assert_eq!(refused(&[(3, 1)]), "chose stream 3, which flow control blocks");
    assert_eq!(refused(&[(0, 601)]), "gave stream 0 601 bytes, but only 600 are waiting");
    assert_eq!(refused(&[(0, 400), (0, 201)]), "gave stream 0 601 bytes, but only 600 are waiting");
    assert_eq!(refused(&[(0, 500), (1, 501)]), "gave 1001 bytes to a packet with room for 1000");
    let huge = refused(&[(1, u64::MAX), (1, u64::MAX)]);
    assert!(huge.starts_with("gave stream 1 18446744073709551615 bytes"), "{huge}");
}

#[test]
fn a_connection_names_the_class_that_failed() {
    let spec = super::super::SchedulerSpec::Python(PythonSpec::example());
    assert_eq!(spec.name(), "mymodule:MyScheduler");
    let mut streams =
        Multiplexer::new(&spec, &[Attributes::default(); 2], &RngTree::new(1), &in_order())
            .unwrap();
    streams.push(1.into(), Message { size: Bytes::new(10), created: SimTime::ZERO });
    streams.schedule(SimTime::ZERO, 100).unwrap();
    assert_eq!(streams.shares(), [Share { stream: 1.into(), bytes: 10 }]);
    streams.take(1.into(), 10);
    let error = streams.schedule(SimTime::from_nanos(1_500_000_000), 100).unwrap_err().to_string();
    assert_eq!(
        error,
        "scheduler `mymodule:MyScheduler` at 1.500000000 s: chose no stream, but 0 bytes are waiting"
    );
}

#[test]
fn a_class_has_a_name_and_a_weight_for_every_stream() {
    let read = |text: &str| PythonSpec::read(&named(text), &At::ROOT);
    for wrong in ["mymodule", "mymodule:", ":MyScheduler", "my-module:A", "a..b:C", "a:B.C", "a:3"]
    {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains("names no class; allowed: a module and a class"), "{error}");
    }
    let mut spec = read("package.module_2:_Name").unwrap();
    assert!(spec.check(2, &in_order()).unwrap_err().problem.contains("no such class"));
    spec.python = "m:MyScheduler".into();
    spec.check(2, &in_order()).unwrap();
    assert_eq!(spec.weight(1.into()).to_bits(), 1f64.to_bits());
    spec.weights = Some([1.0, 3.0].iter().map(|weight| Weight::new(*weight).unwrap()).collect());
    spec.check(2, &in_order()).unwrap();
    assert_eq!(spec.weight(1.into()).to_bits(), 3f64.to_bits());
    assert_eq!(spec.check(3, &in_order()).unwrap_err().problem, "has 2 weights, for 3 streams");
    spec.weights = Some(vec![Weight::new(1.0).unwrap()]);
    assert_eq!(spec.check(3, &in_order()).unwrap_err().problem, "has 1 weight, for 3 streams");
}

fn named(name: &str) -> Value {
    let mut table = Table::new();
    table.insert("python", Value::String(name.to_owned()));
    Value::Table(table)
}
