"""Lists of what a store holds, as people are shown them: which fields, and which a
narrow page does without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from warehouse.tables.view import Table

_OF_MODELS = ("family", "developer", "parameter_count", "release_date")
_OF_BENCHMARKS = ("version", "clustering", "parent", "n_models")
_RUN_COLUMNS = (
    *(
        "run_id",
        "model",
        "condition",
        "checkpoint",
        "agent",
        "benchmark",
        "split",
        "fewshot",
        "temperature",
    ),
    *("n_found", "n_scores", "status", "started_at", "tags", "note"),
)
_RUN_MAY_BE_EMPTY = (
    *(
        "condition",
        "checkpoint",
        "agent",
        "split",
        "fewshot",
        "temperature",
        "started_at",
        "tags",
        "note",
    ),
)
_MINOR_RUN_COLUMNS = (
    *(
        "status",
        "checkpoint",
        "agent",
        "split",
        "fewshot",
        "temperature",
        "n_found",
        "started_at",
        "n_scores",
    ),
)
_SOURCE_COLUMNS = (
    *(
        "source_id",
        "path",
        "format",
        "state",
        "n_runs",
        "n_seen_again",
        "n_superseded",
        "n_samples",
        "n_scores",
    ),
    *("n_votes", "n_rejected", "n_current", "loaded_at"),
)
_MINOR_SOURCE_COLUMNS = (
    *(
        "n_seen_again",
        "n_superseded",
        "n_scores",
        "n_votes",
        "n_samples",
        "n_current",
        "n_rejected",
        "format",
    ),
    "loaded_at",
)
#: How a list of each kind of record is shown: its fields, those that are left out where
#: they say nothing, and those that a narrow page does without, the first of them first.
_LOOKS: dict[str, dict[str, Sequence[str]]] = {
    "ModelEntry": {
        "hide_empty": _OF_MODELS,
        "counts": ("n_votes",),
        "minor": _OF_MODELS,
    },
    "BenchmarkEntry": {
        "hide_empty": ("parent", "version", "clustering"),
        "counts": ("n_votes",),
        "minor": _OF_BENCHMARKS,
    },
    "ListedRun": {
        "shown": _RUN_COLUMNS,
        "hide_empty": _RUN_MAY_BE_EMPTY,
        "minor": _MINOR_RUN_COLUMNS,
    },
    "SourceEntry": {
        "shown": _SOURCE_COLUMNS,
        "counts": ("n_votes",),
        "minor": _MINOR_SOURCE_COLUMNS,
    },
}


def look_of(
    kind: str, entries: Sequence[Any], *, everything: bool = False
) -> dict[str, Any]:
    """How records are shown; names without what each is shown as where all keep their
    own.

    Args:
        kind: name of the records' class.
        entries: the records.
        everything: runs that were superseded are among them.
    """
    look = _LOOKS[kind]
    further = ("superseded_by",) if everything else ()
    if "shown" in look:
        return look | {"shown": (*look["shown"], *further)}
    own = []
    if entries:
        own = [item.name for item in fields(entries[0])]
    renamed = any(getattr(entry, own[0]) != entry.shown_as for entry in entries)
    return look | {"shown": [name for name in own if renamed or name != "shown_as"]}


def listing_table(entries: Sequence[Any]) -> Table:
    """A row for each record of one kind."""
    look = look_of(type(entries[0]).__name__, entries)
    names = tuple(look.pop("shown"))
    rows = []
    for entry in entries:
        rows.append(tuple(getattr(entry, name) for name in names))
    return Table(names, tuple(rows), **look)
