"""SQLAlchemy, imported when something of it is first asked for: what only reads a file
needs none of it, and loading it takes longer than most answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.extras import Later

if TYPE_CHECKING:
    import sqlalchemy as sa
else:
    sa = Later("sqlalchemy")

__all__ = ["sa"]
