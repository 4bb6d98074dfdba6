"""The stored runs that the runs of a dump are held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.load.dump_runs import (
    DumpRun,
    Execution,
    StoredRun,
    are_apart,
    is_same_execution,
    may_be_one,
    may_be_part,
    seed_and_start,
)
from warehouse.store.load.overlaps import Pair
from warehouse.store.sql.query_files import query_text

#: Of more runs of one condition without any id none is held against the next: each
#: costs a comparison of all rows.
MOST_TOLD_BY_ROWS = 20

Key = TypeVar("Key")
_Groups = dict[Key, list[StoredRun]]


class StoredRuns:
    """The stored runs that a dump's runs may be the same as, by their keys."""

    def __init__(self, rows: Iterable[StoredRun]) -> None:
        #: by condition and content, by execution, and by the tool's id alone.
        self.equal: _Groups[tuple[str, str]] = defaultdict(list)
        self.current_conditions: set[str] = set()
        self.by_execution: _Groups[Execution] = defaultdict(list)
        self.by_run_key: _Groups[str] = defaultdict(list)
        #: those that have no samples, by their condition.
        self.figures: _Groups[str] = defaultdict(list)
        self.invalidated: dict[str, int] = {}  # of each condition one
        #: runs of the dump with stored ones of equally many rows of which either alone
        #: has responses, so that it may be all of the other.
        self.one_responded: set[Pair] = set()
        for row in rows:
            self.equal[row.recorded_key, row.content_digest].append(row)
            if row.is_invalidated:
                self.invalidated[row.condition_key] = row.id
                continue  # it supersedes nothing, and nothing supersedes it
            if row.superseded_by is None:
                self.current_conditions.add(row.condition_key)
            self.by_execution[row.recorded_key, row.run_key].append(row)
            if row.run_key is not None:
                self.by_run_key[row.run_key].append(row)
            if row.n_found == 0:
                self.figures[row.recorded_key].append(row)

    def same(self, run: DumpRun) -> list[StoredRun]:
        """The stored run that this one is, under each key that it came under; none if
        there is no such run.

        Of several that it may be, the one that the tool's id names, else one that no
        mark tells from it (the same bytes may hold several executions), else the first.
        """
        equal = self.equal.get((run.recorded, run.content), ())
        rows = [row for row in equal if is_same_execution(run, row)]
        if not rows:
            return []
        named: list[StoredRun] = []
        if run.key is not None:
            named = [row for row in rows if row.run_key == run.key]
        marks = run.settings.marks
        alike = [row for row in rows if not are_apart(marks, row.marks)]
        both = [row for row in named if row in alike]
        candidates = both or named or alike or rows
        chosen = candidates[0].id
        return [row for row in rows if row.id == chosen]

    def complete(self, run: DumpRun, run_id: int, marks: Mapping[str, str]) -> None:
        """A stored run is known by more marks from now on: those of a run of the dump,
        which it is."""
        key = (run.recorded, run.content)
        rows = self.equal[key]
        for index, row in enumerate(rows):
            if row.id == run_id:
                rows[index] = replace(row, marks=marks)

    def rivals(self, run: DumpRun) -> list[StoredRun]:
        """Current runs of the same execution, with other content; where no tool names
        it, those that may hold all of it, or be all in it."""
        if self.holds(run):
            return []
        tries = self.tries(run)
        current = [row for row in tries if row.superseded_by is None]
        if run.key is not None:
            return current
        if self.are_draws(run):
            return []
        rivals: list[StoredRun] = []
        for row in current:
            has_one_responded = (run.index, row.id) in self.one_responded
            if has_one_responded or may_be_part(run, row):
                rivals.append(row)
        return rivals

    def tries(self, run: DumpRun) -> list[StoredRun]:
        """Stored runs under the key of a run; without one, those of its condition, of
        the same seed and start."""
        rows = self.by_execution.get(run.execution, [])
        if run.key is None:
            own = seed_and_start(run.settings.marks)
            return [row for row in rows if seed_and_start(row.marks) == own]
        return rows + self._recorded_otherwise(run)

    def _recorded_otherwise(self, run: DumpRun) -> list[StoredRun]:
        """Stored runs under the key of a run that are figures alone, where it has
        samples, and the other way round."""
        if not run.recorded_otherwise:
            return []
        execution = (run.recorded_otherwise, run.key)
        others = self.by_execution.get(execution, [])
        has_samples = bool(run.measured)
        return [row for row in others if bool(row.n_found) != has_samples]

    def are_draws(self, run: DumpRun) -> bool:
        """True if so many runs stand under a condition without any id that they are not
        held against each other."""
        if run.key is not None:
            return False
        rows = self.by_execution.get(run.execution, ())
        return len(rows) > MOST_TOLD_BY_ROWS

    def holds(self, run: DumpRun) -> bool:
        """True if a source brought the same under the same key."""
        same = self.same(run)
        return any(row.run_key == run.key for row in same)

    def gave_way_to(self, run: DumpRun, run_id: int) -> list[StoredRun]:
        """The tries of a run that a stored one has superseded."""
        tries = self.tries(run)
        return [row for row in tries if row.superseded_by == run_id]

    def under_other_settings(self, run: DumpRun) -> list[StoredRun]:
        """Stored runs that have the tool's id of a run, and were made under other
        settings."""
        own = (run.recorded, run.recorded_otherwise)
        rows = self.by_run_key.get(run.key or "", ())
        return [row for row in rows if row.recorded_key not in own]


_COLUMNS = (
    "run.id, run.condition_key, run.recorded_key, run_source.run_key, "
    "run.content_digest, run_source.superseded_by, run.n_found, run.n_generations, "
    "run.n_scores, run.started_at, cast(run.marks as varchar) as marks, run.bytes_key, "
    "run.status"
)


def read_stored(store: Store, runs: Sequence[DumpRun]) -> list[StoredRun]:
    """Stored runs with the condition or a key of a run of the dump, by id, under each
    of their keys."""
    conditions: set[str] = set()
    for run in runs:
        conditions.update((run.condition, run.recorded))
    run_keys = {run.key for run in runs if run.key}
    template = query_text("ingest", "stored_run")
    found = store.arrow(
        template.format(columns=_COLUMNS),
        {"conditions": sorted(conditions), "run_keys": sorted(run_keys)},
    )
    rows = map(_stored_run, found.to_pylist())
    return sorted(rows, key=lambda row: row.id)


def _stored_run(row: dict[str, Any]) -> StoredRun:
    marks = {}
    text = row.pop("marks")
    if text:
        marks = parse_json(text)
    return StoredRun(**row, marks=marks)


def of_one_with_responses(
    store: Store, runs: Sequence[DumpRun], stored: StoredRuns
) -> set[Pair]:
    """Pairs of a run without an id and a stored one, with equally many rows, of which
    one alone has responses; nothing tells the two apart."""
    alike: dict[Pair, bool] = {}  # and whether the run of the dump has responses
    for run in runs:
        measured = run.measured
        if run.key is not None or not measured or not measured.n_generations:
            continue
        for row in stored.tries(run):
            if may_be_one(run, row):
                alike[run.index, row.id] = measured.has_responses
    if not alike:
        return set()
    responded = (
        "select distinct run_id from generation where run_id in (:ids) and "
        "response_hash is not null"
    )
    ids = {stored_id for _, stored_id in alike}
    found = store.rows(responded, {"ids": sorted(ids)})
    with_responses = {row["run_id"] for row in found}
    pairs: set[Pair] = set()
    for (index, stored_id), has_responses in alike.items():
        if has_responses != (stored_id in with_responses):
            pairs.add((index, stored_id))
    return pairs
