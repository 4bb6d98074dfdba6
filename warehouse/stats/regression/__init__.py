"""Answers that are numbers, held against targets."""
