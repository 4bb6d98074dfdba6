"""What one row is: training seeds, repeats, checkpoints, infinite scores (statistics.md
§20)."""
