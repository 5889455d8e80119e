//! A bare relay between two TUN devices, standard input and standard output: what a link in real time is measured against.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::timed;

/// Packets read from one device before the other has its turn.
const BATCH: usize = 64;

/// Relays for so long, then prints how many packets there were and what they cost.
pub(crate) fn run(span: Duration) -> io::Result<()> {
    let devices = [rustix::stdio::stdin(), rustix::stdio::stdout()];
    for device in devices {
        let flags = rustix::fs::fcntl_getfl(device)?;
        rustix::fs::fcntl_setfl(device, flags | rustix::fs::OFlags::NONBLOCK)?;
    }
    // As the driver of a link does; where it is not allowed, neither of them has precedence.
    _ = rustix::process::setpriority_process(None, -20);
    #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
    let begin = std::time::Instant::now();
    let (cpu, packets) = timed(|| -> io::Result<u64> {
        let mut polled = devices.map(|device| PollFd::from_borrowed_fd(device, PollFlags::IN));
        let mut buffer = vec![0; 65_536 + 64];
        let mut packets = 0;
        while begin.elapsed() < span {
            let timeout = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            poll(&mut polled, Some(&timeout))?;
            packets += relay(devices[0], devices[1], &mut buffer)?;
            packets += relay(devices[1], devices[0], &mut buffer)?;
        }
        Ok(packets)
    });
    let packets = packets?;
    #[expect(clippy::print_stderr, reason = "its standard output is a device")]
    {
        eprintln!("{{\"packets\": {packets}, \"cpu_s\": {}}}", cpu.as_secs_f64());
    }
    Ok(())
}

fn relay(from: BorrowedFd<'_>, to: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<u64> {
    for count in 0..BATCH {
        match rustix::io::read(from, &mut *buffer) {
            Ok(size) => _ = rustix::io::write(to, &buffer[..size]),
            Err(Errno::AGAIN) => return Ok(count as u64),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(BATCH as u64)
}
