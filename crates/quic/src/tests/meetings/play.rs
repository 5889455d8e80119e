//! Holding a meeting.

use leobench_base::{SimDuration, SimTime};

use super::application::Application;
use super::link::{Arrival, Link};
use super::noq::Noq;
use super::own::Own;
use super::plan::{Ending, Plan};
use super::tally::Tally;
use super::{Lost, NOQ, OWN, Party};

/// When a meeting has taken too long.
const LIMIT: SimDuration = SimDuration::from_secs(1_000);
/// The error code sent for an application's close before the handshake is complete (RFC 9000 section 10.2.3).
const APPLICATION_ERROR: u64 = 0x0c;

pub(super) struct Play {
    plan: Plan,
    now: SimTime,
    own: Own,
    noq: Noq,
    applications: [Application; 2],
    link: Link,
    closes_at: Option<SimTime>,
    /// When the last datagram arrived at each end that was neither damaged nor a repetition.
    heard: [SimTime; 2],
    /// Which end demanded a Retry.
    retried: [bool; 2],
    pub(super) is_verbose: bool,
}

impl Play {
    pub(super) fn new(plan: Plan) -> Self {
        Self {
            now: SimTime::ZERO,
            own: Own::new(&plan),
            noq: Noq::new(&plan),
            applications: [OWN, NOQ].map(|end| Application::new(&plan, end)),
            link: Link::new(&plan),
            closes_at: match &plan.ending {
                Ending::Close { at, .. } => *at,
                Ending::Idle => None,
            },
            heard: [SimTime::ZERO; 2],
            retried: [false; 2],
            is_verbose: false,
            plan,
        }
    }

    fn party(&mut self, end: usize) -> &mut dyn Party {
        if end == OWN { &mut self.own } else { &mut self.noq }
    }

    /// Plays the plan to its end, and checks what became of it.
    /// Returns whether the server accepted 0-RTT data, if both ends got that far.
    pub(super) fn hold(mut self, tally: &mut Tally) -> Option<bool> {
        let limit = SimTime::ZERO + LIMIT;
        while self.applications.iter().any(|application| application.lost.is_none()) {
            for end in [OWN, NOQ] {
                self.step(end, tally);
            }
            self.close_if_due(tally);
            let Some(next) = self.next() else { break };
            assert!(next > self.now || self.link.next_arrival() <= Some(self.now), "time stands");
            assert!(next < limit, "takes too long: {}", self.state());
            self.now = next;
            while let Some(Arrival { to, datagram, is_new }) = self.link.arrival(self.now) {
                let now = self.now;
                if is_new {
                    self.heard[to] = now;
                }
                self.party(to).receive(now, datagram);
                self.collect(to, tally);
            }
        }
        self.check();
        self.count(tally);
        let established = self.applications.iter().all(|application| application.established);
        established.then(|| self.own.has_accepted_early())
    }

    fn next(&mut self) -> Option<SimTime> {
        let now = self.now;
        let timers = [self.own.timer(now), self.noq.timer(now)];
        let own_plans = self.applications.iter().filter_map(|end| end.next(&self.plan));
        // What is overdue waits for something else to happen first, such as the handshake.
        let own_plans = own_plans.chain(self.closes_at).filter(|at| *at > now);
        timers.into_iter().flatten().chain(own_plans).chain(self.link.next_arrival()).min()
    }

    /// Lets an end do what is due.
    fn step(&mut self, end: usize, tally: &mut Tally) {
        let now = self.now;
        let party = self.party(end);
        party.on_timer(now);
        self.collect(end, tally);
        let party: &mut dyn Party = if end == OWN { &mut self.own } else { &mut self.noq };
        self.applications[end].act(now, &self.plan, party);
        let mut datagrams = Vec::new();
        party.transmit(now, &mut datagrams);
        for datagram in datagrams {
            self.send(end, &datagram, tally);
        }
        self.collect(end, tally);
    }

    fn send(&mut self, end: usize, datagram: &[u8], tally: &mut Tally) {
        if self.is_verbose {
            self.show(end, datagram);
        }
        // RFC 9000 section 17.2.5; version 1.
        let is_version_1 = datagram[1..5] == [0, 0, 0, 1];
        self.retried[end] |= datagram[0] >> 4 == 0xf && is_version_1;
        // RFC 9000 section 17.2.3.
        tally.early[end] += u64::from(datagram[0] >> 4 == 0xd && is_version_1);
        let in_order = self.party(1 - end).needs_order();
        self.link.send(self.now, end, datagram, in_order, tally);
    }

    fn show(&self, end: usize, datagram: &[u8]) {
        let name = if end == OWN { "own" } else { "noq" };
        println!("{} {name} sends {} bytes, {:02x?}", self.now, datagram.len(), &datagram[..8]);
    }

