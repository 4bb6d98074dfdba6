"""A few prompts for all."""
