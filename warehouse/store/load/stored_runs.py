"""The stored runs that the runs of a dump are held against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.records import parse_json
from warehouse.store.connection import Store
from warehouse.store.load.dump_runs import (
    DumpRun,
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


class StoredRuns:
    """The stored runs that a dump's runs may be the same as, by their keys."""

    def __init__(self, rows: Iterable[StoredRun]) -> None:
        self.equal: dict[tuple[str, str], list[StoredRun]] = defaultdict(list)
        self.current_conditions: set[str] = set()
        self.by_execution: dict[tuple[str, str | None], list[StoredRun]] = defaultdict(
            list
        )
        self.by_run_key: dict[str, list[StoredRun]] = defaultdict(list)
        self.figures: dict[str, list[StoredRun]] = defaultdict(list)
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
        rows = [
            row
            for row in self.equal.get((run.recorded, run.content), ())
            if is_same_execution(run, row)
        ]
        named = [row for row in rows if run.key is not None and row.run_key == run.key]
        alike = [row for row in rows if not are_apart(run.settings.marks, row.marks)]
        both = [row for row in named if row in alike]
        chosen = (both or named or alike or rows)[:1]
        return [row for row in rows if row.id == chosen[0].id] if chosen else []

    def complete(self, run: DumpRun, run_id: int, marks: Mapping[str, str]) -> None:
        """A stored run is known by more marks from now on: those of a run of the dump,
        which it is."""
        key = (run.recorded, run.content)
        self.equal[key] = [
            replace(row, marks=marks) if row.id == run_id else row
            for row in self.equal[key]
        ]

    def rivals(self, run: DumpRun) -> list[StoredRun]:
        """Current runs of the same execution, with other content; where no tool names
        it, those that may hold all of it, or be all in it."""
        if self.holds(run):
            return []
        current = [row for row in self.tries(run) if row.superseded_by is None]
        if run.key is None:
            if self.are_draws(run):
                return []
            return [
                row
                for row in current
                if may_be_part(run, row) or (run.index, row.id) in self.one_responded
            ]
        return current

    def tries(self, run: DumpRun) -> list[StoredRun]:
        """Stored runs under the key of a run; without one, those of its condition, of
        the same seed and start."""
        rows = self.by_execution.get(run.execution, [])
        if run.key is not None and run.recorded_otherwise:
            others = self.by_execution.get((run.recorded_otherwise, run.key), [])
            rows = rows + [
                row for row in others if bool(row.n_found) != bool(run.measured)
            ]
        if run.key is not None:
            return rows
        own = seed_and_start(run.settings.marks)
        return [row for row in rows if seed_and_start(row.marks) == own]

    def are_draws(self, run: DumpRun) -> bool:
        """Whether so many runs stand under a condition without any id that they are not
        held against each other."""
        return (
            run.key is None
            and len(self.by_execution.get(run.execution, ())) > MOST_TOLD_BY_ROWS
        )

    def holds(self, run: DumpRun) -> bool:
        """Whether a source brought the same under the same key."""
        return any(row.run_key == run.key for row in self.same(run))

    def gave_way_to(self, run: DumpRun, run_id: int) -> list[StoredRun]:
        """The tries of a run that a stored one has superseded."""
        return [row for row in self.tries(run) if row.superseded_by == run_id]

    def under_other_settings(self, run: DumpRun) -> list[StoredRun]:
        """Stored runs that have the tool's id of a run, and were made under other
        settings."""
        own = (run.recorded, run.recorded_otherwise)
        return [
            row
            for row in self.by_run_key.get(run.key or "", ())
            if row.recorded_key not in own
        ]


_COLUMNS = (
    "run.id, run.condition_key, run.recorded_key, run_source.run_key, "
    "run.content_digest, run_source.superseded_by, run.n_found, run.n_generations, "
    "run.n_scores, run.started_at, cast(run.marks as varchar) as marks, run.bytes_key, "
    "run.status"
)


def read_stored(store: Store, runs: Sequence[DumpRun]) -> list[StoredRun]:
    """Stored runs with the condition or a key of a run of the dump, by id, under each
    of their keys."""
    conditions = {run.condition for run in runs} | {run.recorded for run in runs}
    keys = {
        "conditions": sorted(conditions),
        "run_keys": sorted({run.key for run in runs if run.key}),
    }
    rows = store.arrow(
        query_text("ingest", "stored_run").format(columns=_COLUMNS), keys
    )
    return sorted(
        (_stored_run(row) for row in rows.to_pylist()), key=lambda row: row.id
    )


def _stored_run(row: dict[str, Any]) -> StoredRun:
    marks = row.pop("marks")
    return StoredRun(**row, marks=parse_json(marks) if marks else {})


def of_one_with_responses(
    store: Store, runs: Sequence[DumpRun], stored: StoredRuns
) -> set[Pair]:
    """Pairs of a run without an id and a stored one, with equally many rows, of which
    one alone has responses; nothing tells the two apart."""
    pairs: list[tuple[DumpRun, StoredRun]] = []
    for run in runs:
        if run.key is None and run.measured and run.measured.n_generations:
            pairs += [(run, row) for row in stored.tries(run) if may_be_one(run, row)]
    if not pairs:
        return set()
    responded = (
        "select distinct run_id from generation where run_id in (:ids) and "
        "response_hash is not null"
    )
    ids = sorted({row.id for _, row in pairs})
    with_responses = {found["run_id"] for found in store.rows(responded, {"ids": ids})}
    return {
        (run.index, row.id)
        for run, row in pairs
        if run.measured and run.measured.has_responses != (row.id in with_responses)
    }
