"""Inputs, results and moments that every statistic uses."""
