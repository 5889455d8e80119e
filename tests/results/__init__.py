"""Results: the library, folders, summaries, repeatability."""
