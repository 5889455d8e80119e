//! Network address translation at a node: packets that leave it for the outside carry the address of the interface they
//! leave by, and answers to it find their way back (RFC 4787, RFC 5382).
//!
//! Mapping and filtering are endpoint-independent. A port keeps its number outside unless another has it there; the identifier
//! of an ICMP query counts as one (RFC 5508 section 3). The mappings of an interface are forgotten when its link is detached, as
//! by Linux's `masquerade`; packets of the same connection that leave by another interface get a new one.

use std::net::SocketAddr;

use leobench_base::{LinkId, Protocol};
use rustc_hash::FxHashMap;

/// First port tried where the inside port is taken.
const FIRST_PORT: u16 = 1_024;

/// The translation at one node.
#[derive(Clone, Debug)]
pub(super) struct Nat {
    outside: Vec<Outside>,
}

/// The mappings of one interface to the outside.
#[derive(Clone, Debug)]
struct Outside {
    link: LinkId,
    ports: FxHashMap<(Protocol, SocketAddr), u16>,
    inside: FxHashMap<(Protocol, u16), SocketAddr>,
}

impl Nat {
    /// Translates what leaves by these links.
    pub(super) fn new(outside: impl IntoIterator<Item = LinkId>) -> Self {
        let outside = outside.into_iter().map(|link| Outside {
            link,
            ports: FxHashMap::default(),
            inside: FxHashMap::default(),
        });
        Self { outside: outside.collect() }
    }

    /// The port outside of `link` that stands for an address and port inside; `None` if the link is not one to the
    /// outside, or all of its ports are taken.
    pub(super) fn leave(
        &mut self,
        link: LinkId,
        protocol: Protocol,
        inside: SocketAddr,
    ) -> Option<u16> {
        let outside = self.outside.iter_mut().find(|outside| outside.link == link)?;
        if let Some(port) = outside.ports.get(&(protocol, inside)) {
            return Some(*port);
        }
        let is_free = |port: &u16| !outside.inside.contains_key(&(protocol, *port));
        let mut candidates = std::iter::once(inside.port()).chain(FIRST_PORT..=u16::MAX);
        let port = candidates.find(is_free)?;
        outside.ports.insert((protocol, inside), port);
        outside.inside.insert((protocol, port), inside);
        Some(port)
    }

    /// The address and port inside that a port outside of `link` stands for, if it stands for one.
    pub(super) fn enter(&self, link: LinkId, protocol: Protocol, port: u16) -> Option<SocketAddr> {
        let outside = self.outside.iter().find(|outside| outside.link == link)?;
        outside.inside.get(&(protocol, port)).copied()
    }

    /// The port outside of `link` that stands for an address and port inside, if one does already.
    pub(super) fn mapped(
        &self,
        link: LinkId,
        protocol: Protocol,
        inside: SocketAddr,
    ) -> Option<u16> {
        let outside = self.outside.iter().find(|outside| outside.link == link)?;
        outside.ports.get(&(protocol, inside)).copied()
    }

    /// Whether packets that leave by `link` are translated.
    pub(super) fn translates(&self, link: LinkId) -> bool {
        self.outside.iter().any(|outside| outside.link == link)
    }

    /// Forgets the mappings of `link`.
    pub(super) fn forget(&mut self, link: LinkId) {
        for outside in self.outside.iter_mut().filter(|outside| outside.link == link) {
            outside.ports.clear();
            outside.inside.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(last: u8, port: u16) -> SocketAddr {
        SocketAddr::from(([172, 16, 0, last], port))
    }

    #[test]
    fn a_port_keeps_its_number_unless_it_is_taken() {
        let [link, other] = [0, 2].map(LinkId::from);
        let mut nat = Nat::new([link, other]);
        assert_eq!(nat.leave(link, Protocol::Udp, host(1, 5_000)), Some(5_000));
        assert_eq!(nat.leave(link, Protocol::Udp, host(2, 5_000)), Some(1_024));
        assert_eq!(nat.leave(link, Protocol::Udp, host(2, 5_000)), Some(1_024), "it stays");
        assert_eq!(nat.leave(link, Protocol::Tcp, host(2, 5_000)), Some(5_000), "by protocol");
        assert_eq!(nat.leave(other, Protocol::Udp, host(2, 5_000)), Some(5_000), "by interface");
        assert_eq!(nat.enter(link, Protocol::Udp, 1_024), Some(host(2, 5_000)));
        assert_eq!(nat.enter(link, Protocol::Udp, 1_025), None);
        assert_eq!(nat.enter(LinkId::from(7), Protocol::Udp, 5_000), None);
        assert_eq!(nat.leave(LinkId::from(7), Protocol::Udp, host(1, 1)), None);
        assert_eq!(nat.mapped(link, Protocol::Udp, host(2, 5_000)), Some(1_024));
        assert_eq!(nat.mapped(link, Protocol::Udp, host(3, 5_000)), None, "it makes none");
    }

    #[test]
    fn a_detached_link_loses_its_mappings() {
        let link = LinkId::from(0);
        let mut nat = Nat::new([link]);
        nat.leave(link, Protocol::Udp, host(1, 5_000));
        nat.forget(link);
        assert_eq!(nat.enter(link, Protocol::Udp, 5_000), None);
        assert_eq!(nat.leave(link, Protocol::Udp, host(2, 5_000)), Some(5_000));
    }
}
