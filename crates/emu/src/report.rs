//! Reports of a run in real time about itself.

use std::path::Path;

use leobench_base::{LogHistogram, SimDuration, SimTime};
use leobench_sim::record::{SinkError, SpinRow, write_spin};

use crate::budget::Budget;
use crate::captures::CaptureTotals;
use crate::clock::{MachineTime, WallClock};
use crate::programs::SocketOverrun;
use crate::spin::SpinFlow;
use crate::verdict::Verdict;

/// The verdict on a run, as it is written.
#[derive(Debug, serde::Serialize)]
pub struct VerdictReport {
    verdict: &'static str,
    reasons: Vec<String>,
    warnings: Vec<String>,
    /// Spans of seconds that the reasons concern; none if they concern all.
    invalid_s: Vec<[f64; 2]>,
    precedence: &'static str,
    /// When the session's time began, by the clock of the day and the monotonic one, and by how much the former ran ahead since.
    started_unix_ns: u64,
    started_monotonic_ns: u64,
    unix_drift_ms: f64,
    elapsed_s: f64,
    driver_cpu_s: f64,
    driver_spin_s: f64,
    driver_cpu_s_per_gbit: Option<f64>,
    packets_in: u64,
    packets_out: u64,
    hosts: Vec<HostTraffic>,
    captures: Option<CaptureTotals>,
    frames_in: u64,
    frames_out: u64,
    packets_refused: u64,
    ring_overruns: u64,
    socket_overruns: u64,
    socket_overruns_by: Vec<OverrunReport>,
    device_queue_peak: u64,
    packets_malformed: u64,
    packets_over_budget: u64,
    lateness_ms: Option<Quantiles>,
    device_wait_ms: Option<Quantiles>,
    longest_stall_ms: f64,
    processors_busy: Option<f64>,
    programs_waited: Option<f64>,
    budget: BudgetReport,
}

#[derive(Debug, serde::Serialize)]
struct BudgetReport {
    lateness_ms: f64,
    stall_ms: f64,
    busy: f64,
    waited: f64,
}

/// Bytes of the IP packets that a host has sent into the network and received from it.
#[derive(Debug, serde::Serialize)]
struct HostTraffic {
    host: String,
    bytes_sent: u64,
    bytes_received: u64,
}

/// The session that a verdict is on.
pub(crate) struct Setting<'a> {
    pub(crate) clock: &'a WallClock,
    /// The hosts, and by device the number of its host.
    pub(crate) hosts: &'a [String],
    pub(crate) owners: &'a [usize],
    pub(crate) captures: Option<CaptureTotals>,
}

impl Setting<'_> {
    /// The traffic of the hosts, from that of the devices.
    fn traffic(&self, verdict: &Verdict) -> Vec<HostTraffic> {
        let sum = |host: usize, bytes: &[u64]| {
            let own = self.owners.iter().zip(bytes).filter(|(owner, _)| **owner == host);
            own.map(|(_, bytes)| bytes).sum()
        };
        let traffic = self.hosts.iter().enumerate().map(|(number, host)| HostTraffic {
            host: host.clone(),
            bytes_sent: sum(number, &verdict.bytes_in),
            bytes_received: sum(number, &verdict.bytes_out),
        });
        traffic.collect()
    }
}

/// The driver's work for a billion bits that came in, without the time in which it was awake only to be on time.
fn cpu_per_gbit(verdict: &Verdict) -> Option<f64> {
    let gbit = verdict.bytes_in.iter().sum::<u64>() as f64 * 8.0 / 1e9;
    let worked = verdict.cpu.saturating_sub(verdict.spun).as_secs_f64();
    (gbit > 0.0).then(|| worked / gbit)
}

#[derive(Debug, serde::Serialize)]
struct OverrunReport {
    host: String,
    address: Option<String>,
    program: Option<String>,
    datagrams: u64,
}

impl OverrunReport {
    fn of(overrun: &SocketOverrun) -> Self {
        let SocketOverrun { host, address, program, datagrams } = overrun.clone();
        Self { host, address: address.map(|address| address.to_string()), program, datagrams }
    }
}

/// A direction of a QUIC connection, with its samples: when, and the round-trip time, in nanoseconds.
#[derive(Debug, serde::Serialize)]
pub struct SpinReport {
    from: String,
    to: String,
    packets: u64,
    spin_bit: &'static str,
    samples: Vec<(u64, u64)>,
}

impl SpinReport {
    pub(crate) fn of(flow: &SpinFlow) -> Self {
        let samples = flow.samples.iter().map(|each| (each.at.as_nanos(), each.rtt.as_nanos()));
        Self {
            from: flow.source.to_string(),
            to: flow.destination.to_string(),
            packets: flow.packets,
            spin_bit: flow.spin.name(),
            samples: samples.collect(),
        }
    }

