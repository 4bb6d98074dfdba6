"""Versions of harness, libraries and drivers: no settings, but told where they differ
among runs that are pooled."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text
from warehouse.tables.words import some_of

Name = TypeVar("Name", bound=Hashable)
#: Values of one name, and names, that a note tells.
_TOLD = 5
_IN_WORDS = {"harness_version": "harness", "harness_commit": "harness commit"}


def differing_versions(
    store: Store, groups: Mapping[Name, Sequence[int]]
) -> dict[Name, str]:
    """A remark on the versions of runs that are pooled: ``harness 0.4.9, 0.4.11``;
    groups of one are not there.

    Args:
        groups: ids of the runs behind each row.
    """
    several = {name: runs for name, runs in groups.items() if len(runs) > 1}
    ids = sorted(set(chain.from_iterable(several.values())))
    if not ids or store.dialect.is_lake:
        return {}
    rows = store.rows(
        query_text("analysis/selection", "versions_of_runs"), {"runs": ids}
    )
    by_run: dict[int, Mapping[str, str]] = {
        row["run_id"]: json.loads(row["versions"]) for row in rows
    }
    told = {}
    for name, runs in several.items():
        told[name] = _in_words([by_run.get(run, {}) for run in runs])
    return {name: words for name, words in told.items() if words}


def _in_words(runs: Sequence[Mapping[str, str]]) -> str:
    """The names of which there are several values, with these; a run that does not say
    one is no other version."""
    differing: list[str] = []
    for name in sorted(set(chain.from_iterable(runs))):
        values = sorted({str(run[name]) for run in runs if name in run}, key=_by_number)
        if len(values) > 1:
            differing.append(f"{_IN_WORDS.get(name, name)} {some_of(values, _TOLD)}")
    more = ""
    if len(differing) > _TOLD:
        more = f"; and {len(differing) - _TOLD} more"
    return "; ".join(differing[:_TOLD]) + more


def _by_number(version: str) -> list[tuple[int, str]]:
    """0.4.9 before 0.4.11."""
    parts = re.split(r"(\d+)", version)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def versions_note(words: str) -> str:
    """A row's note on versions that differ."""
    return f"its runs are of several versions, which split nothing: {words}"
