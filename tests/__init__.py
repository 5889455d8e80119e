"""Tests of leobench in Python, by subject. Helpers stand beside their tests, shared ones in `support`."""
