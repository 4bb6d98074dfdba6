"""The tables of a store, made when one of them is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.extras import Later

if TYPE_CHECKING:
    from warehouse.store.schema import tables
else:
    tables = Later("warehouse.store.schema.tables")

__all__ = ["tables"]
