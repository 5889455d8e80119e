"""Statistics of runs and campaigns."""
