"""Variance from the wording of prompts."""
