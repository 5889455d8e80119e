"""Tests of what is built and published."""
