"""Leaderboards of many benchmarks."""
