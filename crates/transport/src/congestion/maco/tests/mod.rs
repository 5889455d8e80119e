//! MACO against its paper, and against recursions and simulations written independently.
