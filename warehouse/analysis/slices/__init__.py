"""Results by a field of the prompt: slices."""
