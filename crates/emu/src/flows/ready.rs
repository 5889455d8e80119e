//! Which endpoints have something on their sockets.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use leobench_base::End;
use leobench_base::FlowId;
use rustix::event::{Timespec, epoll};

/// Most sockets asked about at once; others follow in the next round.
const MOST_AT_ONCE: usize = 64;

/// Tells which ends of flows have something on their sockets. Copies share their sockets.
#[derive(Clone, Debug)]
pub struct Ready(Arc<OwnedFd>);

/// Watches the sockets of an end of a flow. Each is told of once whenever something new comes or room appears.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    ready: Ready,
    token: u64,
}

/// An end of a flow that has something on a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// The flow.
    pub flow: FlowId,
    /// Which end of it.
    pub end: End,
}

impl Ready {
    /// Without a socket yet.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(epoll::create(epoll::CreateFlags::CLOEXEC)?)))
    }

    /// Watches sockets of an end of a flow.
    pub(super) fn watch(&self, flow: FlowId, end: End) -> Watch {
        let token = (flow.index() as u64) << 1 | u64::from(end == End::Receiver);
        Watch { ready: self.clone(), token }
    }

    /// Appends the ends that have something now.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub fn take(&self, woken: &mut Vec<Woken>) -> io::Result<()> {
        let mut events = [const { MaybeUninit::uninit() }; MOST_AT_ONCE];
        let (events, _) = epoll::wait(&self.0, &mut events, Some(&Timespec::default()))?;
        for event in events {
            let token = event.data.u64();
            let end = if token & 1 == 0 { End::Sender } else { End::Receiver };
            woken.push(Woken { flow: FlowId::from((token >> 1) as usize), end });
        }
        Ok(())
    }
}

impl AsFd for Ready {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Watch {
    /// Watches a socket too, until that is closed.
    pub(super) fn add(&self, socket: impl AsFd) -> io::Result<()> {
        let kinds = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        Ok(epoll::add(&self.ready.0, socket, epoll::EventData::new_u64(self.token), kinds)?)
    }
}
