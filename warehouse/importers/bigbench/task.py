"""A results file of BIG-bench: which figures and which queries belong to which run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.json_fields import (
    Row,
    compact,
    items_of,
    number_or_none,
    part_of,
    text_or_none,
    whole_count,
)
from warehouse.records import Rejection

GENERATED, SCORED = "generate_text", "cond_log_prob"
GRADE, EXACT, LIKELIHOOD = "multiple_choice_grade", "exact_str_match", "log_likelihood"

#: Name of a task or subtask, and the number of examples (none: not stated).
Key = tuple[str, int | None]


@dataclass
class TaskResults:
    """A results file.

    Raises:
        InputError: its scores are no list.
    """

    path: Path
    document: Row
    rejections: list[Rejection]
    notes: list[str]

    @cached_property
    def name(self) -> str:
        """The task; without its name, the folder that is called after it."""
        stated = text_or_none(part_of(self.document, "task").get("task_name"))
        folder = self.path.parent
        return stated or (folder.parent if folder.name == "results" else folder).name

    @cached_property
    def figures(self) -> dict[Key, Row]:
        """Entries of ``scores``."""
        stated = self.document.get("scores")
        if not isinstance(stated, list):
            raise InputError("'scores' is no list", path=str(self.path), expected="results of BIG-bench")
        entries_by_key: dict[Key, Row] = {}
        for place, entry in enumerate(stated):
            if not isinstance(entry, dict) or not isinstance(entry.get("score_dict"), dict):
                where = f"scores, entry {place}"
                self.rejections.append(Rejection(where, compact(entry)[:200], "a score_dict"))
                continue
            key = self._key(entry.get("subtask_description"), entry.get("number_of_shots"))
            if key in entries_by_key:
                self.notes.append(f"{key[0]}, {key[1]} shots: stated twice, the first one counts")
            entries_by_key.setdefault(key, entry)
        return entries_by_key

    @cached_property
    def queries(self) -> dict[Key, list[Row]]:
        """Queries of each run."""
        queries_by_key: dict[Key, list[Row]] = {}
        for query in self._queries:
            key = self._key(query.get("task"), query.get("shots"))
            if key in self.figures:
                queries_by_key.setdefault(key, []).append(query)
        return queries_by_key

    @cached_property
    def strays(self) -> list[Row]:
        """Queries of programmatic tasks, which do not say what they belong to."""
        strays = [
            query for query in self._queries if self._key(query.get("task"), query.get("shots")) not in self.figures
        ]
        if strays:
            self.notes.append(f"{len(strays)} queries name no subtask: responses without scores")
        return strays

    @cached_property
    def _queries(self) -> list[Row]:
        queries = []
        stated = self.document.get("queries")
        for place, query in enumerate(items_of(stated)):
            if isinstance(query, dict) and query.get("function") in (GENERATED, SCORED):
                queries.append(query)
                continue
            expected = f"a query by {GENERATED} or {SCORED}"
            self.rejections.append(Rejection(f"queries, entry {place}", compact(query)[:200], expected))
        return queries

    @cached_property
    def keys(self) -> list[Key]:
        """All runs. Stray queries are answers on the whole task."""
        strays = [(self.name, None)] if self.strays else []
        return list(dict.fromkeys((*self.figures, *strays)))

    @cached_property
    def stated_metrics(self) -> dict[Key, set[str]]:
        """Names of the numbers in ``metrics`` of each run's samples."""
        names_by_key: dict[Key, set[str]] = {}
        for key, queries in self.queries.items():
            names = names_by_key.setdefault(key, set())
            for query in queries:
                for _, sample in self.samples(query):
                    stated = part_of(sample, "metrics") if isinstance(sample, dict) else {}
                    names |= {name for name, value in stated.items() if number_or_none(value) is not None}
        return names_by_key

    def samples(self, query: Row) -> Iterator[tuple[int, Any]]:
        """Samples of a query with their places."""
        stated = query.get("samples")
        return enumerate(items_of(stated))

    def plain(self, key: Key, query: Row) -> list[Any]:
        """Samples of the same query without examples, if there is one of the same length."""
        wanted = list(self.samples(query))
        for other in self.queries.get((key[0], 0), ()) if key[1] else ():
            zero_shot = [sample for _, sample in self.samples(other)]
            same = other.get("function") == query.get("function")
            if same and is_choice(other) == is_choice(query) and len(zero_shot) == len(wanted):
                return zero_shot
        return []

    def _key(self, name: Any, shots: Any) -> Key:
        return text_or_none(name) or self.name, whole_count(shots)


def is_choice(query: Row) -> bool:
    """Whether a query has samples with options of stated values."""
    stated = query.get("samples")
    first = stated[0] if isinstance(stated, list) and stated else None
    return isinstance(first, dict) and "target_values" in first
