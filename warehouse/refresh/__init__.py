"""Figures that are stored and kept fresh: what is stale, recomputing it, history."""

from warehouse.refresh.running import refresh

__all__ = ["refresh"]
