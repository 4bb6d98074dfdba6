"""Votes between models."""
