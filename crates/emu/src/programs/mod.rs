//! A watch on the programs of a run: whether they waited for a processor, were stopped or held back by a quota, and which of
//! their sockets had no room for datagrams.
//!
//! A [`Watch`] is a thread beside the driver. Every 100 ms it reads what the kernel counts per thread (`processes`) and per
//! control group (`quotas`), and hands the readings to [`Waits`], which judges them without a clock or a file. About five times a
//! second it asks each host for datagrams that were lost in its sockets ([`SocketWatch`]). It spends 1 % of a processor at most: where a
//! look takes more than 1 ms, the next one comes later. [`Findings`] are what it has seen.

mod processes;
mod quotas;
mod sockets;
mod waits;
mod watch;

pub use self::sockets::SocketOverrun;
pub(crate) use self::sockets::SocketWatch;
pub use self::waits::{Kind, Waits, Worst};
pub(crate) use self::watch::{Findings, Watch};
