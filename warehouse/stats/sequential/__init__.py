"""Stopping an evaluation as soon as its answer is settled (statistics.md §11)."""
