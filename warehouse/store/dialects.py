"""Everything that differs between the engines: one frozen record per engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa


@dataclass(frozen=True)
class Dialect:
    """What one engine can do and wants.

    ``foreign_keys``: a table that a foreign key points to can still be migrated. ``indexes``:
    one index per fact table pays for itself.
    """

    name: str
    foreign_keys: bool
    indexes: bool


DUCKDB = Dialect("duckdb", foreign_keys=False, indexes=False)
POSTGRESQL = Dialect("postgresql", foreign_keys=True, indexes=True)
DIALECTS = {dialect.name: dialect for dialect in (DUCKDB, POSTGRESQL)}


def wants_foreign_keys(*_args: Any, dialect: sa.Dialect, **_options: Any) -> bool:
    """Condition of a foreign key's DDL: only where the engine can live with it."""
    return DIALECTS[dialect.name].foreign_keys


def wants_indexes(*_args: Any, dialect: sa.Dialect, **_options: Any) -> bool:
    """Condition of an index's DDL."""
    return DIALECTS[dialect.name].indexes


def vector_type() -> sa.types.TypeEngine[Any]:
    """Embedding vectors: a list of 32-bit floats of any length."""
    return sa.ARRAY(sa.REAL)
