//! Threads of programs, as the kernel's process file system shows them.

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;

use super::waits::{Id, Reading};

/// Bytes of a line with a thread's figures at most.
const LINE: usize = 512;

/// The processes of a sandbox: all that a process file system shows but this one.
#[derive(Debug)]
pub(super) struct Processes {
    own: u32,
}

impl Processes {
    pub(super) fn new() -> Self {
        Self { own: std::process::id() }
    }

    /// The processes that there are now, but this one.
    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        numbers("/proc".into()).filter(|process| *process != self.own)
    }

    /// Appends the readings of all threads of a process. Nothing of one that has just ended.
    pub(super) fn read(process: u32, readings: &mut Vec<Reading>) {
        // A stop is that of a whole process; to ask each thread would take twice as long.
        let is_stopped = state(process).is_some_and(|state| matches!(state, b'T' | b't'));
        for thread in numbers(format!("/proc/{process}/task").into()) {
            let mut line = [0; LINE];
            let Some(line) = read(&format!("/proc/{process}/task/{thread}/schedstat"), &mut line)
            else {
                continue;
            };
            if let Some([ran, waited, slices]) = figures(line) {
                let id = Id::Thread { process, thread };
                readings.push(Reading { id, ran, waited, slices, is_stopped });
            }
        }
    }

    /// The name of a process.
    pub(super) fn name(process: u32) -> Option<String> {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        Some(name.trim_end().to_owned())
    }
}

/// The time in which a thread ran and in which it waited for a processor, in nanoseconds, and how often it ran (`schedstats` in the
/// kernel's documentation).
fn figures(line: &[u8]) -> Option<[u64; 3]> {
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut next = || words.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}

/// The state of a process: the letter behind its name (`proc_pid_stat(5)`).
fn state(process: u32) -> Option<u8> {
    let mut line = [0; LINE];
    let line = read(&format!("/proc/{process}/task/{process}/stat"), &mut line)?;
    // The name is in parentheses, and may have some itself.
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    line.get(name_end + 2).copied()
}

/// The begin of a file, as far as there is room.
fn read<'a>(path: &str, room: &'a mut [u8]) -> Option<&'a [u8]> {
    let count = File::open(path).ok()?.read(room).ok()?;
    room.get(..count)
}

/// The entries of a folder whose names are numbers; none if it is gone.
pub(super) fn numbers(folder: PathBuf) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().unwrap()
    }

    #[test]
    fn another_process_is_found_with_its_name_and_its_figures() {
        let mut child = sleeper();
        let processes = Processes::new();
        let mut readings = Vec::new();
        // Until it has become another program.
        while Processes::name(child.id()).is_none_or(|name| name != "sleep") {}
        assert!(processes.all().any(|process| process == child.id()));
        assert!(processes.all().all(|process| process != std::process::id()));
        // The kernel counts what a thread ran when it stops running.
        for _ in 0..1_000_000 {
            readings.clear();
            Processes::read(child.id(), &mut readings);
            if readings[0].ran > 0 {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let (process, thread) = (child.id(), child.id());
        assert_eq!(readings.len(), 1);
        assert_eq!(readings[0].id, Id::Thread { process, thread });
        assert!(readings[0].ran > 0 && readings[0].slices > 0);
        assert!(!readings[0].is_stopped);
        readings.clear();
        Processes::read(child.id(), &mut readings);
        assert_eq!(readings, []);
    }

    #[test]
    fn a_stopped_process_is_stopped() {
        let mut child = sleeper();
        kill_process(Pid::from_child(&child), Signal::STOP).unwrap();
        let stops = (0..1_000_000).any(|_| state(child.id()) == Some(b'T'));
        let mut readings = Vec::new();
        Processes::read(child.id(), &mut readings);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(stops);
        assert!(readings[0].is_stopped);
    }

    #[test]
    fn figures_are_three_numbers() {
        assert_eq!(figures(b"12 345 6\n"), Some([12, 345, 6]));
        assert_eq!(figures(b"12 345\n"), None);
        assert_eq!(figures(b""), None);
    }
}
