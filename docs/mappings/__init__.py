"""Mappings for published dumps, installed as `warehouse.mappings`: `ingest --map NAME`
takes one by its name."""
