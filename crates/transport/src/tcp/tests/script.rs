//! A runner for scripts in the manner of packetdrill (Cardwell et al. 2013): one end of a connection against a scripted
//! peer. The recorded behaviour of the end must equal the script.
//!
//! A line is a time in milliseconds after the connection opened, and the event at that time:
//! - `write 5000`, `finish`, `stop`, `read`: the application writes, has no more, stops reading, reads all again;
//! - `< ack 3000 sack 5000-6000 win 9000 echo 100 ece`: the peer acknowledges; blocks in their order, window, the time
//!   whose timestamp it echoes, and an ECN echo are as wanted;
//! - `< 0-1000 fin ce cwr`: the peer sends data, segments of a thousand bytes;
//! - `> 0-3000 fin cwr`: this end sends these bytes, in full segments but for the last;
//! - `> ack 3000 sack 5000-6000 win 0 ece`: it acknowledges; the window is given if it is zero;
//! - `> probe`: it sends an empty segment with an old sequence number;
//! - `! timeout`: it reports an event.
//!
//! The handshake took 100 ms; the first window is of ten segments of 1,000 bytes.

use std::fmt::Write as _;

use leobench_base::packet::Protocol;
use leobench_base::segment::{Options, Timestamps};
use leobench_base::{Bytes, Meta};

use super::*;

/// Duration of the handshake, and start of the script.
const ROUND_TRIP: SimDuration = SimDuration::from_millis(100);
/// The peer's initial sequence number, and the start of its timestamps.
const PEER: u32 = 1_000;
const MSS: u64 = 1_000;

struct Player {
    end: TcpEndpoint,
    sends: bool,
    timestamps: bool,
    /// This end's initial sequence number, and the start of its timestamps.
    initial: u32,
    stamps: u32,
    now: SimTime,
    wake: Option<SimTime>,
    /// The byte after the last one this end has sent.
    nxt: u64,
    record: Vec<String>,
}

/// Plays a script against the end that sends data (or else the one that receives it).
pub(super) fn play(sends: bool, change: impl FnOnce(&mut TcpSpec), script: &str) {
    let spec = spec(|spec| {
        (spec.mss, spec.timestamps) = (Bytes::new(MSS), false);
        spec.congestion = newreno();
        change(spec);
    });
    let mut player = Player::new(&spec, sends);
    let mut expected = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (time, action) = line.split_once(' ').unwrap();
        let time = time_of(time);
        let action = action.trim();
        if action.starts_with(['>', '!']) {
            expected.push(format!("{} {action}", show(time)));
            player.run(time);
        } else {
            player.run(time);
            player.act(action);
        }
    }
    let last = player.now;
    player.run(last);
    let expected: Vec<_> = expected.iter().map(String::as_str).collect();
    assert!(player.record == expected, "expected {expected:#?}\nfound {:#?}", player.record);
}

fn newreno() -> crate::CongestionSpec {
    crate::CongestionSpec::NewReno(crate::congestion::NewRenoSpec::default())
}

/// Milliseconds from the start of the script.
fn show(time: SimTime) -> String {
    let nanos = time.saturating_since(SimTime::ZERO + ROUND_TRIP).as_nanos();
    format!("{}", nanos as f64 / 1e6)
}

