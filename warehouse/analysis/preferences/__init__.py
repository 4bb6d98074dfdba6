"""Votes between two models: what is stored of them, and what they say of the models."""
