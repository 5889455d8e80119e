//! ICMP through a node that translates addresses (RFC 5508), as bytes of programs. smoltcp reads them.

use std::net::SocketAddr;

use leobench_base::packet::{Body, Ecn, Label, Meta, Packet, Protocol};
use leobench_base::spec::Limit;
use leobench_base::{BitRate, Bytes, PortId, RngTree, SimDuration, SimTime, wire};
use leobench_link::channel::steady::SteadySpec;
use leobench_link::queue::fifo::FifoSpec;
use leobench_link::{Capacity, ChannelContext, ChannelModel, LinkConfig, QueueModel};
use leobench_sim::network::{Egress, Network, NetworkBuilder};
use smoltcp::wire::{Icmpv4Message, Icmpv4Packet, Ipv4Packet, UdpPacket};

struct Bench {
    network: Network,
    ports: [PortId; 3],
    now: SimTime,
}

/// A client behind a translating router, a server, and another client.
fn bench() -> Bench {
    let mut builder = NetworkBuilder::default();
    let [client, router, server, other] =
        ["client", "router", "server", "other"].map(|name| builder.node(name));
    let rng = RngTree::new(1);
    let mut link = |name: &str, ends| {
        let config = |direction| LinkConfig {
            queue: FifoSpec { limit: Limit::Unlimited }
                .build(Capacity::Bytes(Bytes::new(u64::MAX)), &rng),
            loss: None,
            access: None,
            delay: SimDuration::from_millis(1),
            overhead: 0,
            mtu: Bytes::new(1_500),
            overtaking: false,
            rate_scale: 1.0,
            rng: rng.child(name).child(direction),
        };
        let link = builder.link(name, ends, [config("there"), config("back")]);
        let context = ChannelContext { folder: ".".into(), rng: rng.clone() };
        let channel = SteadySpec { rate: BitRate::from_bps(10_000_000) }.build(&context).unwrap();
        builder.channel(channel, link.directions().to_vec());
        link
    };
    link("inside", [client, router]);
    link("beside", [other, router]);
    let outside = link("outside", [router, server]);
    builder.nat(router, &[outside]);
    let ports = [client, server, other].map(|node| builder.port(node));
    Bench { network: builder.build().unwrap(), ports, now: SimTime::ZERO }
}

impl Bench {
    fn send(&mut self, host: usize, bytes: Vec<u8>) {
        let packet = wire::parse(bytes.into(), 0, self.now).unwrap();
        self.network.inject(self.now, self.ports[host], packet).unwrap();
        self.now += SimDuration::from_millis(100);
        self.network.advance(self.now).unwrap();
    }

    /// The packet that left at a host last, as bytes.
    fn got(&mut self, host: usize) -> Vec<u8> {
        let mut egress = Vec::new();
        self.network.take_egress(&mut egress);
        let Some(Egress::Packet { port, packet, .. }) = egress.pop() else { panic!("nothing") };
        assert_eq!(port, self.ports[host]);
        let mut bytes = Vec::new();
        wire::write(&packet, &mut bytes).unwrap();
        bytes
    }

    /// Sends a datagram; as it arrived at the other host.
    fn datagram(&mut self, from: usize, source: SocketAddr, destination: SocketAddr) -> Vec<u8> {
        self.send(from, packet(Protocol::Udp, [source, destination]));
        self.got(1 - from)
    }

    /// The host that got this packet refuses it; the error, as it arrived at the other one.
    fn refuse(&mut self, host: usize, packet: &[u8]) -> Vec<u8> {
        let router = ends(packet)[1].ip();
        self.send(host, wire::too_big(packet, router, Bytes::new(100)).unwrap().unwrap());
        self.got(1 - host)
    }
}

