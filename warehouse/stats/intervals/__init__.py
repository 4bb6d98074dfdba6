"""The mean of one run: standard errors and intervals."""
