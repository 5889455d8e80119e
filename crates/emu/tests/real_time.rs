//! A network between two ends that are sockets instead of devices, in real time. Packets may be late, never early.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use leobench_base::packet::{Body, Ecn, Label, Meta, Packet, Protocol};
use leobench_base::spec::Limit;
use leobench_base::{BitRate, Bytes, RngTree, SimDuration, SimTime, wire};
use leobench_emu::{Budget, Device, Driver, Framing, Ports, Settings, Until, WallClock};
use leobench_link::channel::steady::SteadySpec;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{Capacity, ChannelContext, ChannelModel, LinkConfig, QueueModel};
use leobench_sim::network::{Network, NetworkBuilder};

const RATE: BitRate = BitRate::from_bps(10_000_000);
const DELAY: SimDuration = SimDuration::from_millis(20);
const MTU: Bytes = Bytes::new(1_500);

struct Bench {
    network: Network,
    driver: Driver,
    clock: WallClock,
    ends: [UnixDatagram; 2],
}

fn bench() -> Bench {
    let (clock, mut ports) = (WallClock::new(), Ports::default());
    clock.start();
    let mut builder = NetworkBuilder::default();
    let nodes = ["client", "server"].map(|name| builder.node(name));
    let rng = RngTree::new(1);
    let config = |direction| LinkConfig {
        queue: FifoSpec { limit: Limit::Unlimited }
            .build(Capacity::Bytes(Bytes::new(u64::MAX)), &rng),
        loss: None,
        access: None,
        delay: DELAY,
        overhead: 0,
        mtu: MTU,
        overtaking: false,
        rate_scale: 1.0,
        rng: rng.child(direction),
    };
    let link = builder.link("link", nodes, [config("there"), config("back")]);
    let context = ChannelContext { folder: ".".into(), rng: rng.clone() };
    let channel = SteadySpec { rate: RATE }.build(&context).unwrap();
    builder.channel(channel, link.directions().to_vec());
    let pairs = [(), ()].map(|()| UnixDatagram::pair().unwrap());
    let mut devices = Vec::new();
    let mut ends = Vec::new();
    for ((inside, end), node) in pairs.into_iter().zip(nodes) {
        inside.set_nonblocking(true).unwrap();
        end.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let device = Device::new(OwnedFd::from(inside), Framing::Bare);
        let own = vec![(vec![address(node.index())], device.share().unwrap())];
        let port = builder.port(node);
        assert_eq!(ports.open(own, Budget::default()), port);
        devices.push((port, device));
        ends.push(end);
    }
    let network = builder.build().unwrap();
    let driver = Driver::new(clock.clone(), Settings::default(), devices, ports);
    Bench { network, driver, clock, ends: ends.try_into().unwrap() }
}

/// A node's own address, by its number.
fn address(node: usize) -> IpAddr {
    Ipv4Addr::new(172, 16, 0, 1 + node as u8).into()
}

/// A UDP packet of `size` bytes from one end to the other.
fn packet(size: u64, from: usize) -> Vec<u8> {
    let meta = Meta {
        id: 7,
        size: Bytes::new(size),
        source: SocketAddr::new(address(from), 1_000),
        destination: SocketAddr::new(address(1 - from), 2_000),
        protocol: Protocol::Udp,
        ecn: Ecn::NotEct,
        label: Label::default(),
        transmission: None,
        back: false,
        arrival: SimTime::ZERO,
    };
    let mut bytes = Vec::new();
    wire::write(&Packet { meta, body: Body::Filler }, &mut bytes).unwrap();
    bytes
}

impl Bench {
    fn run(&mut self, millis: u64) {
        let time = self.clock.now() + SimDuration::from_millis(millis);
        let until = Until { time, drained: false };
        self.driver.run(&mut self.network, until, &AtomicBool::new(false)).unwrap();
    }
}

#[test]
fn packets_cross_the_network_and_none_is_early() {
    let mut bench = bench();
    let sent = [packet(1_250, 0), packet(1_250, 0), packet(60, 1)];
    let begin = bench.clock.now();
    for (bytes, end) in sent.iter().zip([0, 0, 1]) {
        bench.ends[end].send(bytes).unwrap();
    }
    bench.run(200);
    let mut buffer = [0; 2_000];
    for (bytes, end) in sent.iter().zip([1, 1, 0]) {
        let size = bench.ends[end].recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..size], &bytes[..]);
    }
    let verdict = bench.driver.verdict();
    assert_eq!((verdict.packets_in, verdict.packets_out, verdict.refused), (3, 3, 0));
    assert_eq!(verdict.lateness.histogram.count(), 3);
    assert!(bench.clock.now().saturating_since(begin) >= SimDuration::from_millis(200));
}

/// Two packets of 1,250 bytes at 10 Mbit/s: 1 ms each, and 20 ms.
#[test]
fn a_packet_leaves_when_the_network_says_so() {
    let mut bench = bench();
    bench.ends[0].send(&packet(1_250, 0)).unwrap();
    bench.ends[0].send(&packet(1_250, 0)).unwrap();
    bench.ends[1].set_nonblocking(true).unwrap();
    let begin = bench.clock.now();
    let mut arrivals = Vec::new();
    let mut buffer = [0; 2_000];
    while arrivals.len() < 2 && bench.clock.now().saturating_since(begin).as_secs_f64() < 5.0 {
        bench.run(1);
        while bench.ends[1].recv(&mut buffer).is_ok() {
            arrivals.push(bench.clock.now().saturating_since(begin));
        }
    }
    assert!(arrivals[0] >= SimDuration::from_millis(21), "{arrivals:?}");
    assert!(arrivals[1] >= SimDuration::from_millis(22), "{arrivals:?}");
}

/// RFC 1191 section 4: the router before the link says how long a packet may be.
#[test]
fn a_packet_too_big_for_the_link_is_refused_by_icmp() {
    let mut bench = bench();
    bench.ends[0].send(&packet(1_501, 0)).unwrap();
    bench.run(200);
    let mut buffer = [0; 2_000];
    let size = bench.ends[0].recv(&mut buffer).unwrap();
    // An IPv4 header; destination unreachable, fragmentation needed; the MTU in the last two bytes of the ICMP header.
    assert_eq!((buffer[9], buffer[20], buffer[21]), (1, 3, 4));
    assert_eq!(u16::from_be_bytes([buffer[26], buffer[27]]), 1_500);
    assert!(size >= 20 + 8 + 28);
}

#[test]
fn bytes_that_are_no_packet_are_counted() {
    let mut bench = bench();
    bench.ends[0].send(&[0xff; 40]).unwrap();
    bench.run(200);
    assert_eq!(bench.driver.verdict().malformed, 1);
}
