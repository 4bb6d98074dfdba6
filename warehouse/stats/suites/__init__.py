"""Weighted means over benchmarks, and their differences."""
