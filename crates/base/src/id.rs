//! Numbers of the things in a network, each of a type of its own, so that none is taken for another.

/// Defines index types: positions in a table, counted from 0.
#[macro_export]
macro_rules! indices {
    ($($(#[doc = $doc:literal])* $name:ident)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The position.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::convert::From<usize> for $name {
            /// # Panics
            /// Beyond four thousand million.
            #[inline]
            fn from(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 things of a kind"))
            }
        }

        impl ::std::convert::From<$name> for usize {
            #[inline]
            fn from(id: $name) -> Self {
                id.index()
            }
        }
    )*};
}

indices! {
    /// A host or a router.
    NodeId
    /// A link, both directions.
    LinkId
    /// One direction of a link; also the interface from which it is entered, at the node that it leads from.
    DirectionId
    /// A flow: the data from one node to another over one connection.
    FlowId
    /// One end of a flow.
    EndpointId
    /// A place where packets enter and leave the network from outside.
    PortId
    /// A stream of a flow.
    StreamIndex
    /// A satellite of a constellation.
    SatelliteId
}

impl StreamIndex {
    /// The first stream of a flow, or its only one.
    pub const FIRST: Self = Self(0);

    /// The stream after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The directions of links are numbered link by link: from its first node to its second, then back.
impl LinkId {
    /// Both directions.
    pub const fn directions(self) -> [DirectionId; 2] {
        [DirectionId(2 * self.0), DirectionId(2 * self.0 + 1)]
    }
}

impl DirectionId {
    /// The link that this is a direction of.
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// Whether it leads from the link's second node to its first.
    pub const fn is_backward(self) -> bool {
        self.0 % 2 == 1
    }

    /// The direction of the link that it is.
    pub const fn direction(self) -> Direction {
        if self.is_backward() { Direction::Backward } else { Direction::Forward }
    }

    /// The other direction.
    #[must_use]
    pub const fn back(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// One of the two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the link's first node to its second.
    Forward,
    /// From the link's second node to its first.
    Backward,
}

impl Direction {
    /// Both directions, forward first.
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Backward];

    /// The key of this direction in a link's table.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
        }
    }
}
