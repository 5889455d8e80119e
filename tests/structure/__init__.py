"""Imports between the modules of the source."""
