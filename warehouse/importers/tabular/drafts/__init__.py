"""Mappings that are begun for a table that nobody knows, by what its rows say."""
