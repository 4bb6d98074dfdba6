"""A candidate against a baseline."""
