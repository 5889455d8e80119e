//! The C interface of leobench in Rust: the types of `leobench.h`, which describes them.

#![allow(missing_docs, dead_code, reason = "the header describes all, and a library uses some")]

use std::ffi::{c_char, c_void};

/// A number that is not there.
pub const NONE: u64 = u64::MAX;

/// The version of the interface for congestion controllers.
pub const CONTROLLER_VERSION: u32 = 1;

/// NULL on success, or a description of the failure.
pub type Failure = *const c_char;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: *const c_char,
    pub value: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ControllerSetup {
    pub packet: u64,
    pub seed: u64,
    pub parameters: *const Parameter,
    pub parameter_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    pub window: u64,
    pub pacing_rate: u64,
    pub ssthresh: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub number: u64,
    pub size: u64,
    pub sent: u64,
    pub ambiguous: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: u64,
    pub packets: *const Acked,
    pub packet_count: usize,
    pub prior_in_flight: u64,
    pub in_flight: u64,
    pub latest_rtt: u64,
    pub smoothed_rtt: u64,
    pub min_rtt: u64,
    pub delivery_rate: u64,
    pub app_limited: u8,
    pub cwnd_limited: u8,
    pub recovering: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    pub now: u64,
    pub sent: u64,
    pub lost: u64,
    pub packets: *const u64,
    pub packet_count: usize,
    pub persistent: u8,
    pub answered: u8,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Forecast {
    pub at: u64,
    pub base_rtt: u64,
    pub bottleneck: u64,
    pub handover_from: u64,
    pub handover_until: u64,
}

pub type Create =
    unsafe extern "C" fn(*const ControllerSetup, *mut *mut c_void, *mut Decision) -> Failure;
pub type Destroy = unsafe extern "C" fn(*mut c_void);
pub type OnAck = unsafe extern "C" fn(*mut c_void, *const Ack, *mut Decision) -> Failure;
pub type OnLoss = unsafe extern "C" fn(*mut c_void, *const Loss, *mut Decision) -> Failure;
pub type OnSpuriousLoss = unsafe extern "C" fn(*mut c_void, *mut Decision) -> Failure;
pub type OnForecast = unsafe extern "C" fn(*mut c_void, *const Forecast, *mut Decision) -> Failure;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    pub version: u32,
    pub size: u32,
    pub create: Option<Create>,
    pub destroy: Option<Destroy>,
    pub on_ack: Option<OnAck>,
    pub on_loss: Option<OnLoss>,
    pub on_ecn: Option<OnLoss>,
    pub on_spurious_loss: Option<OnSpuriousLoss>,
    pub on_forecast: Option<OnForecast>,
}

/// The version of the interface for QUIC stacks.
pub const STACK_VERSION: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub family: u8,
    pub ip: [u8; 16],
    pub port: u16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct StackSetup {
    pub local: Address,
    pub remote: Address,
    pub payload: u64,
    pub send_streams: u64,
    pub receive_streams: u64,
    pub client: u8,
    pub ecn: u8,
    pub seed: [u8; 32],
    pub parameters: *const Parameter,
    pub parameter_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    pub source: Address,
    pub destination: Address,
    pub ecn: u8,
    pub data: *const u8,
    pub length: usize,
}

pub const NO_EVENT: u32 = 0;
pub const CONNECTED: u32 = 1;
pub const LOST: u32 = 2;
pub const WRITABLE: u32 = 3;
pub const READABLE: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub kind: u32,
    pub stream: u64,
    pub reason: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub window: u64,
    pub in_flight: u64,
    pub ssthresh: u64,
    pub smoothed_rtt: u64,
    pub latest_rtt: u64,
    pub pacing_rate: u64,
    pub acked_bytes: u64,
    pub lost_packets: u64,
    pub lost_bytes: u64,
    pub retransmitted_packets: u64,
    pub retransmitted_bytes: u64,
    pub congestion_events: u64,
    pub timeouts: u64,
    pub spurious_losses: u64,
    pub undos: u64,
    pub ecn_marks: u64,
}

pub type CreateStack = unsafe extern "C" fn(*const StackSetup, *mut *mut c_void) -> Failure;
pub type AtTime = unsafe extern "C" fn(*mut c_void, u64) -> Failure;
pub type Receive = unsafe extern "C" fn(*mut c_void, u64, *const Datagram) -> Failure;
pub type NextTimeout = unsafe extern "C" fn(*mut c_void, u64) -> u64;
pub type Poll = unsafe extern "C" fn(*mut c_void, u64, *mut Event) -> Failure;
pub type Transmit = unsafe extern "C" fn(*mut c_void, u64, *mut Datagram) -> Failure;
pub type Write =
    unsafe extern "C" fn(*mut c_void, u64, u64, *const u8, usize, *mut usize) -> Failure;
pub type Finish = unsafe extern "C" fn(*mut c_void, u64, u64) -> Failure;
pub type Read = unsafe extern "C" fn(*mut c_void, u64, u64, *mut u8, usize, *mut usize) -> Failure;
pub type OnAddress = unsafe extern "C" fn(*mut c_void, u64, *const Address) -> Failure;
pub type PathState = unsafe extern "C" fn(*mut c_void, u64, *mut Path) -> Failure;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    pub version: u32,
    pub size: u32,
    pub create: Option<CreateStack>,
    pub destroy: Option<Destroy>,
    pub connect: Option<AtTime>,
    pub receive: Option<Receive>,
    pub on_timeout: Option<AtTime>,
    pub next_timeout: Option<NextTimeout>,
    pub poll: Option<Poll>,
    pub transmit: Option<Transmit>,
    pub write: Option<Write>,
    pub finish: Option<Finish>,
    pub read: Option<Read>,
    pub on_address: Option<OnAddress>,
    pub path: Option<PathState>,
}
