"""Components of variance: prompts, draws, seeds."""
