"""Real programs on the hosts of a scenario, in real time: namespaces, devices, processes.

`hosts` says what hosts there are and makes them, `session` makes a sandbox of processes that ends with the
program that made it, `programs` runs programs inside, `interrupts` passes on interrupts, `check` says what
can be wrong before, and `kernel` has the system calls that Python 3.11 lacks.
"""
