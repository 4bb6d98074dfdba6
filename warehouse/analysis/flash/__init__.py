"""A model's place by few prompts."""
