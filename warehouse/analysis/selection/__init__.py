"""Which runs, prompts, scores and clusters an analysis is about."""
