//! A video: segments that the receiving end asks for one after the other, and that the sending end answers with.
//!
//! All of them share one stream, as requests do in the other direction. The message that the flow's ledger knows is the
//! segment, created when the player asks for it: its delay includes the request.

mod server;

use std::collections::VecDeque;

use leobench_base::{Bytes, RngTree, SimTime, StreamIndex};
use leobench_media::{Film, Next, Player, VideoSpec};
use leobench_transport::endpoint::Report;
use leobench_transport::{Message, Plugins};

use self::server::{Asked, Server};
use super::{Action, Application, ApplicationError, End};
use crate::scenario::BlocksUntil;

/// A video being watched.
pub(super) struct Video {
    player: Option<Player>,
    /// Name of the player's adaptation.
    adaptation: String,
    request: Bytes,
    /// Whether the player may abandon downloads.
    abandons: bool,
    /// The player's next step.
    next: Option<(SimTime, Step)>,
    server: Server,
    /// Segments that have not arrived, in the order in which they were asked for.
    expected: VecDeque<Expected>,
    /// The number of the first of them, and where it begins on its stream.
    first: u64,
    begin: u64,
    is_finished: bool,
}

/// A segment that was asked for.
#[derive(Clone, Copy, Debug)]
struct Expected {
    /// Bytes that arrive of it.
    size: u64,
    is_abandoned: bool,
}

/// A step of the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It looks whether it asks for a segment.
    Look,
    /// It abandons a download, of which so many bytes have arrived, for a lower bitrate.
    Abandon { arrived: Bytes, rung: usize },
}

/// The session of a viewer at the end of a run.
#[derive(Debug)]
pub struct Watched {
    /// The player at the end.
    pub player: Player,
    /// That end.
    pub end: SimTime,
}

const STREAM: StreamIndex = StreamIndex::FIRST;

/// Bytes with which a player cancels a request: a frame `RST_STREAM` of HTTP/2 (RFC 9113 section 6.4).
const CANCEL: Bytes = Bytes::new(13);

impl Video {
    /// A video of a flow that starts at `start`, over a transport with which writes block `until` it has taken them.
    pub(super) fn new(
        (spec, film): (&VideoSpec, Film),
        start: SimTime,
        until: BlocksUntil,
        rng: &RngTree,
        plugins: &Plugins,
    ) -> Result<Self, ApplicationError> {
        let start = start + spec.wait(rng);
        let adaptation = spec.adaptation.name().to_owned();
        let player = match Player::new(spec, film, start, rng, plugins) {
            Ok(player) => Some(player),
            Err(problem) => {
                return Err(ApplicationError::Adaptation { adaptation, at: start, problem });
            }
        };
        Ok(Self {
            player,
            adaptation,
            request: spec.request,
            abandons: spec.abandons,
            next: Some((start, Step::Look)),
            server: Server::new(spec.think, spec.abandons.then_some(until)),
            expected: VecDeque::new(),
            first: 0,
            begin: 0,
            is_finished: false,
        })
    }

    fn step(
        &mut self,
        now: SimTime,
        step: Step,
        actions: &mut Vec<Action>,
    ) -> Result<(), ApplicationError> {
        let Some(player) = &mut self.player else { return Ok(()) };
        let next = match step {
            Step::Look => player.next(now),
            Step::Abandon { arrived, rung } => player.abandon(now, arrived, rung).map(Next::Ask),
        };
        let next = next.map_err(|problem| {
            let adaptation = self.adaptation.clone();
            ApplicationError::Adaptation { adaptation, at: now, problem }
        })?;
        if step != Step::Look {
            self.cancel(now, actions);
        }
        match next {
            Next::Done if self.is_finished => {}
            Next::Done => self.finish(actions),
            Next::Wait(until) => self.next = Some((until, Step::Look)),
            Next::Ask(bytes) => self.ask(now, bytes, actions),
        }
        Ok(())
    }

