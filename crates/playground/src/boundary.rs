//! The functions that a page calls. Texts cross the boundary as bytes in the memory of the module: the page writes a request
//! where [`leobench_request`] says, and reads an answer where [`leobench_answer`] says. No function reads a pointer that the page
//! made up.
//!
//! The order of calls: `request`, `start`, `advance` until it says that the run is over, `finish`. A function that fails leaves its
//! message as the answer. A module has one run; `start` drops the one before, and its tables.

use std::cell::RefCell;
use std::panic;

use crate::session::Session;

/// A call that went well, and a run that goes on.
const FINE: u32 = 0;
/// The run is over.
const OVER: u32 = 1;
/// The answer is a message.
const FAILED: u32 = 2;

/// The state of a module.
struct State {
    request: Vec<u8>,
    answer: String,
    session: Option<Session>,
}

thread_local! {
    static STATE: RefCell<State> =
        const { RefCell::new(State { request: Vec::new(), answer: String::new(), session: None }) };
    /// The message of a panic, which leaves the state as it was.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn with<T>(run: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(run)
}

/// Takes a result as the answer.
fn answered(state: &mut State, result: Result<String, String>) -> u32 {
    let code = if result.is_ok() { FINE } else { FAILED };
    state.answer = result.unwrap_or_else(|message| message);
    code
}

/// Makes room for a request of `len` bytes, and returns where the page writes it.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_request(len: usize) -> *mut u8 {
    with(|state| {
        state.request.clear();
        state.request.resize(len, 0);
        state.request.as_mut_ptr()
    })
}

/// Sets up the run that the request asks for; the answer is the scenario as JSON, every default spelled out.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_start() -> u32 {
    panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string())));
    with(|state| {
        state.session = None;
        let started = Session::start(&state.request).map(|session| {
            let resolved = session.resolved();
            state.session = Some(session);
            resolved
        });
        answered(state, started)
    })
}

/// Goes on for at most `events` events. Returns 1 if the run is over.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_advance(events: u32) -> u32 {
    with(|state| match state.session.as_mut().map(|session| session.advance(events.into())) {
        Some(Ok(false)) => FINE,
        Some(Ok(true)) => OVER,
        Some(Err(message)) => answered(state, Err(message)),
        None => answered(state, Err("there is no run".to_owned())),
    })
}

/// Sums up the run; the answer is JSON, with the addresses of the tables.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_finish() -> u32 {
    with(|state| {
        let finished = match &mut state.session {
            Some(session) => session.finish(),
            None => Err("there is no run".to_owned()),
        };
        answered(state, finished)
    })
}

/// Seconds of virtual time reached.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_now() -> f64 {
    with(|state| state.session.as_ref().map_or(0.0, |session| session.progress().0))
}

/// Seconds of virtual time at which the sources stop.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_end() -> f64 {
    with(|state| state.session.as_ref().map_or(0.0, |session| session.progress().1))
}

/// The place of the answer.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_answer() -> *const u8 {
    with(|state| state.answer.as_ptr())
}

/// Bytes of the answer.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_answer_len() -> usize {
    with(|state| state.answer.len())
}

/// The place of the message of a panic, after which the module is of no more use.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_panic() -> *const u8 {
    PANIC.with_borrow(|message| message.as_ptr())
}

/// Bytes of the message of a panic.
#[unsafe(no_mangle)]
#[expect(unsafe_code, reason = "the page calls it by its name")]
pub extern "C" fn leobench_panic_len() -> usize {
    PANIC.with_borrow(String::len)
}
