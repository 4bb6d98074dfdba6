"""Scores along training."""
