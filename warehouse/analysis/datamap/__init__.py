"""Prompts by correctness and consistency."""
