//! Datagrams without a transport on top: background traffic, and a ruler for links.
