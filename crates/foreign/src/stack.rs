//! One end of a QUIC connection in a shared library: its calls, with everything that comes back checked.

use std::ffi::c_void;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::ptr;

use leobench_base::spec::Table;
use leobench_base::{Ecn, RngTree, StreamIndex};
use leobench_transport::Role;
use leobench_transport::plugin::StackSetup;

use crate::abi::{self, NONE};
use crate::library::{Interface, Loaded, result, text};
use crate::parameters::Parameters;

impl Interface for abi::Stack {
    const SYMBOL: &'static str = "leobench_stack";
    const VERSION: u32 = abi::STACK_VERSION;

    fn missing(&self) -> Option<&'static str> {
        let required = [
            ("create", self.create.is_none()),
            ("destroy", self.destroy.is_none()),
            ("connect", self.connect.is_none()),
            ("receive", self.receive.is_none()),
            ("on_timeout", self.on_timeout.is_none()),
            ("next_timeout", self.next_timeout.is_none()),
            ("poll", self.poll.is_none()),
            ("transmit", self.transmit.is_none()),
            ("write", self.write.is_none()),
            ("finish", self.finish.is_none()),
            ("read", self.read.is_none()),
        ];
        required.iter().find(|(_, missing)| *missing).map(|(name, _)| *name)
    }
}

/// An event of a stack's.
pub(crate) enum Event {
    /// The handshake is done.
    Connected,
    /// The connection is lost for good.
    Lost(String),
    /// A stream takes bytes again.
    Writable(StreamIndex),
    /// A stream has bytes.
    Readable(StreamIndex),
}

/// A datagram that a stack sends.
pub(crate) struct Sent<'a> {
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) data: &'a [u8],
}

/// A stack, destroyed with this.
pub(crate) struct Stack {
    state: *mut c_void,
    library: Loaded<abi::Stack>,
    payload: u64,
    sends: u64,
    receives: u64,
}

// SAFETY: The interface demands an object that any thread may use, one at a time.
unsafe impl Send for Stack {}

impl Drop for Stack {
    fn drop(&mut self) {
        if let Some(destroy) = self.library.table.destroy {
            // SAFETY: `create` made the object, and nothing uses it from here on.
            unsafe { destroy(self.state) }
        }
    }
}

/// The function of a table that was checked to have it.
macro_rules! function {
    ($stack:expr, $name:ident) => {
        $stack
            .library
            .table
            .$name
            .ok_or_else(|| concat!("lacks the function `", stringify!($name), "`").to_owned())?
    };
}

impl Stack {
    /// One end of a connection.
    ///
    /// # Errors
    /// If the library cannot be loaded, has another interface, or refuses.
    pub(crate) fn new(
        file: &Path,
        setup: &StackSetup,
        rng: &RngTree,
        parameters: &Table,
    ) -> Result<Self, String> {
        let library = Loaded::<abi::Stack>::open(file)?;
        if setup.moves && library.table.on_address.is_none() {
            let problem = "`leobench_stack` lacks the function `on_address`, but the client moves";
            return Err(problem.to_owned());
        }
        let parameters = Parameters::new(parameters)?;
        let (parameters, parameter_count) = parameters.parts();
        let (sends, receives) = (setup.sends.len() as u64, setup.receives as u64);
        let mut seed = [0; 32];
        let mut random = rng.child("stack").rng();
        for part in seed.chunks_exact_mut(8) {
            part.copy_from_slice(&random.bits().to_le_bytes());
        }
        let given = abi::StackSetup {
            local: address(setup.local),
            remote: address(setup.remote),
            payload: setup.payload.get(),
            send_streams: sends,
            receive_streams: receives,
            client: (setup.role == Role::Client).into(),
            ecn: setup.ecn.into(),
            seed,
            parameters,
            parameter_count,
        };
        let payload = setup.payload.get();
        let mut state = ptr::null_mut();
        let create = library.table.create.ok_or("lacks the function `create`")?;
        // SAFETY: The arguments are what the header describes, and live until the call returns.
        result("create", unsafe { create(&raw const given, &raw mut state) })?;
        Ok(Self { state, library, payload, sends, receives })
    }

