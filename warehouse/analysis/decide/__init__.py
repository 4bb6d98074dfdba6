"""Two recipes held against each other."""
