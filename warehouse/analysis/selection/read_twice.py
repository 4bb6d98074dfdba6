"""The same bytes read in two ways (``ingest --beside``): what is said where both count
in an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable

from warehouse.records.canonical_json import canonical_digest
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import listed, some_of

#: Sources and runs that a note names.
_NAMED = 5


def read_twice(store: Store, run_ids: Iterable[int]) -> list[str]:
    """Notes on an answer in which the same bytes count twice; nothing where none do,
    and of a lake.

    Args:
        run_ids: of all runs that count in it.
    """
    if store.dialect.is_lake:
        return []
    sources = store.rows(query_text("analysis/selection", "read_twice"))
    if not sources:
        return []
    alike: dict[tuple[str, str], list[int]] = {}
    paths = {row["id"]: row["path"] for row in sources}
    # equal files below folders that say something are two sources, not two readings
    for row in sources:
        if row["settings"]:
            settings = json.loads(row["settings"])
        else:
            settings = {}
        alike.setdefault(
            (row["sha256"], canonical_digest(settings.get("context"))), []
        ).append(row["id"])
    held: dict[int, set[int]] = {}
    for row in store.rows(
        query_text("analysis/selection", "runs_of_sources"), {"sources": sorted(paths)}
    ):
        held.setdefault(row["source_id"], set()).add(row["run_id"])
    counted = set(run_ids)
    notes: list[str] = []
    for own in alike.values():
        there = sorted(source for source in own if held.get(source, set()) & counted)
        runs = {source: held[source] & counted for source in there}
        if len(there) < 2 or len(set.union(*runs.values())) < 2:
            continue
        names = listed([str(source) for source in there[:_NAMED]])
        ids = sorted(set.union(*runs.values()))
        shown = some_of([str(run) for run in ids], _NAMED)
        notes.append(
            f"the same bytes count twice here: {paths[there[0]]} was read as the "
            f"sources {names} (runs {shown}); warehouse fix forget {there[0]} takes one "
            "reading out"
        )
    return notes
