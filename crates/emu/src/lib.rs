//! The network in real time: the very state machine that runs in virtual time, driven by a monotonic clock, with packets of real
//! programs coming in and going out through TUN devices; and an account of how far the clock could be trusted.
//!
//! A packet is injected at the time at which it was read, and everything that happens to it in the network happens at the
//! times that follow from that one. Only when it leaves may it be late, by what [`Verdict`] counts: lateness does not add up.

mod budget;
mod captures;
mod clock;
mod device;
mod driver;
pub mod flows;
mod framing;
mod intervals;
mod losses;
mod offload;
mod port;
mod precedence;
mod processors;
mod programs;
mod report;
mod session;
pub mod spin;
mod transmit_queue;
mod verdict;
mod writer;

pub use budget::Budget;
pub use captures::CaptureTotals;
pub use clock::{MachineTime, WallClock};
pub use device::Device;
pub use driver::{DriveError, Driver, Settings, Until};
pub use framing::Framing;
pub use intervals::Intervals;
pub use losses::Losses;
pub use port::Ports;
pub use precedence::Precedence;
pub use programs::{Kind, SocketOverrun, Waits, Worst};
pub use report::{SpinReport, VerdictReport};
pub use session::{HostParts, Session, SessionError, SessionOutcome};
pub use verdict::{Lateness, Stalls, Verdict};
