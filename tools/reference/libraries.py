"""The page about shared libraries: the header, with what a scenario says of them."""

from __future__ import annotations

from tools.reference.columns import ROOT

HEADER = ROOT / "python" / "leobench" / "include" / "leobench.h"

TOP = """\
# Shared libraries

A shared library in C, Rust or another language can be the congestion controller of a flow, under QUIC and
TCP, or its QUIC stack:

```toml
transport = { kind = "quic", congestion = { library = "./libmine.so", parameters = { beta = 0.7 } } }
```

```toml
transport = { kind = "quic", stack = { library = "./mine.so" } }
```

Paths are relative to the scenario. The interface is a header, `leobench/include/leobench.h` in the Python
package, with its types in Rust beside it (`leobench.rs`). Two crates to copy:

```console
$ cargo build --release --manifest-path examples/controller_rust/Cargo.toml
$ cargo build --release --manifest-path examples/quinn_stack/Cargo.toml
```

The first is NewReno, and sends the packets of the built-in `newreno`. The second is quinn-proto with the
handshake of leobench, which has the sizes of TLS and no ciphers. In real time, QUIC takes a controller;
stacks run in virtual time only.

A stack chooses its own controller, scheduler, pacing and windows: of the keys of `quic`, only `payload` and
`ecn` go with it. It gets no forecasts, and has no qlog. It is `null` as the flow's `congestion` and
`losses` in a summary, and counts that it does not report are named in `unreported`. leobench writes a
pattern to streams and compares what is read.

A library of another version, or without a function, is refused before the run. Numbers out of bounds, bytes
that were not written, and timers that never advance end the run with the name of the function and the time.
A call that never returns hangs the run, and a crash ends the process. A campaign records the SHA-256 of the
file.

## The header

"""


def libraries_page() -> str:
    """The page about shared libraries."""
    return f"{TOP}```c\n{HEADER.read_text(encoding='utf-8')}```\n"
