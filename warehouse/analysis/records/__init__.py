"""Which records of a benchmark over time stand."""
