"""Models ranked on a benchmark."""
