"""Verdicts on runs that are still growing (statistics.md §11)."""
