//! A congestion controller for leobench in a shared library: a template, with NewReno in `reno.rs`.
//!
//! cargo build --release --manifest-path examples/controller_rust/Cargo.toml
//! leobench run scenarios/ka.toml --set 'flows.main.transport.congestion={ library = "../examples/controller_rust/target/release/libreno.so" }'

// The types of `leobench.h`. In a crate outside of this tree, copy the file; it is in the Python package, too.
#[path = "../../../python/leobench/include/leobench.rs"]
mod leobench;
mod reno;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;

use leobench::{Ack, Controller, ControllerSetup, Decision, Failure, Loss};
use reno::Reno;

static TABLE: Controller = Controller {
    version: leobench::CONTROLLER_VERSION,
    size: size_of::<Controller>() as u32,
    create: Some(create),
    destroy: Some(destroy),
    on_ack: Some(on_ack),
    on_loss: Some(on_loss),
    on_ecn: Some(on_ecn),
    on_spurious_loss: Some(on_spurious_loss),
    on_forecast: None,
};

/// The table of functions that leobench calls.
#[unsafe(no_mangle)]
pub extern "C" fn leobench_controller() -> *const Controller {
    &TABLE
}

thread_local! {
    /// The latest failure, which leobench reads before its next call.
    static FAILURE: RefCell<CString> = RefCell::default();
}

/// Passes on a failure, or a panic, which must not leave the library.
fn guarded(call: impl FnOnce() -> Result<(), String>) -> Failure {
    let outcome = catch_unwind(AssertUnwindSafe(call));
    match outcome.unwrap_or_else(|_| Err("it panicked".to_owned())) {
        Ok(()) => null(),
        Err(problem) => FAILURE.with_borrow_mut(|failure| {
            *failure = CString::new(problem.replace('\0', "")).unwrap_or_default();
            failure.as_ptr()
        }),
    }
}

/// Calls a method of the controller, and passes on its numbers.
fn decide(
    controller: *mut c_void,
    decision: *mut Decision,
    call: impl FnOnce(&mut Reno),
) -> Failure {
    guarded(|| {
        // SAFETY: leobench passes what `create` returned, and a place for the decision.
        let (controller, decision) = unsafe { (&mut *controller.cast::<Reno>(), &mut *decision) };
        call(controller);
        *decision = controller.decision();
        Ok(())
    })
}

/// The parameters of the scenario by name.
fn parameters(setup: &ControllerSetup) -> HashMap<String, String> {
    // SAFETY: leobench passes zero-terminated texts, `parameter_count` of each.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    (0..setup.parameter_count)
        .map(|index| unsafe { &*setup.parameters.add(index) })
        .map(|parameter| (text(parameter.name), text(parameter.value)))
        .collect()
}

unsafe extern "C" fn create(
    setup: *const ControllerSetup,
    controller: *mut *mut c_void,
    decision: *mut Decision,
) -> Failure {
    guarded(|| {
        // SAFETY: leobench passes a setup, and places for controller and decision.
        let (setup, controller, decision) = unsafe { (&*setup, &mut *controller, &mut *decision) };
        let made = Box::new(Reno::new(setup.packet, &parameters(setup))?);
        *decision = made.decision();
        *controller = Box::into_raw(made).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy(controller: *mut c_void) {
    // SAFETY: leobench passes what `create` returned, and does not use it again.
    drop(unsafe { Box::from_raw(controller.cast::<Reno>()) });
}

unsafe extern "C" fn on_ack(
    controller: *mut c_void,
    ack: *const Ack,
    decision: *mut Decision,
) -> Failure {
    // SAFETY: leobench passes an acknowledgement with at least one packet.
    let ack = unsafe { &*ack };
    let packets = unsafe { std::slice::from_raw_parts(ack.packets, ack.packet_count) };
    decide(controller, decision, |reno| reno.on_ack(ack, packets))
}

unsafe extern "C" fn on_loss(
    controller: *mut c_void,
    loss: *const Loss,
    decision: *mut Decision,
) -> Failure {
    // SAFETY: leobench passes an event.
    let loss = unsafe { &*loss };
    decide(controller, decision, |reno| reno.on_loss(loss))
}

unsafe extern "C" fn on_ecn(
    controller: *mut c_void,
    loss: *const Loss,
    decision: *mut Decision,
) -> Failure {
    // SAFETY: leobench passes an event.
    let loss = unsafe { &*loss };
    decide(controller, decision, |reno| reno.on_ecn(loss))
}

unsafe extern "C" fn on_spurious_loss(controller: *mut c_void, decision: *mut Decision) -> Failure {
    decide(controller, decision, Reno::on_spurious_loss)
}
