"""Single runs and prompts."""
