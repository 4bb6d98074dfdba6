"""Two formulations of a benchmark."""
