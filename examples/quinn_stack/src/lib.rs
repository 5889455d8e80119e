//! quinn-proto as a QUIC stack for leobench: the C interface around `stack.rs`.
//!
//! cargo build --release --manifest-path examples/quinn_stack/Cargo.toml
//! leobench run scenarios/ka.toml --set 'flows.main.transport={ kind = "quic", stack = { library = "../examples/quinn_stack/target/release/libquinn_stack.so" } }'

// The types of `leobench.h`. In a crate outside of this tree, copy the file; it is in the Python package, too.
#[path = "../../../python/leobench/include/leobench.rs"]
mod leobench;
mod null_tls;
mod stack;

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::size_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;
use std::slice;

use leobench::{Address, Datagram, Failure, NONE, Parameter, Path, Stack, StackSetup};
use stack::{Event, Quinn, Setup};

static TABLE: Stack = Stack {
    version: leobench::STACK_VERSION,
    size: size_of::<Stack>() as u32,
    create: Some(create),
    destroy: Some(destroy),
    connect: Some(connect),
    receive: Some(receive),
    on_timeout: Some(on_timeout),
    next_timeout: Some(next_timeout),
    poll: Some(poll),
    transmit: Some(transmit),
    write: Some(write),
    finish: Some(finish),
    read: Some(read),
    on_address: Some(on_address),
    path: Some(path),
};

/// The table of functions that leobench calls.
#[unsafe(no_mangle)]
pub extern "C" fn leobench_stack() -> *const Stack {
    &TABLE
}

/// A stack, and its latest text for leobench.
struct Object {
    quinn: Quinn,
    text: CString,
}

