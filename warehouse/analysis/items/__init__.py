"""Statistics of single prompts and their generations."""
