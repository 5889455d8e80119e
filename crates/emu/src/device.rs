//! TUN devices: what programs send comes out of them as IP packets, and what is written to them reaches programs.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A TUN device without packet information (`IFF_NO_PI`), opened so that it never blocks.
#[derive(Debug)]
pub struct Device {
    file: File,
}

impl Device {
    /// The device behind a descriptor.
    pub fn new(descriptor: OwnedFd) -> Self {
        Self { file: descriptor.into() }
    }

    /// The same device once more.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn share(&self) -> io::Result<Self> {
        Ok(Self { file: self.file.try_clone()? })
    }

    /// Reads a packet into `buffer`: its size, or `None` if there is none at the moment.
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

    /// Writes a packet. Returns whether the device took it; it does not while it is down or has no room.
    pub fn write(&self, packet: &[u8]) -> bool {
        loop {
            match (&self.file).write(packet) {
                Ok(size) => return size == packet.len(),
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
