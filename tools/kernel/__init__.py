"""Linux's own TCP over an emulated link, beside leobench's TCP over the same link.

`python -m tools.kernel.compare` runs both and prints their figures. The package uses leobench from outside
only: it writes scenarios and reads results.
"""
