"""Figures of runs and of campaigns."""
