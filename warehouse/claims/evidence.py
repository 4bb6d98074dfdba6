"""What a figure rests on: its runs, their sources, and the clusterings that errors use unasked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


def runs_behind(store: Store, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Model, benchmark, keys and hash of the samples of some runs, in an order of their own."""
    rows = store.rows(query_text("analysis", "claim_runs"), {"run_ids": run_ids})
    return sorted(rows, key=lambda row: (row["condition_key"], row["content_digest"]))


def sources_behind(store: Store, run_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Name, format, hash and size of the sources of some runs; of a path the last part only."""
    sources = store.rows(query_text("analysis", "claim_sources"), {"run_ids": run_ids})
    rows = {
        (row["sha256"], row["format"]): row | {"path": PurePath(str(row["path"]).replace("\\", "/")).name}
        for row in sources
    }
    return [rows[key] for key in sorted(rows)]


def clusterings_behind(store: Store, benchmarks: Sequence[str]) -> list[dict[str, Any]]:
    """The default clusterings of some benchmarks."""
    stored = store.rows(query_text("analysis", "stored_clusterings"))
    return [
        {name: row[name] for name in ("benchmark", "name", "kind")}
        for row in stored
        if row["is_default"] and row["benchmark"] in benchmarks
    ]
