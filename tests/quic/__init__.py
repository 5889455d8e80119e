"""leobench's own QUIC beside aioquic and the RFCs, and its logs."""
