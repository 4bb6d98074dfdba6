"""Two models, or all pairs of them, on the prompts that they share; the release gate."""
