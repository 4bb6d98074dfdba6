"""Pairwise votes: strengths of models, with honest errors (statistics.md §15)."""
