"""`python -m leobench`."""

from leobench.cli import entry

if __name__ == "__main__":
    entry()
