"""SQL text, installed as `warehouse.queries`: `views/` and `library/`, one query per
file."""
