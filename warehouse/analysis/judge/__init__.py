"""A judge held against people."""
