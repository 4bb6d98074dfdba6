"""The performance matrix Q, prompts × models (Siska et al. 2024)."""
