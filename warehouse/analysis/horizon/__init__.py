"""Time horizons."""
