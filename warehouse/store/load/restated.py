"""The store once a source is gone: worked out anew from what the others say, as a store
would hold it that never had the source.

Rows that no other source speaks of are removed afterwards (``curate/upkeep``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load import (
    executions,
    figure_words,
    run_tags,
    sample_words,
    suite_words,
)
from warehouse.store.load.benchmark_metrics import BENCHMARK_METRIC
from warehouse.store.load.dimension_rows import ancestors
from warehouse.store.load.metric_statements import of_statements, with_bounds
from warehouse.store.load.scans import described_of_scans
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.statements import (
    BOUNDS,
    EARLIER,
    FIRST_GIVES,
    SUITES,
    TRANSCRIPTS,
    as_columns,
    holders_of,
    of_sources,
    plain,
    statement,
    stored_values,
    write,
)
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text


@dataclass
class Held:
    """Things that a source speaks of, read before it goes."""

    source_id: int
    #: ids of its rows, by table.
    rows: dict[str, set[int]] = field(default_factory=dict)
    #: ids of its prompts, by benchmark.
    prompts: dict[int, list[int]] = field(default_factory=dict)
    #: its statements, as (about, subject_id, said).
    statements: list[tuple[str, int, Any]] = field(default_factory=list)
    #: ids of its runs that other sources hold too.
    shared: set[int] = field(default_factory=set)
    #: (benchmark, metric) of what its scans have measured.
    scanned: set[tuple[int, int]] = field(default_factory=set)

    @property
    def is_of_an_earlier_version(self) -> bool:
        """True if what it has said of prompts cannot be told apart from what others
        have."""
        return any(about == EARLIER for about, _, _ in self.statements)

    def about(self, name: str) -> dict[int, Any]:
        """Its words on rows of one table, or of one kind, by id."""
        return {
            subject: said for about, subject, said in self.statements if about == name
        }


def held_by(connection: sa.Connection, source_id: int) -> Held:
    """Things that a source speaks of."""
    held = Held(source_id)
    values = {"source": source_id}
    for name, number in connection.execute(
        sa.text(query_text("store", "rows_of_source")), values
    ):
        held.rows.setdefault(name, set()).add(int(number))
    for benchmark, prompt in connection.execute(
        sa.text(query_text("store", "prompts_of_source")), values
    ):
        held.prompts.setdefault(int(benchmark), []).append(int(prompt))
    table = tables.statement
    query = sa.select(table.c.about, table.c.subject_id, table.c.said).where(
        table.c.source_id == source_id
    )
    held.statements = [
        (row.about, int(row.subject_id), row.said) for row in connection.execute(query)
    ]
    rows = connection.execute(sa.text(query_text("store", "scanned_metrics")), values)
    held.scanned = {(int(benchmark), int(metric)) for benchmark, metric in rows}
    return held


def remove_transcripts(connection: sa.Connection, held: Held) -> None:
    """Take out what a source that goes has said of the way to the responses of runs
    which others have given."""
    run_ids = held.shared.intersection(held.about(TRANSCRIPTS))
    for table in (tables.transcript, tables.tool_call) if run_ids else ():
        connection.execute(sa.delete(table).where(table.c.run_id.in_(run_ids)))


def restate(store: Store, scratch: Scratch, held: Held) -> bool:
    """Work out anew what stands of models, benchmarks, suites, metrics and runs that a
    source spoke of which is gone.

    Returns:
        whether texts may be held no longer.
    """
    connection = store.connection
    for table in FIRST_GIVES:
        _restate_rows(connection, table, held.rows.get(table, set()))
    has_freed_texts = _restate_runs(store, scratch, held)
    suite_words.restate(connection, held.rows.get("run_group", set()), held.shared)
    if any(held.about(SUITES).values()):
        _restate_suites(connection)
    _restate_metrics(store, held)
    _restate_headlines(connection, held.rows.get("benchmark", set()))
    return has_freed_texts


def _restate_rows(connection: sa.Connection, table: str, ids: Collection[int]) -> None:
    """The first source that is left gives a row: where it had said something else, that
    stands now."""
    unlike: dict[int, dict[int, Any]] = defaultdict(dict)
    for row in of_sources(connection, table, ids) if ids else ():
        unlike[row.subject_id][row.source_id] = row.said
    if not unlike:
        return
    standing = stored_values(connection, table, unlike)
    for number, words in unlike.items():
        holders = holders_of(connection, table, number)
        if not holders or holders[0] not in words:
            continue
        values = as_columns(table, words[holders[0]])
        rows = tables.metadata.tables[table]
        change = sa.update(rows).where(rows.c.id == number)
        connection.execute(change.values(values))
        others = [holder for holder in holders if holder not in words]
        write(
            connection,
            [statement(other, table, number, standing[number]) for other in others],
        )


def _restate_runs(store: Store, scratch: Scratch, held: Held) -> bool:
    """The first source that is left gives the row of a run, column by column; its
    figures are of the same call. Gives whether texts may be held no longer."""
    connection = store.connection
    taken = {
        run_id: tags
        for run_id, tags in held.about(run_tags.OF_SOURCE).items()
        if run_id in held.shared
    }
    if taken:
        run_tags.take_back(connection, taken)
    run_ids = executions.regroup(store, held.shared)
    has_freed_texts = sample_words.restate(connection, scratch, run_ids)
    figure_words.restate(connection, run_ids)
    words: dict[int, dict[int, Any]] = defaultdict(dict)
    for row in of_sources(connection, "run", run_ids) if run_ids else ():
        words[row.subject_id].setdefault(row.source_id, {}).update(row.said)
    for number, by_source in words.items():
        holders = holders_of(connection, "run", number)
        said = {}
        if holders:
            said = by_source.get(holders[0], {})
        said = {
            name: value
            for name, value in said.items()
            if name not in executions.OF_EXECUTIONS
        }
        if said:
            _give_row(connection, number, said, holders, by_source)
    return has_freed_texts


def _give_row(
    connection: sa.Connection,
    number: int,
    said: Mapping[str, Any],
    holders: Sequence[int],
    by_source: Mapping[int, Mapping[str, Any]],
) -> None:
    """Put what the first of the holders of a run says in its row; what stood there is
    the word of the others."""
    run, figures = tables.run, tables.published_score
    stored = (
        connection.execute(sa.select(run).where(run.c.id == number)).mappings().one()
    )
    if stored["status"] == "invalidated":
        said = {
            name: value
            for name, value in said.items()
            if name not in ("status", "status_reason")
        }
    before = {name: plain(stored[name]) for name in said}
    if said:
        connection.execute(
            sa.update(run).where(run.c.id == number).values(as_columns("run", said))
        )
    if "run_group_id" in said:
        group = {"run_group_id": said["run_group_id"]}
        connection.execute(
            sa.update(figures).where(figures.c.run_id == number).values(group)
        )
    for source in holders[1:]:
        others = {
            name: value
            for name, value in before.items()
            if name not in by_source.get(source, {})
        }
        stated = []
        if others:
            stated = [statement(source, "run", number, others)]
        write(connection, stated)


def _restate_suites(connection: sa.Connection) -> None:
    """Put benchmarks below the suites that the sources name which are left, the first
    first, as loads do."""
    benchmark = tables.benchmark
    words = of_sources(connection, SUITES)
    edges: dict[tuple[int, int], None] = {}
    for row in words:
        for parent in row.said or ():
            edges[int(parent), int(row.subject_id)] = None
    stored = {
        int(row[0]): row[1]
        for row in connection.execute(sa.select(benchmark.c.id, benchmark.c.parent_id))
    }
    parents: dict[int, int | None] = dict.fromkeys(stored)
    for parent, child in edges:
        if parents.get(child) is None and child not in ancestors(parents, parent):
            parents[child] = parent
    for number, suite in parents.items():
        if stored[number] != suite:
            connection.execute(
                sa.update(benchmark)
                .where(benchmark.c.id == number)
                .values(parent_id=suite)
            )


def _restate_metrics(store: Store, held: Held) -> None:
    connection, table = store.connection, tables.benchmark_metric
    spoken = set(held.about(BENCHMARK_METRIC))
    keys = {
        (int(row.benchmark_id), int(row.metric_id)): row
        for row in connection.execute(sa.select(table))
    }
    spoken |= {int(keys[key].id) for key in held.scanned if key in keys}
    if not spoken:
        return
    words: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for row in of_sources(connection, BENCHMARK_METRIC, spoken):
        words[row.subject_id].append(row.said)
    bounds = {
        row.subject_id: row.said for row in of_sources(connection, BOUNDS, spoken)
    }
    scanned = described_of_scans(
        connection, {key[0] for key, row in keys.items() if row.id in spoken}
    )
    for key, row in keys.items():
        if row.id not in spoken:
            continue
        said = words[row.id] + ([scanned[key]] if key in scanned else [])
        stands = of_statements(said)
        if stands is None:
            connection.execute(sa.delete(table).where(table.c.id == row.id))
            _delete_statements(connection, [BENCHMARK_METRIC, BOUNDS], [row.id])
            continue
        if row.id in bounds:
            stands = with_bounds(stands, said, bounds[row.id])
        if row.direction_by:
            del stands["higher_is_better"]
        change = sa.update(table).where(table.c.id == row.id)
        connection.execute(change.values(stands))


def _delete_statements(
    connection: sa.Connection, about: Iterable[str], subjects: Iterable[int]
) -> None:
    table = tables.statement
    is_about = table.c.about.in_(list(about))
    where = is_about & table.c.subject_id.in_(list(subjects))
    connection.execute(sa.delete(table).where(where))


def _restate_headlines(connection: sa.Connection, benchmarks: Collection[int]) -> None:
    """The headline metric that a person chose stays while the benchmark has it."""
    if benchmarks:
        connection.execute(sa.text(query_text("store", "lost_headlines")))
