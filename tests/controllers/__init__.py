"""Congestion controllers written in Python."""
