//! Types that every other crate uses: units, virtual time, named random streams, packets, and the specifications of
//! scenario files. It depends on no other crate of leobench and reads no clock.

pub mod clock;
pub mod decibel;
pub mod descriptor;
pub mod distribution;
mod end;
pub mod files;
pub mod histogram;
pub mod id;
mod largest_unit;
pub mod packet;
pub mod quantity;
pub mod rng;
pub mod segment;
pub mod spec;
pub mod time;
pub mod units;
pub mod varint;
pub mod wire;

pub use clock::{Clock, ClockSpec, Phase};
pub use descriptor::{Descriptor, Header, Slot, Tag};
pub use distribution::{DurationDistribution, RateDistribution};
pub use end::End;
pub use histogram::{Digest, LogHistogram};
pub use id::{
    Direction, DirectionId, EndpointId, FlowId, LinkId, NodeId, PortId, SatelliteId, StreamIndex,
};
pub use packet::{Body, Destination, Ecn, Hashes, Label, Meta, Packet, Protocol, UdpPayload, mix};
pub use rng::{RngTree, SimRng};
pub use time::{SimDuration, SimTime};
pub use units::{BitRate, Bytes};
