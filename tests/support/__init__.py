"""Helpers of tests of several subjects."""
