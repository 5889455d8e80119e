"""Measurements of other tools as channels."""