    fn collect(&mut self, end: usize, tally: &mut Tally) {
        let now = self.now;
        let party: &mut dyn Party = if end == OWN { &mut self.own } else { &mut self.noq };
        let mut events = Vec::new();
        party.events(&mut events);
        self.applications[end].on_events(now, &self.plan, party, events, tally);
    }

    fn close_if_due(&mut self, tally: &mut Tally) {
        let Ending::Close { end, at, code, reason } = self.plan.ending.clone() else { return };
        let closer = &self.applications[end];
        let due = match at {
            Some(at) => self.now >= at,
            None => self.applications.iter().all(|end| end.is_settled(&self.plan)),
        };
        if due && closer.established && closer.lost.is_none() {
            let now = self.now;
            self.party(end).close(now, code, &reason);
            self.step(end, tally);
        }
    }

    fn state(&self) -> String {
        let ends = self.applications.each_ref().map(Application::unsettled);
        let lost = self.applications.each_ref().map(|application| application.lost.clone());
        format!("at {}: {ends:?}, lost {lost:?}, {:?}", self.now, self.plan)
    }

    /// Checks that both ends learned of the end of the connection as they should.
    fn check(&self) {
        match &self.plan.ending {
            Ending::Close { end, at, code, reason } => {
                if at.is_none() {
                    for application in &self.applications {
                        assert!(application.is_settled(&self.plan), "{}", self.state());
                    }
                }
                self.check_close(*end, *code, reason);
            }
            Ending::Idle => {
                for application in &self.applications {
                    assert!(application.is_settled(&self.plan), "{}", self.state());
                    self.check_timeout(application);
                    self.check_datagrams(application.end);
                }
            }
        }
    }

    fn check_close(&self, end: usize, code: u64, reason: &str) {
        let [closer, other] = [end, 1 - end].map(|end| &self.applications[end]);
        let (Some((_, how)), Some((_, seen))) = (&closer.lost, &other.lost) else {
            panic!("{}", self.state())
        };
        assert_eq!(*how, Lost::Closed, "{}", self.state());
        let is_told = match seen {
            Lost::Application { code: told, reason: text } => {
                *told == code && *text == reason.as_bytes()
            }
            Lost::Transport { code, .. } => !other.established && *code == APPLICATION_ERROR,
            // The close got lost, or what would have had it repeated.
            Lost::TimedOut => !self.plan.is_harmless(end),
            Lost::Closed | Lost::Other(_) => false,
        };
        assert!(is_told, "{}", self.state());
    }

    /// RFC 9000 section 10.1: after the lesser of both timeouts without an arrival, if that is not too short.
    fn check_timeout(&self, application: &Application) {
        let idle = self.plan.ends.iter().filter_map(|end| end.idle).min();
        let (Some(idle), Some((at, Lost::TimedOut))) = (idle, &application.lost) else {
            panic!("{}", self.state())
        };
        // A damaged datagram may be answered by a stateless reset of no connection, which does not count.
        let all_count = self.plan.trouble.iter().all(|trouble| trouble.damaged == 0);
        let heard = self.heard[application.end];
        assert!(!all_count || *at >= heard + idle, "too early: {}", self.state());
    }

    /// All datagrams arrive if nothing gets lost, nor overtakes the end of the handshake, before which it cannot be read. And
    /// nothing else ever arrives, which the application checks.
    fn check_datagrams(&self, from: usize) {
        let [sender, receiver] = [from, 1 - from].map(|end| &self.applications[end]);
        let is_safe = self.plan.is_harmless(from) && self.plan.trouble[from].late == 0;
        let all = !is_safe || receiver.arrived == sender.sent;
        assert!(all, "{:?} of {:?} arrived: {}", receiver.arrived, sender.sent, self.state());
    }

    fn count(&mut self, tally: &mut Tally) {
        let frames = self.noq.ack_frequency_frames();
        let plan = &self.plan;
        tally.meetings += 1;
        tally.client[if plan.own_is_client { OWN } else { NOQ }] += 1;
        tally.key_updates[OWN] += self.own.key_updates[0];
        tally.key_updates[NOQ] += self.own.key_updates[1];
        for end in [OWN, NOQ] {
            tally.ack_frequency[end] += u64::from(frames[end] > 0);
            tally.retries[end] +=
                u64::from(self.retried[end] && self.applications[end].established);
        }
        for (end, wishes) in plan.ends.iter().enumerate() {
            let windows = [wishes.stream_window, wishes.connection_window];
            tally.many_streams[end] += u64::from(wishes.opens[1].len() == 64);
            tally.tiny_window[end] += u64::from(windows.iter().flatten().any(|size| *size < 4_000));
            tally.huge_window[end] += u64::from(windows == [None, None]);
        }
    }
}