    /// The client opens the connection.
    pub(crate) fn connect(&mut self, now: u64) -> Result<(), String> {
        let call = function!(self, connect);
        // SAFETY: The object is alive.
        result("connect", unsafe { call(self.state, now) })
    }

    /// A datagram came.
    pub(crate) fn receive(
        &mut self,
        now: u64,
        (source, destination): (SocketAddr, SocketAddr),
        ecn: Ecn,
        data: &[u8],
    ) -> Result<(), String> {
        let call = function!(self, receive);
        let datagram = abi::Datagram {
            source: address(source),
            destination: address(destination),
            ecn: bits(ecn),
            data: data.as_ptr(),
            length: data.len(),
        };
        // SAFETY: The object is alive, and the arguments live until the call returns.
        result("receive", unsafe { call(self.state, now, &raw const datagram) })
    }

    /// The timer is due.
    pub(crate) fn on_timeout(&mut self, now: u64) -> Result<(), String> {
        let call = function!(self, on_timeout);
        // SAFETY: The object is alive.
        result("on_timeout", unsafe { call(self.state, now) })
    }

    /// When the timer is due, if it is set.
    pub(crate) fn next_timeout(&mut self, now: u64) -> Result<Option<u64>, String> {
        let call = function!(self, next_timeout);
        // SAFETY: The object is alive.
        let next = unsafe { call(self.state, now) };
        Ok((next != NONE).then_some(next))
    }

    /// The host has another address.
    pub(crate) fn on_address(&mut self, now: u64, local: SocketAddr) -> Result<(), String> {
        let Some(call) = self.library.table.on_address else { return Ok(()) };
        let local = address(local);
        // SAFETY: The object is alive, and the arguments live until the call returns.
        result("on_address", unsafe { call(self.state, now, &raw const local) })
    }

    /// The next event.
    pub(crate) fn poll(&mut self, now: u64) -> Result<Option<Event>, String> {
        let call = function!(self, poll);
        let mut event = abi::Event { kind: abi::NO_EVENT, stream: 0, reason: ptr::null() };
        // SAFETY: The object is alive, and the arguments live until the call returns.
        result("poll", unsafe { call(self.state, now, &raw mut event) })?;
        let stream = |number: u64| {
            let stream = event.stream;
            if stream < number {
                return Ok(StreamIndex::from(stream as usize));
            }
            Err(format!("`poll` named stream {stream}; allowed: below {number}"))
        };
        Ok(Some(match event.kind {
            abi::NO_EVENT => return Ok(None),
            abi::CONNECTED => Event::Connected,
            abi::LOST => Event::Lost(text(event.reason).unwrap_or_else(|| "lost".to_owned())),
            abi::WRITABLE => Event::Writable(stream(self.sends)?),
            abi::READABLE => Event::Readable(stream(self.receives)?),
            other => return Err(format!("`poll` returned event {other}; allowed: 0 to 4")),
        }))
    }

    /// The next datagram to send; `local` and `remote` are the addresses that it has unless the stack gives others.
    pub(crate) fn transmit(
        &mut self,
        now: u64,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Result<Option<Sent<'_>>, String> {
        let call = function!(self, transmit);
        let mut datagram = abi::Datagram {
            source: address(local),
            destination: address(remote),
            ecn: 0,
            data: ptr::null(),
            length: 0,
        };
        // SAFETY: The object is alive, and the arguments live until the call returns.
        result("transmit", unsafe { call(self.state, now, &raw mut datagram) })?;
        if datagram.length == 0 {
            return Ok(None);
        }
        let (length, payload) = (datagram.length as u64, self.payload);
        if length > payload {
            let allowed = format!("up to {payload}");
            return Err(format!("`transmit` sent {length} bytes; allowed: {allowed}"));
        }
        if datagram.data.is_null() {
            return Err("`transmit` set `data` to NULL and a length".to_owned());
        }
        let place = |name: &str, address| {
            parsed(address).ok_or_else(|| format!("`transmit` set `{name}` to no address"))
        };
        let source = place("source", datagram.source)?;
        if source.port() != local.port() {
            let (port, own) = (source.port(), local.port());
            return Err(format!("`transmit` set the source's port to {port}; allowed: {own}"));
        }
        let ecn = datagram.ecn;
        let ecn = codepoint(ecn)
            .ok_or_else(|| format!("`transmit` set `ecn` to {ecn}; allowed: 0 to 3"))?;
        // SAFETY: The interface demands that so many bytes are valid until the next call, which this borrow prevents.
        let data = unsafe { std::slice::from_raw_parts(datagram.data, datagram.length) };
        Ok(Some(Sent {
            source,
            destination: place("destination", datagram.destination)?,
            ecn,
            data,
        }))
    }

