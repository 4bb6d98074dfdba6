"""Suspected wrong keys of a benchmark: who votes for what, what else speaks against a
key, what follows."""
