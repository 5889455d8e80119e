"""`python -m leobench`."""

from leobench.start import main

if __name__ == "__main__":
    main()
