"""Campaigns: plan, worker processes, files, interruptions."""