    /// Writes the samples of all directions into the table `spin` of a folder, in the order of time.
    ///
    /// # Errors
    /// If the table cannot be written.
    pub fn write_table(reports: &[Self], folder: &Path) -> Result<(), SinkError> {
        let mut rows: Vec<_> = reports.iter().flat_map(Self::rows).collect();
        rows.sort_by_key(|row| row.at);
        write_spin(folder, rows)
    }

    fn rows(&self) -> impl Iterator<Item = SpinRow<'_>> {
        self.samples.iter().map(|(at, rtt)| SpinRow {
            at: SimTime::from_nanos(*at),
            source: &self.from,
            destination: &self.to,
            rtt: SimDuration::from_nanos(*rtt),
        })
    }
}

#[derive(Debug, serde::Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

/// Of nanoseconds, in milliseconds.
fn quantiles(histogram: &LogHistogram) -> Option<Quantiles> {
    let quantile = |q| histogram.quantile(q).map(|nanos| nanos as f64 / 1e6);
    let (p50, p99, p999) = (quantile(0.5)?, quantile(0.99)?, quantile(0.999)?);
    Some(Quantiles { p50, p99, p999, max: quantile(1.0)? })
}

impl VerdictReport {
    pub(crate) fn of(verdict: &Verdict, budget: &Budget, setting: &Setting<'_>) -> Self {
        let reasons = verdict.doubts(budget);
        let started = setting.clock.started();
        let drift = MachineTime::now().drift_since(started);
        let mut warnings = verdict.warnings();
        warnings.extend(setting.captures.and_then(|captures| captures.warning()));
        let ms = |duration: SimDuration| duration.as_secs_f64() * 1e3;
        Self {
            verdict: if reasons.is_empty() { "valid" } else { "invalid" },
            reasons,
            warnings,
            invalid_s: verdict.invalid_seconds(budget).seconds(),
            precedence: verdict.precedence.name(),
            started_unix_ns: started.unix_ns,
            started_monotonic_ns: started.monotonic_ns,
            unix_drift_ms: drift as f64 / 1e6,
            elapsed_s: verdict.elapsed.as_secs_f64(),
            driver_cpu_s: verdict.cpu.as_secs_f64(),
            driver_spin_s: verdict.spun.as_secs_f64(),
            driver_cpu_s_per_gbit: cpu_per_gbit(verdict),
            packets_in: verdict.packets_in,
            packets_out: verdict.packets_out,
            hosts: setting.traffic(verdict),
            captures: setting.captures,
            frames_in: verdict.frames_in,
            frames_out: verdict.frames_out,
            packets_refused: verdict.refused,
            ring_overruns: verdict.losses.ring,
            socket_overruns: verdict.losses.sockets,
            socket_overruns_by: verdict.overruns.iter().map(OverrunReport::of).collect(),
            device_queue_peak: verdict.device_queue_peak,
            packets_malformed: verdict.malformed,
            packets_over_budget: verdict.lateness.over_budget,
            lateness_ms: quantiles(&verdict.lateness.histogram),
            device_wait_ms: quantiles(&verdict.queued.histogram),
            longest_stall_ms: ms(verdict.stalls.longest),
            processors_busy: verdict.processors.share(),
            programs_waited: verdict.waits.largest,
            budget: BudgetReport {
                lateness_ms: ms(budget.lateness),
                stall_ms: ms(budget.stall),
                busy: budget.busy,
                waited: budget.waited,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three devices, the first two of which are on one host.
    #[test]
    fn traffic_is_by_host_and_work_by_the_bits_that_came_in() {
        let verdict = Verdict {
            bytes_in: vec![100_000_000, 20_000_000, 5_000_000],
            bytes_out: vec![1, 2, 4],
            cpu: SimDuration::from_millis(2_500),
            spun: SimDuration::from_millis(500),
            ..Verdict::default()
        };
        let hosts = ["client", "server"].map(str::to_owned);
        let (clock, owners) = (WallClock::new(), [0, 0, 1]);
        let setting = Setting { clock: &clock, hosts: &hosts, owners: &owners, captures: None };
        let report = VerdictReport::of(&verdict, &Budget::default(), &setting);
        let bytes = report.hosts.iter().map(|host| (host.bytes_sent, host.bytes_received));
        assert_eq!(bytes.collect::<Vec<_>>(), [(120_000_000, 3), (5_000_000, 4)]);
        assert_eq!(report.driver_cpu_s_per_gbit, Some(2.0));
        let none = VerdictReport::of(&Verdict::default(), &Budget::default(), &setting);
        assert_eq!(none.driver_cpu_s_per_gbit, None);
    }

    #[test]
    fn captures_that_are_not_whole_are_a_warning() {
        let warning = |left_out| CaptureTotals { left_out, ..CaptureTotals::default() }.warning();
        assert_eq!(warning(0), None);
        let said = "captures lack 3 packets, as they could not be written as fast as they came";
        assert_eq!(warning(3).as_deref(), Some(said));
    }
}
