//! Counts of the events that meetings exercised.

/// Counts over all meetings: of datagrams, of events at either end, and of meetings.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) meetings: u64,
    pub(super) lost: u64,
    pub(super) repeated: u64,
    pub(super) damaged: u64,
    pub(super) reordered: u64,
    pub(super) bytes: u64,
    /// By the end that noticed it.
    pub(super) finished: [u64; 2],
    pub(super) reset: [u64; 2],
    pub(super) stopped: [u64; 2],
    pub(super) closed: [u64; 2],
    pub(super) timed_out: [u64; 2],
    /// By the end that started them.
    pub(super) key_updates: [u64; 2],
    /// Meetings, by the end that is the client, or does it.
    pub(super) client: [u64; 2],
    pub(super) ack_frequency: [u64; 2],
    pub(super) many_streams: [u64; 2],
    pub(super) tiny_window: [u64; 2],
    pub(super) huge_window: [u64; 2],
    pub(super) retries: [u64; 2],
    pub(super) datagrams: [u64; 2],
    /// Datagrams of 0-RTT packets, by the end that sent them.
    pub(super) early: [u64; 2],
}

impl Tally {
    fn entries(&self) -> Vec<(String, u64)> {
        let single = [
            ("meetings", self.meetings),
            ("bytes", self.bytes),
            ("datagrams lost", self.lost),
            ("datagrams repeated", self.repeated),
            ("datagrams overtaken", self.reordered),
            ("datagrams damaged", self.damaged),
        ];
        let double = [
            ("meetings with this client", self.client),
            ("meetings with ACK_FREQUENCY frames from", self.ack_frequency),
            ("meetings with 64 streams from", self.many_streams),
            ("meetings with a window below 4 kB at", self.tiny_window),
            ("meetings without a window at", self.huge_window),
            ("streams that ended at", self.finished),
            ("RESET_STREAM arrived at", self.reset),
            ("STOP_SENDING arrived at", self.stopped),
            ("CONNECTION_CLOSE arrived at", self.closed),
            ("idle timeouts at", self.timed_out),
            ("unreliable datagrams arrived at", self.datagrams),
            ("connections after a Retry by", self.retries),
            ("key updates by", self.key_updates),
        ];
        let names = double.iter().flat_map(|(name, counts)| {
            [("ours", counts[0]), ("noq", counts[1])].map(|(end, count)| (*name, end, count))
        });
        let names = names.map(|(name, end, count)| (format!("{name}: {end}"), count));
        single.map(|(name, count)| (name.to_owned(), count)).into_iter().chain(names).collect()
    }

    /// Fails if something was never exercised.
    pub(super) fn check(&self, tls: bool) {
        for (name, count) in self.entries() {
            let is_excused = name == "datagrams damaged" && !tls;
            assert!(count > 0 || is_excused, "no meeting had: {name}");
        }
    }

    pub(super) fn print(&self, tls: bool) {
        println!("with {} protection:", if tls { "TLS" } else { "null" });
        for (name, count) in self.entries() {
            println!("  {count:>12} {name}");
        }
    }
}
