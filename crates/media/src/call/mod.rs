//! A call, one way: a camera and a microphone at the sending end, a screen and a loudspeaker at the receiving end.
//!
//! [`Sender`] makes packets, paces them, and sends lost ones again. [`Receiver`] makes feedback, puts frames together, and
//! plays; it measures what is seen and heard. Both are handed the time. Whoever drives them carries [`Packet`]s one way and
//! [`Message`]s the other way. Both ends have the same clock, as after a perfect synchronisation: frames and voice packets
//! bear the time at which they were captured.

mod e_model;
mod feedback;
mod freezes;
mod jitter_buffer;
mod key_frame_debt;
mod packet;
mod receiver;
mod retransmission;
mod sender;
mod spec;

pub use e_model::{Impairments, conversation_quality, rating};
pub use feedback::{Arrival, Message};
pub use freezes::Freezes;
pub use jitter_buffer::{JitterBuffer, JitterBufferModel, JitterBufferSpec};
pub use packet::{Content, FrameHeader, Packet, RTP_HEADER};
pub use receiver::{FrameTimes, Heard, Receiver, Seen};
pub use sender::Sender;
pub use spec::{CallCarried, CallSpec, CameraSpec, Codec, MOST_STREAMS, VoiceSpec};
