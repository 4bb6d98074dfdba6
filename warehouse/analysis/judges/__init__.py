"""Judges held against people, out of a store."""
