"""Answers that are classes, held against targets: counts, and metrics of the whole set."""