    /// Writes to a stream; returns how many bytes the stack took.
    pub(crate) fn write(
        &mut self,
        now: u64,
        stream: StreamIndex,
        data: &[u8],
    ) -> Result<u64, String> {
        let call = function!(self, write);
        let (stream, length, mut taken) = (stream.index() as u64, data.len(), 0);
        // SAFETY: The object is alive, and the arguments live until the call returns.
        let failure =
            unsafe { call(self.state, now, stream, data.as_ptr(), length, &raw mut taken) };
        result("write", failure)?;
        if taken > length {
            return Err(format!("`write` took {taken} bytes of {length} on stream {stream}"));
        }
        Ok(taken as u64)
    }

    /// Nothing more is written to a stream.
    pub(crate) fn finish(&mut self, now: u64, stream: StreamIndex) -> Result<(), String> {
        let call = function!(self, finish);
        // SAFETY: The object is alive.
        result("finish", unsafe { call(self.state, now, stream.index() as u64) })
    }

    /// Reads bytes of a stream in order; returns how many there were.
    pub(crate) fn read(
        &mut self,
        now: u64,
        stream: StreamIndex,
        data: &mut [u8],
    ) -> Result<usize, String> {
        let call = function!(self, read);
        let (stream, capacity, mut length) = (stream.index() as u64, data.len(), 0);
        // SAFETY: The object is alive, and the arguments live until the call returns.
        let failure =
            unsafe { call(self.state, now, stream, data.as_mut_ptr(), capacity, &raw mut length) };
        result("read", failure)?;
        if length > capacity {
            return Err(format!("`read` gave {length} bytes of stream {stream} for {capacity}"));
        }
        Ok(length)
    }

    /// The state of the path, if the stack knows it.
    pub(crate) fn path(&self, now: u64) -> Result<Option<abi::Path>, String> {
        let Some(call) = self.library.table.path else { return Ok(None) };
        let mut path = UNKNOWN;
        // SAFETY: The object is alive, and the arguments live until the call returns.
        result("path", unsafe { call(self.state, now, &raw mut path) })?;
        Ok(Some(path))
    }
}

/// A state of which nothing is known.
pub(crate) const UNKNOWN: abi::Path = abi::Path {
    window: NONE,
    in_flight: NONE,
    ssthresh: NONE,
    smoothed_rtt: NONE,
    latest_rtt: NONE,
    pacing_rate: NONE,
    acked_bytes: NONE,
    lost_packets: NONE,
    lost_bytes: NONE,
    retransmitted_packets: NONE,
    retransmitted_bytes: NONE,
    congestion_events: NONE,
    timeouts: NONE,
    spurious_losses: NONE,
    undos: NONE,
    ecn_marks: NONE,
};

fn address(address: SocketAddr) -> abi::Address {
    let mut ip = [0; 16];
    let family = match address.ip() {
        IpAddr::V4(address) => {
            ip[..4].copy_from_slice(&address.octets());
            4
        }
        IpAddr::V6(address) => {
            ip = address.octets();
            6
        }
    };
    abi::Address { family, ip, port: address.port() }
}

fn parsed(address: abi::Address) -> Option<SocketAddr> {
    let [a, b, c, d, ..] = address.ip;
    let ip = match address.family {
        4 => IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        6 => IpAddr::V6(Ipv6Addr::from(address.ip)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, address.port))
}

/// The ECN field of a codepoint (RFC 3168 section 5).
fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

fn codepoint(bits: u8) -> Option<Ecn> {
    Some(match bits {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        3 => Ecn::Ce,
        _ => return None,
    })
}
