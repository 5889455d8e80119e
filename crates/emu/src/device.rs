//! TUN devices: what programs send comes out of them as IP packets, and what is written to them reaches programs.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::framing::Framing;

/// A TUN device, opened so that it never blocks.
#[derive(Debug)]
pub struct Device {
    file: File,
    framing: Framing,
}

impl Device {
    /// The device behind a descriptor.
    pub fn new(descriptor: OwnedFd, framing: Framing) -> Self {
        Self { file: descriptor.into(), framing }
    }

    /// The same device once more, to write to.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn share(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()?, framing: self.framing })
    }

    /// The header before each packet.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Reads a frame into `buffer`: its size, or `None` if there is none at the moment.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match (&self.file).read(buffer) {
                Ok(size) => return Ok(Some(size)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a frame. Returns whether the device took it; it does not while it is down or has no room.
    pub fn write(&self, frame: &[u8]) -> bool {
        loop {
            match (&self.file).write(frame) {
                Ok(size) => return size == frame.len(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
