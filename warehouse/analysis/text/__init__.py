"""What prompts ask: embeddings, neighbours, near-duplicates."""
