"""leobench's TCP beside that of Linux."""
