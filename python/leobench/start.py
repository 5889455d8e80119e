"""The start of the `leobench` program.

Until `leobench.cli` reports interruptions, SIGINT simply ends the process, as it does any other program.
Python's own handler would raise an exception in the middle of an import.
"""

# The built-in module: importing `signal` takes a while already.
import _signal  # type: ignore[import-not-found]


def main() -> None:
    """Runs the command line of this process, and exits."""
    # Ignored signals stay ignored: background jobs of a script.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    from leobench.cli import entry

    entry()
