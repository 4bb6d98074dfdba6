"""What training runs say: seeds, checkpoints, and what can be decided by them."""
