"""Runs of the store in formats of others."""
