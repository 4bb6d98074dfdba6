"""Training runs: seeds, checkpoints, and what can be decided by them (Madaan et al.
2024)."""