    fn ask(&mut self, now: SimTime, bytes: Bytes, actions: &mut Vec<Action>) {
        let has_all = self.player.as_ref().is_some_and(Player::has_asked_for_all);
        // One that may abandon its last download may ask for more.
        let is_last = has_all && !self.abandons;
        self.expected.push_back(Expected { size: bytes.get(), is_abandoned: false });
        self.server.ask(self.request, Asked::Segment { bytes, is_last });
        let message = |size: Bytes| Message { size, created: now };
        actions.push(Action::Create { stream: STREAM, message: message(bytes) });
        write(End::Receiver, message(self.request), is_last, actions);
    }

    /// The player wants no more of the segment that it asked for last.
    fn cancel(&mut self, now: SimTime, actions: &mut Vec<Action>) {
        if let Some(unwanted) = self.expected.back_mut() {
            unwanted.is_abandoned = true;
        }
        self.server.ask(CANCEL, Asked::Cancel);
        write(End::Receiver, Message { size: CANCEL, created: now }, false, actions);
    }

    /// Neither end writes anything any more, which was not known with the last request.
    fn finish(&mut self, actions: &mut Vec<Action>) {
        self.is_finished = true;
        actions.extend([End::Receiver, End::Sender].map(|end| Action::Finish { end }));
    }

    /// All bytes of the sending end below `offset` have arrived; whether the player's next step may have changed.
    fn on_arrival(&mut self, now: SimTime, offset: u64) -> bool {
        let mut changes = false;
        while let Some(segment) = self.expected.front().copied()
            && self.begin + segment.size <= offset
        {
            self.expected.pop_front();
            (self.first, self.begin) = (self.first + 1, self.begin + segment.size);
            if !segment.is_abandoned {
                changes = true;
                self.arrive(now);
            }
        }
        if changes || !self.abandons || self.next.is_some() {
            return changes;
        }
        self.progress(now, offset);
        self.next.is_some()
    }

    /// A segment has arrived.
    fn arrive(&mut self, now: SimTime) {
        if let Some(player) = &mut self.player {
            player.on_arrival(now);
            let has_all = player.has_asked_for_all() && self.expected.is_empty();
            self.is_finished = has_all && !self.abandons;
        }
        self.next = Some((now, Step::Look));
    }

    /// A part of one has.
    fn progress(&mut self, now: SimTime, offset: u64) {
        let wanted = self.expected.front().filter(|segment| !segment.is_abandoned);
        let Some((player, _)) = self.player.as_mut().zip(wanted) else { return };
        let arrived = Bytes::new(offset.saturating_sub(self.begin));
        if let Some(rung) = player.on_progress(now, arrived) {
            self.next = Some((now, Step::Abandon { arrived, rung }));
        }
    }
}

fn write(end: End, message: Message, is_last: bool, actions: &mut Vec<Action>) {
    actions.push(Action::Write { end, stream: STREAM, message });
    if is_last {
        actions.push(Action::Finish { end });
    }
}

impl Application for Video {
    fn next_wake(&self) -> Option<SimTime> {
        let next = self.next.map(|(time, _)| time);
        [next, self.server.next_wake()].into_iter().flatten().min()
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        while let Some((_, step)) = self.next.take_if(|(time, _)| *time <= now) {
            self.step(now, step, actions)?;
        }
        if let Some((number, rest)) = self.server.drop_rest(now, actions)
            && let Some(segment) = self.expected.get_mut((number - self.first) as usize)
        {
            segment.size -= rest;
        }
        self.server.advance(now, actions);
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, end: End, report: Report) -> bool {
        match (end, report) {
            (End::Sender, Report::Delivered { offset, .. }) => self.server.on_arrival(now, offset),
            (End::Receiver, Report::Delivered { offset, .. }) => self.on_arrival(now, offset),
            (End::Sender, report) => self.server.on_report(now, report),
            (End::Receiver, _) => false,
        }
    }

    fn is_finished(&self) -> bool {
        self.is_finished
    }

    fn watched(&mut self, end: SimTime) -> Option<Watched> {
        let mut player = self.player.take()?;
        player.play_until(end);
        Some(Watched { player, end })
    }
}
