"""Texts of prompts: embeddings, neighbours, near-duplicates."""
