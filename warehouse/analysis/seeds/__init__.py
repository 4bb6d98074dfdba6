"""Noise of training seeds."""
