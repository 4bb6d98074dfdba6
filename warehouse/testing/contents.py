"""What a store holds in every table, by natural keys: the same where a source was taken
back as where it never was."""

from __future__ import annotations

import json
from typing import Any

from warehouse.store.connection import Store
from warehouse.store.schema import tables
from warehouse.store.sql.natural_keys import table_query

#: Tables that are no part of what a store says: counters, what only `forget` reads,
#: texts by their hash (`content` is held against what points to it by `store check`), and
#: what was computed of a store.
LEFT_OUT = {"id_counter", "statement", "content", "metric_value", "refresh", "analysis"}
#: When something was done, and how.
CLOCKS = ("claimed_at", "loaded_at", "created_at", "seconds")
#: Columns of the ledger that count what a source was when it came.
_WHEN_IT_CAME = (
    "source_n_",
    "source_notes",
    "n_runs",
    "n_seen_again",
    "n_superseded",
    "n_samples",
    "n_scores",
    "notes",
)

Contents = dict[str, list[str]]


def contents(store: Store) -> Contents:
    """The rows of every table in natural keys, without times; of the ledger which
    sources there are."""
    names = [name for name in tables.metadata.tables if name not in LEFT_OUT]
    # Most are empty, and to plan a query of their rows takes 4 ms each.
    looks = " union all ".join(
        f"(select '{name}' as name from \"{name}\" limit 1)" for name in names
    )
    filled = {row["name"] for row in store.rows(looks)}
    return {name: _rows(store, name) if name in filled else [] for name in names}


def differences(one: Contents, other: Contents) -> list[str]:
    """Rows that only one store holds, some of each table."""
    lines = []
    for name, rows in one.items():
        mine, theirs = set(rows), set(other[name])
        lines += [f"{name}: left behind: {row}" for row in sorted(mine - theirs)[:3]]
        lines += [f"{name}: lost: {row}" for row in sorted(theirs - mine)[:3]]
        if mine == theirs and len(rows) != len(other[name]):
            lines.append(
                f"{name}: {len(rows)} rows, {len(other[name])} in a fresh store"
            )
    return lines


def _rows(store: Store, name: str) -> list[str]:
    rows = store.arrow(table_query(name)).to_pylist()
    if name == "source":  # a refused one holds nothing
        rows = [row for row in rows if row["state"] == "loaded"]
    return sorted(
        json.dumps(_plain(name, row), sort_keys=True, default=str) for row in rows
    )


def _plain(name: str, row: dict[str, Any]) -> dict[str, Any]:
    left = {key: _value(key, value) for key, value in row.items() if key not in CLOCKS}
    if (
        name == "prompt"
    ):  # texts that differ in case and blanks alone are one: the spelling of the first stays
        left.pop("text")
    if (
        name == "transcript"
    ):  # of runs that were seen again the first source counted them
        left.pop("n_events")
    if name == "source":
        left = {
            key: value
            for key, value in left.items()
            if not key.startswith(_WHEN_IT_CAME)
        }
    return left


def _value(key: str, value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if key in ("metadata", "choices") and value is not None:
        document = json.loads(value)
        if isinstance(document, dict):  # null: not known
            document = {
                name: item for name, item in document.items() if item is not None
            } or None
        return document
    return value
