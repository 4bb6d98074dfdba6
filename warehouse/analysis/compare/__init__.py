"""Two models held against each other."""
