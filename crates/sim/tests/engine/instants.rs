//! Networks whose parts set each other off without time passing: they end with one line that names them.

use crate::common::{run, scenario};
use leobench_base::spec::Limit;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime};
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{Capacity, Channel, ChannelState, LinkConfig, QueueModel};
use leobench_sim::network::{Network, NetworkBuilder};
use leobench_sim::record::Table;
use leobench_sim::topology::{Change, Topology};

fn at(seconds: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_secs(seconds)
}

/// Always due at one instant.
struct Stuck(SimTime);

impl Topology for Stuck {
    fn next_change(&self) -> Option<SimTime> {
        Some(self.0)
    }

    fn advance(&mut self, _now: SimTime, _changes: &mut Vec<Change>) {}
}

/// A channel that changes again and again at one instant.
struct Restless(SimTime, ChannelState);

impl Channel for Restless {
    fn state(&self) -> &ChannelState {
        &self.1
    }

    fn next_change(&self) -> Option<SimTime> {
        Some(self.0)
    }

    fn advance(&mut self, _now: SimTime) -> &ChannelState {
        &self.1
    }
}

fn config() -> LinkConfig {
    let rng = RngTree::new(1);
    LinkConfig {
        queue: FifoSpec { limit: Limit::Unlimited }.build(Capacity::Unlimited, &rng),
        loss: None,
        access: None,
        delay: SimDuration::ZERO,
        overhead: 0,
        mtu: Bytes::new(1_500),
        overtaking: false,
        rate_scale: 1.0,
        rng,
    }
}

fn failure(mut network: Network) -> String {
    network.advance(at(10)).unwrap_err().to_string()
}

#[test]
fn a_topology_that_does_not_let_time_pass_ends_the_run() {
    let mut builder = NetworkBuilder::default();
    builder.node("a");
    builder.topology("m", Box::new(Stuck(at(2))));
    let said = failure(builder.build().unwrap());
    let expected = "at 2.000000000 s: 1.0e6 events in a row at the same instant, from handovers `m`, so the run would \
                    never end; allowed: times, delays and rates that let time pass between events";
    assert_eq!(said, expected);
}

#[test]
fn a_channel_that_does_not_let_time_pass_ends_the_run() {
    let mut builder = NetworkBuilder::default();
    let ends = ["a", "b"].map(|name| builder.node(name));
    let link = builder.link("path", ends, [(); 2].map(|()| config()));
    let state = ChannelState::at_rate(BitRate::from_bps(1_000_000), "on");
    builder.channel(Box::new(Restless(at(2), state)), link.directions().to_vec());
    let said = failure(builder.build().unwrap());
    assert!(
        said.contains("from the channel of link `path/a->b`, so the run would never end"),
        "{said}"
    );
}

/// A node with two links, whose channels are as these tables say, and a flow that its first link cannot carry for long.
fn reactive(one: &str, two: &str) -> String {
    format!(
        r#"
        name = "reactive"
        duration = "6 s"
        nodes = {{ a = {{}}, b = {{}} }}
        [links.one]
        between = ["a", "b"]
        delay = "10 ms"
        {one}
        [links.two]
        between = ["a", "b"]
        delay = "10 ms"
        {two}
        [handovers.m]
        node = "a"
        links = ["one", "two"]
        down_for = "100 ms"
        [flows.main]
        from = "a"
        to = "b"
        transport = "udp"
        source = {{ kind = "cbr", rate = "80 kbps", size = "1000 B" }}
        "#
    )
}

/// When the handovers began, in milliseconds.
fn begins(text: &str) -> Vec<i64> {
    let rows = crate::common::table(&run(&scenario(text), 1), Table::Handovers);
    let (times, stages) = (rows.integers("t_ns"), rows.texts("stage"));
    let begins = times.into_iter().zip(stages).filter(|(_, stage)| stage == "begin");
    begins.map(|(at, _)| at / 1_000_000).collect()
}

const STEADY: &str = r#"rate = "1 Mbps""#;

/// Both links are down from 2 s to 4 s, and the node has noticed by then: it waits, and goes back once.
#[test]
fn a_node_between_two_links_that_are_down_waits() {
    let [one, two] = [1, 2].map(|down| {
        format!(
            r#"channel = {{ kind = "schedule", steps = [
                {{ at = "0 s", rate = "1 Mbps" }}, {{ at = "{down} s", up = false }}, {{ at = "4 s", up = true, rate = "1 Mbps" }}] }}"#
        )
    });
    assert_eq!(begins(&reactive(&one, &two)), [1_100, 4_000]);
}

#[test]
fn a_link_that_is_down_at_the_start_is_left() {
    let one = r#"channel = { kind = "schedule", steps = [{ at = "0 s", rate = "1 Mbps", up = false }, { at = "5 s", up = true, rate = "1 Mbps" }] }"#;
    assert_eq!(begins(&reactive(one, STEADY)), [100]);
    // The other one is down at the start, too, and comes up first.
    let two = r#"channel = { kind = "schedule", steps = [{ at = "0 s", rate = "1 Mbps", up = false }, { at = "2 s", up = true, rate = "1 Mbps" }] }"#;
    assert_eq!(begins(&reactive(one, two)), [2_000]);
}

/// Forward it is down from 1 s to 5 s, backward for 30 ms of that.
#[test]
fn a_link_is_down_while_one_of_its_directions_is() {
    let one = r#"
        forward = { channel = { kind = "schedule", steps = [{ at = "0 s", rate = "1 Mbps" }, { at = "1 s", up = false }, { at = "5 s", up = true, rate = "1 Mbps" }] } }
        backward = { channel = { kind = "schedule", steps = [{ at = "0 s", rate = "1 Mbps" }, { at = "1020 ms", up = false }, { at = "1050 ms", up = true, rate = "1 Mbps" }] } }"#;
    assert_eq!(begins(&reactive(one, STEADY)), [1_100]);
}
