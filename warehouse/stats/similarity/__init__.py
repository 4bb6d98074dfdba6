"""Vectors: neighbours, medoids, partitions and their agreement."""
