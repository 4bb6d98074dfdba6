"""Training runs and what they say: seeds, checkpoints, and what can be decided by
them."""
