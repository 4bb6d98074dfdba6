"""Figures that are stored and kept fresh: what is stale, recomputing it, history."""
