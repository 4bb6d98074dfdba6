"""Stores of dumps that are only asked: read once, kept in the user's cache, never his to
clean up."""
