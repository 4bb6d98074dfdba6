"""Where the variance of a score comes from: prompts, draws, seeds."""
