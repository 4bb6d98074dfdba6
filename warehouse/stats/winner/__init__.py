"""The luck of the winner: what the first of several gains by having been picked
(statistics.md §28.1)."""
