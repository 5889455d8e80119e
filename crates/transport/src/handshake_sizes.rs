//! The sizes of the messages of a TLS 1.3 handshake, for handshakes that keep its sizes and compute nothing. Both QUIC stacks
//! take them from here, so that they understand each other.

/// Bytes of a `ClientHello`, rounded up (RFC 8446 section 4.1.2): 51 of header and fixed fields with three cipher suites,
/// 42 of one X25519 key share (section 4.2.8), and some 180 of the other extensions: server name, groups, signature
/// algorithms, versions, ALPN, and QUIC's transport parameters. A post-quantum key share, not modelled, would add over a
/// kilobyte. QUIC pads the datagram to 1,200 bytes anyway (RFC 9000 section 14.1).
pub const CLIENT_HELLO: usize = 300;
/// Bytes of a `ServerHello` (RFC 8446 section 4.1.3): 44 of header and fixed fields without a session identifier (QUIC has
/// none, RFC 9001 section 8.4), 6 of the version and 40 of an X25519 key share.
pub const SERVER_HELLO: usize = 90;
/// Bytes of the rest of the server's flight: encrypted extensions of about 100 bytes, a chain of two certificates of
/// about a kilobyte each, an RSA-2048 signature of 264 with its header (RFC 8446 section 4.4.3), and Finished of 36. The
/// chain is our choice, a short one: the flight stays within three times the 1,200 bytes that the client has sent at
/// least, so that the server need not wait for the client's address to be validated (RFC 9000 section 8.1).
pub const SERVER_FLIGHT: usize = 2_400;
/// Bytes that the offer of a ticket adds to a `ClientHello` (RFC 8446 section 4.2.11): 47 of headers, the ticket's age and a
/// binder with SHA-256, and a ticket of 32. Rustls has tickets of this size, which only name what the server has stored: so a
/// server can accept each ticket once (section 8.1).
pub const TICKET_OFFER: usize = 79;
/// Bytes of the extension `early_data`, which is empty (RFC 8446 section 4.2.10).
pub const EARLY_DATA: usize = 4;
/// Bytes that the server's choice of a ticket adds to its `ServerHello` (RFC 8446 section 4.2.11).
pub const TICKET_CHOICE: usize = 6;
/// Bytes of the rest of the server's flight after it has chosen a ticket: encrypted extensions and Finished, as above. The
/// ticket stands for the certificate and its signature (RFC 8446 section 2.2).
pub const RESUMED_FLIGHT: usize = 136;
/// Bytes of Finished with SHA-256: a header of four and a hash of 32 (RFC 8446 section 4.4.4).
pub const CLIENT_FINISHED: usize = 36;
