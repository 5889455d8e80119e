//! Reports of endpoints about the data of their streams, and about datagrams.

use leobench_base::StreamIndex;
use leobench_base::packet::Datagram;

/// The progress of a stream's data, or the arrival of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// All bytes of the stream below `offset` have been sent at least once, or were dropped.
    Sent {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// Bytes from the start of the stream.
        offset: u64,
    },
    /// The transport's own send buffer takes all bytes of the stream below `offset`: a blocking write of them returns.
    Room {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// Bytes from the start of the stream.
        offset: u64,
    },
    /// All bytes of the stream below `offset` have been handed to the receiving application in order.
    Delivered {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// Bytes from the start of the stream.
        offset: u64,
    },
    /// A datagram arrived.
    Datagram {
        /// The datagram.
        datagram: Datagram,
        /// Whether it bore the mark "congestion experienced" of ECN, over a transport that leaves marks to the application (UDP).
        is_marked: bool,
    },
    /// A datagram of this end is lost, as far as its sender can tell.
    Lost {
        /// The datagram; if it was dropped, it stands for the rest of its message.
        datagram: Datagram,
        /// Whether this end dropped it because its deadline passed before it could be sent. One that was sent may still arrive.
        dropped: bool,
    },
    /// This end has opened a stream for a message alone.
    Opened {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// Number of the message within that stream.
        message: u64,
        /// Number of its own stream among those for a message alone.
        number: u64,
    },
    /// Bytes of a message in a stream of its own have been handed to the receiving application in order.
    Part {
        /// Number of its own stream, as [`Opened`](Self::Opened) tells.
        number: u64,
        /// How many.
        bytes: u64,
    },
    /// This end cancelled a message because its deadline passed. If it was sent in full, it may still arrive.
    Cancelled {
        /// Stream number within the flow.
        stream: StreamIndex,
        /// Number of the message within that stream.
        message: u64,
        /// Its bytes that were sent.
        sent: u64,
    },
}

const _: () = assert!(size_of::<Report>() <= 32, "most packets cause one");
