"""The performance matrix of a benchmark: from the store to the statistics of
`stats.matrix`."""
