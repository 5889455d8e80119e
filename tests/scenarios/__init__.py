"""Scenarios: those that are shipped, wrong ones, and limits."""
