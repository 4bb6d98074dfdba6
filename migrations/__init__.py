"""The alembic environment, installed as `warehouse.migrations`; `versions/` is frozen
history."""
