"""Judges held against people: agreement, figures that people's labels correct, and how many labels that takes."""
