//! Quotas of control groups, and for how long they held programs back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::waits::{Id, Reading};

/// After so many looks, processes are asked for their groups again: they may have moved.
const ASK_EVERY: u32 = 10;

/// The control groups of programs that share out processor time.
#[derive(Debug)]
pub(super) struct Quotas {
    /// The places of the groups of the second version, and of those of the first version's controller of processors.
    mounts: Mounts,
    /// The processes that were asked for their groups, and the folders of these.
    asked: Vec<u32>,
    folders: BTreeSet<PathBuf>,
    /// Looks since then.
    looks: u32,
    /// By folder of a group, its number.
    numbers: BTreeMap<PathBuf, u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mounts {
    unified: Option<PathBuf>,
    legacy: Option<PathBuf>,
}

impl Mounts {
    /// From `/proc/self/mountinfo`: the fifth word is the place of a mount, and behind a dash are the kind of its file system, its
    /// source, and its options (`proc_pid_mountinfo(5)`).
    fn of(told: &str) -> Self {
        let mut mounts = Self::default();
        for line in told.lines() {
            let Some((mount, system)) = line.split_once(" - ") else { continue };
            let Some(place) = mount.split(' ').nth(4).map(PathBuf::from) else { continue };
            let mut words = system.split(' ');
            match (words.next(), words.nth(1)) {
                (Some("cgroup2"), _) => mounts.unified = Some(place),
                (Some("cgroup"), Some(options)) if options.split(',').any(|it| it == "cpu") => {
                    mounts.legacy = Some(place);
                }
                _ => {}
            }
        }
        mounts
    }

    /// The folders of the groups that a process is in, from `/proc/PID/cgroup`, with all that contain them.
    fn folders(&self, told: &str) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::new();
        for line in told.lines() {
            let mut words = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let mount = if controllers.is_empty() {
                &self.unified
            } else if controllers.split(',').any(|controller| controller == "cpu") {
                &self.legacy
            } else {
                &None
            };
            if let Some(mount) = mount {
                let path = Path::new(path.trim_start_matches('/'));
                folders.extend(path.ancestors().map(|part| mount.join(part)));
            }
        }
        folders
    }
}

impl Quotas {
    pub(super) fn new() -> Self {
        let told = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let (asked, folders, looks, numbers) = Default::default();
        Self { mounts: Mounts::of(&told), asked, folders, looks, numbers }
    }

    /// Appends the readings of the groups that these processes are in.
    pub(super) fn read(&mut self, processes: Vec<u32>, readings: &mut Vec<Reading>) {
        self.looks += 1;
        if self.asked != processes || self.looks >= ASK_EVERY {
            self.ask(processes);
        }
        for folder in &self.folders {
            let told = fs::read_to_string(folder.join("cpu.stat")).unwrap_or_default();
            if let Some((waited, slices)) = throttled(&told) {
                let next = self.numbers.len() as u32;
                let id = Id::Group(*self.numbers.entry(folder.clone()).or_insert(next));
                readings.push(Reading { id, ran: 0, waited, slices, is_stopped: false });
            }
        }
    }

    /// Asks processes for their groups.
    fn ask(&mut self, processes: Vec<u32>) {
        let mut seen = BTreeSet::new();
        self.folders.clear();
        for process in &processes {
            let told = fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
            if !seen.contains(&told) {
                self.folders.extend(self.mounts.folders(&told));
                seen.insert(told);
            }
        }
        (self.asked, self.looks) = (processes, 0);
    }

    /// The folder of a group.
    pub(super) fn name(&self, number: u32) -> Option<String> {
        let found = self.numbers.iter().find(|(_, its)| **its == number);
        found.map(|(folder, _)| folder.display().to_string())
    }
}

/// Nanoseconds for which a group's quota held its threads back, and how often, from its `cpu.stat`; nothing of a group that is not told to
/// have any.
fn throttled(told: &str) -> Option<(u64, u64)> {
    let figure = |name: &str| {
        let mut pairs = told.lines().filter_map(|line| line.split_once(' '));
        pairs.find(|(its, _)| *its == name)?.1.trim().parse::<u64>().ok()
    };
    // In microseconds in the second version of control groups, in nanoseconds in the first.
    let time = figure("throttled_usec").map(|time| time * 1_000).or(figure("throttled_time"))?;
    Some((time, figure("nr_throttled")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 prints them, with both versions mounted.
    const MOUNTS: &str = "\
24 18 0:21 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
25 24 0:22 / /sys/fs/cgroup/cpu rw,relatime - cgroup none rw,cpu,cpuacct
26 24 0:23 / /sys/fs/cgroup/cpuset rw,relatime - cgroup none rw,cpuset
27 24 0:24 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 none rw
";

    #[test]
    fn groups_are_those_of_a_process_and_all_around_them() {
        let mounts = Mounts::of(MOUNTS);
        let told = "3:cpuset:/other\n2:cpu,cpuacct:/a/b\n0::/c\n";
        let folders: Vec<_> = mounts.folders(told).into_iter().collect();
        let expected = ["cpu/", "cpu/a", "cpu/a/b", "unified/", "unified/c"];
        let expected = expected.map(|path| Path::new("/sys/fs/cgroup").join(path));
        assert_eq!(folders, expected);
        assert!(Mounts::default().folders(told).is_empty());
    }

    #[test]
    fn both_versions_tell_how_long_a_quota_held_threads_back() {
        let second = "usage_usec 9\nnr_periods 50\nnr_throttled 7\nthrottled_usec 123456\n";
        assert_eq!(throttled(second), Some((123_456_000, 7)));
        let first = "nr_periods 34\nnr_throttled 1\nthrottled_time 541953\nnr_bursts 0\n";
        assert_eq!(throttled(first), Some((541_953, 1)));
        assert_eq!(throttled("usage_usec 9\n"), None);
        assert_eq!(throttled(""), None);
    }
}
