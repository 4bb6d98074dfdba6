"""Stored answers held against targets: metrics of a whole set."""
