"""All models of a benchmark, pair by pair."""