thread_local! {
    /// The latest failure to create a stack, which leobench reads before its next call.
    static FAILURE: std::cell::RefCell<CString> = std::cell::RefCell::default();
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Calls a method, and passes on its failure, or a panic, which must not leave the library.
///
/// SAFETY: `stack` has to be what `create` returned.
unsafe fn with(
    stack: *mut c_void,
    call: impl FnOnce(&mut Object) -> Result<(), String>,
) -> Failure {
    let object = unsafe { &mut *stack.cast::<Object>() };
    let outcome = catch_unwind(AssertUnwindSafe(|| call(object)));
    match outcome.unwrap_or_else(|_| Err("it panicked".to_owned())) {
        Ok(()) => null(),
        Err(problem) => {
            object.text = c_string(&problem);
            object.text.as_ptr()
        }
    }
}

fn parameters(table: *const Parameter, count: usize) -> HashMap<String, String> {
    // SAFETY: leobench passes zero-terminated texts, `count` of each.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    (0..count)
        .map(|index| unsafe { &*table.add(index) })
        .map(|parameter| (text(parameter.name), text(parameter.value)))
        .collect()
}

fn socket(address: Address) -> SocketAddr {
    let [a, b, c, d, ..] = address.ip;
    let ip = match address.family {
        4 => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        _ => IpAddr::V6(Ipv6Addr::from(address.ip)),
    };
    SocketAddr::new(ip, address.port)
}

fn address(socket: SocketAddr) -> Address {
    let mut ip = [0; 16];
    let family = match socket.ip() {
        IpAddr::V4(address) => {
            ip[..4].copy_from_slice(&address.octets());
            4
        }
        IpAddr::V6(address) => {
            ip = address.octets();
            6
        }
    };
    Address { family, ip, port: socket.port() }
}

unsafe extern "C" fn create(setup: *const StackSetup, stack: *mut *mut c_void) -> Failure {
    let made = catch_unwind(|| {
        // SAFETY: leobench passes a setup.
        let setup = unsafe { &*setup };
        Quinn::new(Setup {
            client: setup.client != 0,
            remote: socket(setup.remote),
            payload: u16::try_from(setup.payload).unwrap_or(u16::MAX),
            receive_streams: u32::try_from(setup.receive_streams).unwrap_or(u32::MAX),
            seed: setup.seed,
            parameters: parameters(setup.parameters, setup.parameter_count),
        })
    });
    match made.unwrap_or_else(|_| Err("it panicked".to_owned())) {
        Ok(quinn) => {
            let object = Box::new(Object { quinn, text: CString::default() });
            // SAFETY: leobench passes a place for the stack.
            unsafe { *stack = Box::into_raw(object).cast() };
            null()
        }
        Err(problem) => FAILURE.with_borrow_mut(|failure| {
            *failure = c_string(&problem);
            failure.as_ptr()
        }),
    }
}

// SAFETY of all that follow: leobench passes what `create` returned, and arguments as `leobench.h` describes them.

unsafe extern "C" fn destroy(stack: *mut c_void) {
    drop(unsafe { Box::from_raw(stack.cast::<Object>()) });
}

unsafe extern "C" fn connect(stack: *mut c_void, now: u64) -> Failure {
    unsafe { with(stack, |object| object.quinn.connect(now)) }
}

unsafe extern "C" fn receive(stack: *mut c_void, now: u64, datagram: *const Datagram) -> Failure {
    let datagram = unsafe { &*datagram };
    let data = unsafe { slice::from_raw_parts(datagram.data, datagram.length) };
    let call = |object: &mut Object| {
        object.quinn.receive(now, socket(datagram.source), datagram.ecn, data);
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn on_timeout(stack: *mut c_void, now: u64) -> Failure {
    let call = |object: &mut Object| {
        object.quinn.on_timeout(now);
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn next_timeout(stack: *mut c_void, now: u64) -> u64 {
    unsafe { &mut *stack.cast::<Object>() }.quinn.next_timeout(now).unwrap_or(NONE)
}

unsafe extern "C" fn poll(stack: *mut c_void, _now: u64, event: *mut leobench::Event) -> Failure {
    let event = unsafe { &mut *event };
    let call = |object: &mut Object| {
        match object.quinn.poll() {
            None => {}
            Some(Event::Connected) => event.kind = leobench::CONNECTED,
            Some(Event::Lost(reason)) => {
                object.text = c_string(&reason);
                (event.kind, event.reason) = (leobench::LOST, object.text.as_ptr());
            }
            Some(Event::Writable(stream)) => {
                (event.kind, event.stream) = (leobench::WRITABLE, stream);
            }
            Some(Event::Readable(stream)) => {
                (event.kind, event.stream) = (leobench::READABLE, stream);
            }
        }
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn transmit(stack: *mut c_void, now: u64, datagram: *mut Datagram) -> Failure {
    let datagram = unsafe { &mut *datagram };
    let call = |object: &mut Object| {
        if let Some(sent) = object.quinn.transmit(now) {
            datagram.destination = address(sent.destination);
            datagram.ecn = sent.ecn;
            (datagram.data, datagram.length) = (object.quinn.buffer.as_ptr(), sent.length);
        }
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn write(
    stack: *mut c_void,
    _now: u64,
    stream: u64,
    data: *const u8,
    length: usize,
    written: *mut usize,
) -> Failure {
    let data = unsafe { slice::from_raw_parts(data, length) };
    let written = unsafe { &mut *written };
    let call = |object: &mut Object| {
        *written = object.quinn.write(stream, data)?;
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn finish(stack: *mut c_void, _now: u64, stream: u64) -> Failure {
    unsafe { with(stack, |object| object.quinn.finish(stream)) }
}

unsafe extern "C" fn read(
    stack: *mut c_void,
    _now: u64,
    stream: u64,
    data: *mut u8,
    capacity: usize,
    length: *mut usize,
) -> Failure {
    let data = unsafe { slice::from_raw_parts_mut(data, capacity) };
    let length = unsafe { &mut *length };
    let call = |object: &mut Object| {
        *length = object.quinn.read(stream, data)?;
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn on_address(stack: *mut c_void, _now: u64, _local: *const Address) -> Failure {
    let call = |object: &mut Object| {
        object.quinn.on_address();
        Ok(())
    };
    unsafe { with(stack, call) }
}

unsafe extern "C" fn path(stack: *mut c_void, _now: u64, path: *mut Path) -> Failure {
    let path = unsafe { &mut *path };
    let call = |object: &mut Object| {
        if let Some(connection) = object.quinn.connection() {
            let stats = connection.stats().path;
            path.window = stats.cwnd;
            path.smoothed_rtt = u64::try_from(stats.rtt.as_nanos()).unwrap_or(NONE);
            path.lost_packets = stats.lost_packets;
            path.lost_bytes = stats.lost_bytes;
            path.congestion_events = stats.congestion_events;
        } else {
            (path.lost_packets, path.lost_bytes, path.congestion_events) = (0, 0, 0);
        }
        Ok(())
    };
    unsafe { with(stack, call) }
}
