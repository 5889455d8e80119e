//! The header before each packet of a device.

/// Bytes of the header of virtio (version 1.2, section 5.1.6), without the number of buffers.
pub(crate) const VIRTIO_HEADER: usize = 10;

/// The header before each packet of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Nothing (`IFF_NO_PI`).
    Bare,
    /// The header of virtio (`IFF_VNET_HDR`), by which hosts hand over long segments and leave checksums to the device.
    Virtio {
        /// Whether hosts hand over several datagrams of UDP at once, and take them so (`TUN_F_USO4`, since Linux 6.2).
        datagrams: bool,
    },
}

impl Framing {
    /// Bytes before a packet.
    pub const fn header(self) -> usize {
        match self {
            Self::Bare => 0,
            Self::Virtio { .. } => VIRTIO_HEADER,
        }
    }
}
