//! A QUIC client and server on each of several Rust stacks, for hosts of an emulation.
//!
//! They speak what `quic_go` speaks. The server answers every stream, on which a client asks for a number of bytes, with so
//! many bytes and their SHA-256 behind them; the client compares, and prints a JSON object.
//!
//! ```console
//! quic_rust quinn serve [::]:4433
//! quic_rust quinn fetch server:4433 2000000
//! ```
//!
//! Each stack has its own defaults, but for an idle timeout of 20 s and pings every 300 ms of the client.

mod content;
mod on_quiche;
mod on_quinn;
mod on_s2n;
mod security;

use std::error::Error;
use std::net::{SocketAddr, ToSocketAddrs};
use std::process::ExitCode;
use std::time::Duration;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PROTOCOL: &[u8] = b"leobench-fetch";
/// Time without a packet that a connection survives.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time between a waiting client's pings. If its address outside changes, no packet of the server's arrives until the client
/// has sent something.
const KEEP_ALIVE: Duration = Duration::from_millis(300);
const USAGE: &str = "usage: quic_rust quiche|quinn|s2n-quic serve ADDRESS, or quic_rust quiche|quinn|s2n-quic fetch ADDRESS BYTES";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quic_rust: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Outcome<()> {
    match words {
        ["quiche", "serve", address] => on_quiche::serve(resolved(address)?),
        ["quiche", "fetch", address, size] => on_quiche::fetch(resolved(address)?, size.parse()?),
        ["quinn", "serve", address] => runtime()?.block_on(on_quinn::serve(resolved(address)?)),
        ["quinn", "fetch", address, size] => {
            runtime()?.block_on(on_quinn::fetch(resolved(address)?, size.parse()?))
        }
        ["s2n-quic", "serve", address] => runtime()?.block_on(on_s2n::serve(resolved(address)?)),
        ["s2n-quic", "fetch", address, size] => {
            runtime()?.block_on(on_s2n::fetch(resolved(address)?, size.parse()?))
        }
        _ => Err(USAGE.into()),
    }
}

fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// The address behind a name and a port.
fn resolved(address: &str) -> Outcome<SocketAddr> {
    address.to_socket_addrs()?.next().ok_or_else(|| format!("{address}: has no address").into())
}

/// An address for a client's own socket, of the family of its server's.
fn any_address(server: SocketAddr) -> Outcome<SocketAddr> {
    Ok(if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" }.parse()?)
}
