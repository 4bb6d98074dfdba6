"""Scores against costs."""
