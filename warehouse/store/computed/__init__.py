"""Results that were computed from the store and are kept in it."""
