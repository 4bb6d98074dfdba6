"""Suspected wrong keys: items whose recorded answer the models disagree with."""
