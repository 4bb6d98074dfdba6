"""How few questions, clusters or seeds carry the lead of one of two models."""
