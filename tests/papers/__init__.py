"""Reproductions of papers: campaigns, measures, claims."""
