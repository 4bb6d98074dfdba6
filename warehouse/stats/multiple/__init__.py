"""Many pairs: adjusted tests, simultaneous intervals, ranks."""
