"""What was computed from the store and is kept in it."""
