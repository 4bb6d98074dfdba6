"""Figures that would be published of models on benchmarks that they were not run on."""
