"""Benchmarks that can decide between recipes."""
