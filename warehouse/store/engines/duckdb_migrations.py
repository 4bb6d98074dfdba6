"""The embedded engine as Alembic sees it: importing this teaches it."""

from __future__ import annotations

from typing import Any

from alembic.ddl.impl import DefaultImpl


class DuckDBMigrations(DefaultImpl):
    """What the migration tool knows of the engine."""

    __dialect__ = "duckdb"
    transactional_ddl = True

    def correct_for_autogen_constraints(
        self,
        conn_uniques: set[Any],
        conn_indexes: set[Any],
        metadata_unique_constraints: set[Any],
        metadata_indexes: set[Any],
    ) -> None:
        """Take a key for the expected one where its columns are the same: the engine
        gives it a name of its own."""
        found = {_columns(key): key for key in conn_uniques}
        for key in list(metadata_unique_constraints):
            if same := found.get(_columns(key)):
                conn_uniques.discard(same)
                metadata_unique_constraints.discard(key)


def _columns(key: Any) -> tuple[str, ...]:
    return tuple(column.name for column in key.columns)
