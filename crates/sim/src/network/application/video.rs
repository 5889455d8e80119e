//! A video: segments that the receiving end asks for one after the other, and that the sending end answers with.
//!
//! All of them share one stream, as requests do in the other direction. The message that the flow's ledger knows is the
//! segment, created when the player asks for it: its delay includes the request.

use leobench_base::{Bytes, RngTree, SimDuration, SimTime};
use leobench_media::{Film, Next, Player, VideoSpec};
use leobench_transport::endpoint::Report;
use leobench_transport::{Message, Plugins};

use super::{Action, Application, ApplicationError, End};

/// A video being watched.
pub(super) struct Video {
    player: Option<Player>,
    /// Name of the player's adaptation.
    adaptation: String,
    request: Bytes,
    think: SimDuration,
    next: Option<(SimTime, Step)>,
    /// Bytes of the segment that was asked for.
    asked: Bytes,
    /// Ends of requests and of segments on their streams.
    requests_end: u64,
    segments_end: u64,
    /// Segments that will be asked for, and those that have not arrived.
    unasked: u64,
    missing: u64,
}

/// Something that one of the ends does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The player looks whether it asks for a segment.
    Look,
    /// The sending end answers.
    Answer,
}

/// The session of a viewer at the end of a run.
#[derive(Debug)]
pub struct Watched {
    /// The player at the end.
    pub player: Player,
    /// That end.
    pub end: SimTime,
}

const STREAM: usize = 0;

impl Video {
    /// A video of a flow that starts at `start`.
    pub(super) fn new(
        spec: &VideoSpec,
        film: Film,
        start: SimTime,
        rng: &RngTree,
        plugins: &Plugins,
    ) -> Result<Self, ApplicationError> {
        let start = start + spec.wait(rng);
        let adaptation = spec.adaptation.name().to_owned();
        let segments = film.segments();
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
            think: spec.think,
            next: Some((start, Step::Look)),
            asked: Bytes::ZERO,
            requests_end: 0,
            segments_end: 0,
            unasked: segments,
            missing: segments,
        })
    }

    fn look(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        let Some(player) = &mut self.player else { return Ok(()) };
        let next = player.next(now).map_err(|problem| {
            let adaptation = self.adaptation.clone();
            ApplicationError::Adaptation { adaptation, at: now, problem }
        })?;
        match next {
            Next::Done => {}
            Next::Wait(until) => self.next = Some((until, Step::Look)),
            Next::Ask(bytes) => {
                (self.asked, self.requests_end) = (bytes, self.requests_end + self.request.get());
                self.segments_end += bytes.get();
                self.unasked -= 1;
                let message = |size: Bytes| Message { size, created: now };
                actions.push(Action::Create { stream: STREAM, message: message(bytes) });
                write(End::Receiver, message(self.request), self.unasked == 0, actions);
            }
        }
        Ok(())
    }

    fn answer(&self, now: SimTime, actions: &mut Vec<Action>) {
        let message = Message { size: self.asked, created: now };
        write(End::Sender, message, self.unasked == 0, actions);
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
        self.next.map(|(time, _)| time)
    }

    fn advance(&mut self, now: SimTime, actions: &mut Vec<Action>) -> Result<(), ApplicationError> {
        while let Some((_, step)) = self.next.take_if(|(time, _)| *time <= now) {
            match step {
                Step::Look => self.look(now, actions)?,
                Step::Answer => self.answer(now, actions),
            }
        }
        Ok(())
    }

    fn on_report(&mut self, now: SimTime, end: End, report: Report) -> bool {
        let Report::Delivered { offset, .. } = report else { return false };
        match end {
            End::Sender if offset == self.requests_end => {
                self.next = Some((now + self.think, Step::Answer));
            }
            End::Receiver if offset == self.segments_end => {
                self.missing -= 1;
                if let Some(player) = &mut self.player {
                    player.on_arrival(now);
                }
                self.next = Some((now, Step::Look));
            }
            End::Sender | End::Receiver => return false,
        }
        true
    }

    fn is_finished(&self) -> bool {
        self.missing == 0
    }

    fn watched(&mut self, end: SimTime) -> Option<Watched> {
        let mut player = self.player.take()?;
        player.play_until(end);
        Some(Watched { player, end })
    }
}
