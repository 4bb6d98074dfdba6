"""Which sources hold the same execution, once one of them is gone.

Runs of one condition and equal values are one execution unless something that both say
tells them apart (``docs/reference/rules_identity.md``). What a source said may have
joined two others,
or kept them apart: without it the others are put together as if they had come alone, in
the order in which they came.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from warehouse.records import parse_json
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load import figure_words, run_tags, sample_words
from warehouse.store.load.chains import supersede
from warehouse.store.load.dimensions import allocate
from warehouse.store.load.dump_runs import are_apart
from warehouse.store.load.run_keys import execution_key, stored_marks
from warehouse.store.load.statements import (
    NO_WORDS,
    holders_of_runs,
    of_sources,
    plain,
    statement,
    write,
)
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Columns of a run that all its sources give together: what marks the execution.
OF_EXECUTIONS = ("marks", "execution_key")
#: Columns that all runs of one condition with equal values have alike, and their marks,
#: which are put together.
_ALIKE = NO_WORDS | {"marks"}

Marks = Mapping[str, str]


def keep_words(connection: sa.Connection, marks_of: Mapping[int, Marks | None]) -> None:
    """Keep what the sources of runs have said of their marks, before another completes
    them.

    Args:
        connection: with an open transaction.
        marks_of: those that stand, by id of the run; each of its sources that has no
            word of its own said these.
    """
    words = of_sources(connection, "run", marks_of)
    have_said = {
        (row.source_id, row.subject_id) for row in words if "marks" in row.said
    }
    kept = []
    for run_id, sources in holders_of_runs(connection, marks_of).items():
        said = {"marks": stored_marks(marks_of[run_id])}
        kept += [
            statement(source, "run", run_id, said)
            for source in sources
            if (source, run_id) not in have_said
        ]
    write(connection, kept)


@dataclass
class _Arrival:
    """A source that brought a run, with what it said of it."""

    run_id: int
    source_id: int
    run_key: str | None
    marks: Marks
    bytes_key: str | None  # none where a mapping says what tells runs apart
    stored_bytes: str | None  # the same, whether there is a mapping or not


@dataclass
class _Execution:
    """Arrivals that are one execution."""

    run_id: int  # that it is stored as
    bytes_key: str | None
    marks: dict[str, str]
    keys: set[str] = field(default_factory=set)
    arrivals: list[_Arrival] = field(default_factory=list)

    def take(self, arrival: _Arrival) -> None:
        """Hold one more."""
        self.arrivals.append(arrival)
        self.marks = {**arrival.marks, **self.marks}
        if arrival.run_key is not None:
            self.keys.add(arrival.run_key)

    def is_named_by(self, arrival: _Arrival) -> bool:
        """True if the id of the tool is one that it came under."""
        return arrival.run_key in self.keys

    def is_alike(self, arrival: _Arrival) -> bool:
        """True if no mark tells an arrival from it."""
        return not are_apart(arrival.marks, self.marks)

    def has_same_bytes(self, arrival: _Arrival) -> bool:
        """True if both were read from the same bytes, by different sources."""
        is_other = all(own.source_id != arrival.source_id for own in self.arrivals)
        return (
            is_other
            and arrival.bytes_key is not None
            and arrival.bytes_key == self.bytes_key
        )


def regroup(store: Store, run_ids: Collection[int]) -> set[int]:
    """Put the sources of some runs, and of all that equal them, together anew.

    Args:
        store: open for writing, with an open transaction.
        run_ids: runs that have lost a source and stay.

    Returns:
        ids of the runs that may be given by another source now.
    """
    if not run_ids:
        return set()
    changed = set(run_ids)
    rows = store.rows(query_text("store", "arrivals"), {"ids": sorted(run_ids)})
    words = _words(store.connection, {row["run_id"] for row in rows})
    for _, alike in groupby(
        rows, key=lambda row: (row["recorded_key"], row["content_digest"])
    ):
        of_class = list(alike)
        if any(row["status"] == "invalidated" for row in of_class):
            continue  # a person spoke of that run, as it was
        executions = _put_together(_arrivals(of_class, words))
        changed |= _settle(store.connection, executions, words)
    return changed


def _words(
    connection: sa.Connection, run_ids: Iterable[int]
) -> dict[tuple[int, int], dict[str, Any]]:
    """Words of sources on runs other than what stands, by source and run."""
    words: dict[tuple[int, int], dict[str, Any]] = defaultdict(dict)
    for row in of_sources(connection, "run", run_ids):
        words[row.source_id, row.subject_id].update(row.said)
    return words


def _arrivals(
    rows: Iterable[Mapping[str, Any]],
    words: Mapping[tuple[int, int], Mapping[str, Any]],
) -> list[_Arrival]:
    arrivals = []
    for row in rows:
        said = {"marks": None, "bytes_key": row["bytes_key"]}
        if row["marks"]:
            said["marks"] = parse_json(row["marks"])
        said |= words.get((row["source_id"], row["run_id"]), {})
        settings = {}
        if row["settings"]:
            settings = parse_json(row["settings"])
        own_bytes = said["bytes_key"]
        if settings.get("mapping") is not None:
            own_bytes = None
        ids = (row["run_id"], row["source_id"], row["run_key"])
        arrivals.append(
            _Arrival(*ids, said["marks"] or {}, own_bytes, said["bytes_key"])
        )
    return arrivals


def _put_together(arrivals: Iterable[_Arrival]) -> list[_Execution]:
    """Executions as a store would make them, which has nothing else (``conflicts``)."""
    executions: list[_Execution] = []
    for arrival in arrivals:
        named = [item for item in executions if item.is_named_by(arrival)]
        alike = [item for item in executions if item.is_alike(arrival)]
        same = [item for item in executions if item.has_same_bytes(arrival)]
        of_one_source = [item for item in executions if _is_stored_as(item, arrival)]
        both = [item for item in named if item in alike]
        found = of_one_source or both or named or alike or same
        if found:
            found[0].take(arrival)
            continue
        executions.append(_Execution(arrival.run_id, arrival.stored_bytes, {}))
        executions[-1].take(arrival)
    return executions


def _is_stored_as(execution: _Execution, arrival: _Arrival) -> bool:
    """True if a source holds one run at several places."""
    return any(
        own.source_id == arrival.source_id and own.run_id == arrival.run_id
        for own in execution.arrivals
    )


def _settle(
    connection: sa.Connection,
    executions: Sequence[_Execution],
    words: Mapping[tuple[int, int], Mapping[str, Any]],
) -> set[int]:
    """Store runs as they were put together; gives the ids of those that hold other
    sources than before."""
    before: dict[int, set[int]] = defaultdict(set)
    for execution in executions:
        for arrival in execution.arrivals:
            before[arrival.run_id].add(arrival.source_id)
    taken: set[int] = set()
    changed: set[int] = set()
    for execution in executions:
        if execution.run_id in taken:
            execution.run_id = _copied(connection, execution.run_id, execution.marks)
        taken.add(execution.run_id)
        for arrival in execution.arrivals:
            if arrival.run_id != execution.run_id:
                said = words.get((arrival.source_id, arrival.run_id), {})
                _move(connection, arrival, execution.run_id, said)
                changed |= {arrival.run_id, execution.run_id}
    for run_id in before.keys() - taken:
        heir = next(item.run_id for item in executions if _held(item, run_id))
        _remove(connection, run_id, heir)
    for execution in executions:
        _give_marks(connection, execution)
    if changed:
        supersede(connection, [], changed & taken)
    return changed & taken


def _held(execution: _Execution, run_id: int) -> bool:
    return any(arrival.run_id == run_id for arrival in execution.arrivals)


def _give_marks(connection: sa.Connection, execution: _Execution) -> None:
    """The marks of a run are those that its sources say together, the first first; each
    keeps its word on them."""
    run, run_id = tables.run, execution.run_id
    stored = connection.execute(
        sa.select(run.c.marks, run.c.execution_key).where(run.c.id == run_id)
    ).one()
    key = execution_key(execution.marks)
    if stored.execution_key == key:
        return
    keep_words(connection, {run_id: stored.marks})
    values = {"marks": stored_marks(execution.marks), "execution_key": key}
    change = sa.update(run).where(run.c.id == run_id)
    connection.execute(change.values(values))


def _move(
    connection: sa.Connection, arrival: _Arrival, run_id: int, said: Mapping[str, Any]
) -> None:
    """A source holds another run of equal values from now on: what it says of that is
    what it said before."""
    run = tables.run
    links = tables.run_source
    table = tables.statement
    rows = connection.execute(
        sa.select(run).where(run.c.id.in_([arrival.run_id, run_id]))
    ).mappings()
    stood = {row["id"]: row for row in rows}
    old = stood[arrival.run_id]
    new = stood[run_id]
    own = {name: said.get(name, plain(old[name])) for name in old if name not in _ALIKE}
    unlike = {name: value for name, value in own.items() if value != plain(new[name])}
    unlike["marks"] = stored_marks(arrival.marks)
    is_its = (table.c.source_id == arrival.source_id) & (table.c.about == "run")
    connection.execute(
        sa.delete(table).where(is_its & (table.c.subject_id == arrival.run_id))
    )
    write(connection, [statement(arrival.source_id, "run", run_id, unlike)])
    run_tags.hand_over(connection, arrival.source_id, arrival.run_id, run_id)
    sample_words.hand_over(connection, arrival.source_id, arrival.run_id, run_id)
    figure_words.hand_over(connection, arrival.source_id, arrival.run_id, run_id)
    is_link = (links.c.run_id == arrival.run_id) & (
        links.c.source_id == arrival.source_id
    )
    connection.execute(sa.update(links).where(is_link).values(run_id=run_id))


def _copied(connection: sa.Connection, run_id: int, marks: Marks) -> int:
    """Another run of the same values; gives its id."""
    new_id = allocate(connection, "run", 1)
    run = tables.run
    row = dict(
        connection.execute(sa.select(run).where(run.c.id == run_id)).mappings().one()
    )
    row |= {
        "id": new_id,
        "tags": None,
        "marks": stored_marks(marks),
        "execution_key": execution_key(marks),
    }
    connection.execute(sa.insert(run).values(row))
    run_tags.copy_of_people(connection, run_id, new_id)
    for table in (*tables.RUN_FACTS, tables.draw_score, tables.run_metric):
        others = [column for column in table.c if column.name != "run_id"]
        values = sa.select(sa.literal(new_id), *others).where(table.c.run_id == run_id)
        connection.execute(
            sa.insert(table).from_select(
                ["run_id", *(column.name for column in others)], values
            )
        )
    return new_id


def _remove(connection: sa.Connection, run_id: int, heir: int) -> None:
    """Take out a run whose sources hold another of equal values; what points to it
    points to that."""
    votes = tables.preference
    links = tables.run_source
    run = tables.run
    run_tags.copy_of_people(connection, run_id, heir)
    for column in (votes.c.run_a_id, votes.c.run_b_id, tables.label_draw.c.run_id):
        connection.execute(
            sa.update(column.table).where(column == run_id).values({column.name: heir})
        )
    for column in (links.c.superseded_by, run.c.superseded_by):
        connection.execute(
            sa.update(column.table).where(column == run_id).values({column.name: heir})
        )
    for table in (
        *tables.RUN_FACTS,
        tables.draw_score,
        tables.run_metric,
        tables.published_score,
    ):
        connection.execute(sa.delete(table).where(table.c.run_id == run_id))
    connection.execute(sa.delete(run).where(run.c.id == run_id))
