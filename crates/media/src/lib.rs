//! Players of video: what is asked for next, what is in the buffer, and what a viewer notices. Calls: how fast they send, what
//! is seen and heard.
//!
//! Every part is a state machine that is handed the time. None of them knows a network: whoever drives a player tells it
//! when a segment has arrived, and asks it for the next one; whoever drives a call carries its packets.

pub mod adaptation;
pub mod call;
mod film;
mod manifest;
mod player;
mod quality;
pub mod rate_control;
mod spec;

pub use adaptation::{Adaptation, AdaptationModel, AdaptationSpec};
pub use call::CallSpec;
pub use film::{Film, MOST_SEGMENTS};
pub use manifest::MANIFEST;
pub use player::{Next, Player, Segment, Stall};
pub use quality::{SWITCH_WEIGHT, quality};
pub use rate_control::RateControlSpec;
pub use spec::{LiveSpec, VideoSpec};
