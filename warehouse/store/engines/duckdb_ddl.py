"""How SQLAlchemy writes a table of the embedded engine: importing this teaches it."""

from __future__ import annotations

from typing import Any

from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn

#: Where the engine's own choice of a compression is worse, by table and column. Hashes
#: cannot be compressed, and trying to takes longer than writing them; texts become half
#: as large as by its choice, in half the time (60 000 responses of real models).
COMPRESSION = {
    "content": {"sha256": "uncompressed", "text": "zstd"},
    "generation": {"prompt_hash": "uncompressed", "response_hash": "uncompressed"},
    "prompt": {
        "text_hash": "uncompressed",
        "text": "zstd",
        "choices": "zstd",
        "metadata": "zstd",
    },
}


@compiles(CreateColumn, "duckdb")
def _create_column(element: CreateColumn, compiler: Any, **options: Any) -> str:
    """A column of a new table, with its compression."""
    column = element.element
    text: str = compiler.visit_create_column(element, **options)
    method = COMPRESSION.get(column.table.name, {}).get(column.name)
    if method:
        return f"{text} USING COMPRESSION {method}"
    return text