/// A packet without content.
fn packet(protocol: Protocol, [source, destination]: [SocketAddr; 2]) -> Vec<u8> {
    let meta = Meta {
        id: 7,
        size: Bytes::new(200),
        source,
        destination,
        protocol,
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

/// A ping, or an answer to one.
fn echo(message: Icmpv4Message, ends: [SocketAddr; 2], identifier: u16) -> Vec<u8> {
    let mut bytes = packet(Protocol::ICMP, ends);
    let mut echo = Icmpv4Packet::new_unchecked(&mut bytes[20..]);
    echo.set_msg_type(message);
    echo.set_echo_ident(identifier);
    echo.fill_checksum();
    bytes
}

/// Source and destination of a packet.
fn ends(packet: &[u8]) -> [SocketAddr; 2] {
    let meta = wire::parse(packet.to_vec().into(), 0, SimTime::ZERO).unwrap().meta;
    [meta.source, meta.destination]
}

/// The packet that an error with sound checksums quotes, whose own are sound too.
fn quoted(error: &[u8]) -> Vec<u8> {
    let ip = Ipv4Packet::new_checked(error).unwrap();
    assert!(ip.verify_checksum());
    let icmp = Icmpv4Packet::new_checked(ip.payload()).unwrap();
    assert!(icmp.verify_checksum());
    let inner = Ipv4Packet::new_checked(icmp.data()).unwrap();
    assert!(inner.verify_checksum());
    let datagram = UdpPacket::new_checked(inner.payload()).unwrap();
    assert!(datagram.verify_checksum(&inner.src_addr().into(), &inner.dst_addr().into()));
    icmp.data().to_vec()
}

const CLIENT: &str = "172.16.0.1:5000";
const SERVER: &str = "172.16.0.3:7";
const OTHER: &str = "172.16.0.4:5000";

#[test]
fn an_error_reaches_who_sent_the_packet() {
    let mut bench = bench();
    let [client, server] = [CLIENT, SERVER].map(|address| address.parse().unwrap());
    let arrived = bench.datagram(0, client, server);
    assert_ne!(ends(&arrived)[0], client, "it is translated");
    let error = bench.refuse(1, &arrived);
    assert_eq!(ends(&error)[1].ip(), client.ip());
    assert_eq!(ends(&quoted(&error)), [client, server]);
}

#[test]
fn an_error_from_inside_quotes_what_was_sent_to_the_outside() {
    let mut bench = bench();
    let [client, server] = [CLIENT, SERVER].map(|address| address.parse().unwrap());
    let outside = ends(&bench.datagram(0, client, server))[0];
    let arrived = bench.datagram(1, server, outside);
    assert_eq!(ends(&arrived), [server, client]);
    let error = bench.refuse(0, &arrived);
    assert_eq!(ends(&error).map(|end| end.ip()), [outside.ip(), server.ip()]);
    assert_eq!(ends(&quoted(&error)), [server, outside]);
}

/// RFC 5508 section 4.3: an error about a packet that nobody sent is dropped.
#[test]
fn an_error_about_nothing_is_dropped() {
    let mut bench = bench();
    let [client, server] = [CLIENT, SERVER].map(|address| address.parse().unwrap());
    let arrived = bench.datagram(0, client, server);
    let mut other = self::bench();
    let error = wire::too_big(&arrived, server.ip(), Bytes::new(100)).unwrap().unwrap();
    other.send(1, error);
    let mut egress = Vec::new();
    other.network.take_egress(&mut egress);
    assert!(egress.is_empty(), "{egress:?}");
}

/// RFC 5508 section 3.1: identifiers tell whose ping is answered.
#[test]
fn two_hosts_ping_with_the_same_identifier() {
    let mut bench = bench();
    let server: SocketAddr = SERVER.parse().unwrap();
    let clients = [(0, CLIENT), (2, OTHER)].map(|(host, end)| (host, end.parse().unwrap()));
    let arrived = clients.map(|(host, client): (usize, SocketAddr)| {
        bench.send(host, echo(Icmpv4Message::EchoRequest, [client, server], 77));
        let ping = bench.got(1);
        assert!(Icmpv4Packet::new_checked(&ping[20..]).unwrap().verify_checksum());
        ends(&ping)[0]
    });
    assert_eq!(arrived[0].ip(), arrived[1].ip(), "the router's");
    assert_ne!(arrived[0].port(), arrived[1].port());
    for ((host, client), asked) in clients.into_iter().zip(arrived) {
        let answer = echo(Icmpv4Message::EchoReply, [server, asked], asked.port());
        bench.send(1, answer);
        let answer = bench.got(host);
        assert_eq!(ends(&answer)[1], SocketAddr::new(client.ip(), 77));
        assert!(Icmpv4Packet::new_checked(&answer[20..]).unwrap().verify_checksum());
    }
}
