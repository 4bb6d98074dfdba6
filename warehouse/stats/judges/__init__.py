"""Judges held against people: agreement, and figures that people's labels correct
(statistics.md §16)."""