/// A time in milliseconds from the start of the script.
fn time_of(text: &str) -> SimTime {
    let millis: f64 = text.parse().unwrap();
    SimTime::ZERO + ROUND_TRIP + SimDuration::from_secs_f64(millis / 1e3)
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once('-')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

impl Player {
    /// Ends with the handshake done.
    fn new(spec: &TcpSpec, sends: bool) -> Self {
        let end =
            endpoint(spec, if sends { SENDER } else { RECEIVER }, Role::Client, SimTime::ZERO);
        let mut player = Self {
            end,
            sends,
            timestamps: spec.timestamps,
            initial: 0,
            stamps: 0,
            now: SimTime::ZERO,
            wake: None,
            nxt: 0,
            record: Vec::new(),
        };
        let mut outbox = Outbox::default();
        player.end.poll(player.now, &mut outbox).unwrap();
        let Body::Tcp(syn) = outbox.packets.remove(0).body else { panic!("no SYN") };
        player.initial = syn.seq;
        player.stamps = syn.options.timestamps.map_or(0, |stamps| stamps.value);
        player.now = SimTime::ZERO + ROUND_TRIP;
        let mut answer = player.segment(Flags::SYN.with(Flags::ACK));
        if spec.ecn {
            answer.flags = answer.flags.with(Flags::ECE);
        }
        answer.seq = PEER;
        answer.options.sack_permitted = spec.sack;
        player.deliver(answer, Ecn::NotEct);
        player.poll();
        player.record.clear();
        player
    }

    /// A segment of the peer that acknowledges only the SYN.
    fn segment(&self, flags: Flags) -> Segment {
        let stamps = Timestamps { value: self.peer_stamp(), echo: self.stamps };
        Segment {
            seq: PEER + 1,
            ack: self.initial.wrapping_add(1),
            flags,
            window: u16::MAX,
            options: Options {
                mss: flags.contains(Flags::SYN).then_some(1_460),
                timestamps: self.timestamps.then_some(stamps),
                ..Options::default()
            },
            ..Segment::default()
        }
    }

    fn peer_stamp(&self) -> u32 {
        (self.now.as_nanos() / 1_000_000) as u32
    }

    fn deliver(&mut self, segment: Segment, ecn: Ecn) {
        let ends = if self.sends { [RECEIVER, SENDER] } else { [SENDER, RECEIVER] };
        let [source, destination] = ends.map(address);
        let size = Bytes::new(20 + segment.len());
        let meta = Meta::new(self.now, Protocol::Tcp, source, destination, size).with_ecn(ecn);
        let mut packet = Packet { meta, body: Body::Tcp(segment) };
        self.end.input(self.now, Input::Packet(&mut packet)).unwrap();
    }

    fn act(&mut self, action: &str) {
        let mut words = action.split_whitespace();
        let verb = words.next().unwrap();
        let mut number = || words.next().unwrap().parse().unwrap();
        match verb {
            "write" => {
                let message = Message { size: Bytes::new(number()), created: self.now };
                self.end.input(self.now, Input::Message { stream: 0.into(), message }).unwrap();
            }
            "finish" => self.end.input(self.now, Input::Finish).unwrap(),
            "stop" => self.end.set_reads(self.now, false),
            "read" => self.end.set_reads(self.now, true),
            "<" => self.hear(action.trim_start_matches("< ")),
            other => panic!("{other}"),
        }
        self.poll();
    }

    /// The peer's segments.
    fn hear(&mut self, text: &str) {
        let mut segment = self.segment(Flags::ACK);
        let mut words = text.split_whitespace().peekable();
        let (mut data, mut ecn) = (None, Ecn::NotEct);
        let offset = |offset: u64| self.initial.wrapping_add(1).wrapping_add(offset as u32);
        while let Some(word) = words.next() {
            let mut number = || words.next().unwrap().parse::<u64>().unwrap();
            match word {
                "ack" => segment.ack = offset(number()),
                "win" => segment.window = number() as u16,
                "echo" => {
                    let echo = self.stamps + 100 + number() as u32;
                    segment.options.timestamps =
                        Some(Timestamps { value: self.peer_stamp(), echo });
                }
                "sack" => {
                    while let Some((start, end)) = words.peek().and_then(|word| range(word)) {
                        segment.options.sack.push(offset(start), offset(end));
                        words.next();
                    }
                }
                "ece" => segment.flags = segment.flags.with(Flags::ECE),
                "cwr" => segment.flags = segment.flags.with(Flags::CWR),
                "fin" => segment.flags = segment.flags.with(Flags::FIN),
                "ce" => ecn = Ecn::Ce,
                other => data = Some(range(other).unwrap()),
            }
        }
        let Some((start, end)) = data else { return self.deliver(segment, ecn) };
        for start in (start..end).step_by(MSS as usize) {
            segment.seq = PEER + 1 + start as u32;
            segment.payload = (end - start).min(MSS) as u32;
            self.deliver(segment, ecn);
        }
    }

    /// Runs up to and including a time.
    fn run(&mut self, to: SimTime) {
        while let Some(wake) = self.wake.filter(|wake| *wake <= to) {
            self.now = wake;
            self.poll();
        }
        self.now = to;
    }

    fn poll(&mut self) {
        let mut outbox = Outbox::default();
        self.wake = self.end.poll(self.now, &mut outbox).unwrap();
        let time = show(self.now);
        for event in outbox.events.iter().filter(|event| event.kind != "phase") {
            self.record.push(format!("{time} ! {}", event.kind));
        }
        let mut burst: Option<(u64, u64)> = None;
        for packet in outbox.packets {
            let Body::Tcp(segment) = packet.body else { panic!("no TCP segment") };
            let start = u64::from(segment.seq.wrapping_sub(self.initial).wrapping_sub(1));
            let end = start + u64::from(segment.payload);
            let bare = !segment.flags.contains(Flags::FIN) && !segment.flags.contains(Flags::CWR);
            self.nxt = self.nxt.max(end);
            let follows = burst.filter(|(from, to)| *to == start && (to - from) % MSS == 0);
            if let Some((from, _)) = follows.filter(|_| segment.payload > 0 && bare) {
                self.record.pop();
                burst = Some((from, end));
                self.record.push(format!("{time} > {from}-{end}"));
                continue;
            }
            burst = (segment.payload > 0 && bare).then_some((start, end));
            self.record.push(format!("{time} > {}", describe(&segment, (start, end), self.nxt)));
        }
    }
}

/// A segment of the bytes from `start` to `end` in script notation; `nxt` is the next byte to be sent.
fn describe(segment: &Segment, (start, end): (u64, u64), nxt: u64) -> String {
    let mut text = String::new();
    if segment.is_empty() && start + 1 == nxt {
        text.push_str("probe");
    } else if segment.is_empty() {
        write!(text, "ack {}", segment.ack.wrapping_sub(PEER + 1)).unwrap();
        let blocks = segment.options.sack.as_slice();
        for (index, (first, last)) in blocks.iter().enumerate() {
            let (first, last) = (first.wrapping_sub(PEER + 1), last.wrapping_sub(PEER + 1));
            write!(text, "{}{first}-{last}", if index == 0 { " sack " } else { " " }).unwrap();
        }
        if segment.window == 0 {
            text.push_str(" win 0");
        }
    } else if segment.payload > 0 {
        write!(text, "{start}-{end}").unwrap();
    }
    for (flag, word) in [(Flags::FIN, "fin"), (Flags::ECE, "ece"), (Flags::CWR, "cwr")] {
        if segment.flags.contains(flag) {
            let space = if text.is_empty() { "" } else { " " };
            write!(text, "{space}{word}").unwrap();
        }
    }
    text
}
