"""Explanations of what several paths lose."""
