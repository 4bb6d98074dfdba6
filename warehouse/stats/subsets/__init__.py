"""A subset of a benchmark's prompts in place of all of them: design, prediction and
estimate."""
