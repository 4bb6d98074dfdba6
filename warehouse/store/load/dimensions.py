"""Dimension rows by natural key: found if they are there, added if not, ids either way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any

from warehouse.records import MetricSpec, RunHeader
from warehouse.store.alchemy import sa
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.dimension_rows import (
    agent_row,
    ancestors,
    benchmark_row,
    checkpoint_row,
    group_row,
    metric_row,
    model_row,
    scorer_row,
    seed_row,
)
from warehouse.store.load.statements import FIRST_GIVES, stored_values, values_of
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

Key = tuple[Any, ...]


def allocate(connection: sa.Connection, table: str, count: int) -> int:
    """Reserve ``count`` ids of a table; returns the first."""
    return allocate_each(connection, {table: count})[table]


def allocate_each(
    connection: sa.Connection, counts: Mapping[str, int]
) -> dict[str, int]:
    """Reserve ids of several tables; returns the first of each.

    Every load reserves some: as text, which takes a third of the time, and without an
    upsert where a counter stands, which takes a third again.
    """
    steps = " ".join(f"when '{table}' then {count}" for table, count in counts.items())
    names = ", ".join(f"'{table}'" for table in counts)
    rows = connection.exec_driver_sql(
        f"update id_counter set next_id = next_id + case table_name {steps} end where "
        f"table_name in ({names}) returning table_name, next_id"
    )
    next_ids = {str(table): int(next_id) for table, next_id in rows}
    if new := {
        table: count for table, count in counts.items() if table not in next_ids
    }:
        counters = ", ".join(
            f"('{table}', {1 + count})" for table, count in new.items()
        )
        rows = connection.exec_driver_sql(
            query_text("store", "new_counters").format(counters=counters)
        )
        next_ids |= {str(table): int(next_id) for table, next_id in rows}
    return {table: next_ids[table] - count for table, count in counts.items()}


#: Rows that are looked up by their keys; for more of them the whole table is read.
MANY = 200
#: Ids that a session reserves at a time for a dimension; what it does not use stays
#: unused.
RESERVED = 64


@dataclass(frozen=True)
class Naming:
    """Names in a source: its runs, what stands for the call of the harness where that
    has no id, and benchmarks that only published figures are of."""

    headers: Sequence[RunHeader]
    invocation: str
    published: Collection[str] = ()


@dataclass(frozen=True)
class Request:
    """Rows of a table whose ids are needed.

    ``sources`` says which source each row is of. Of rows with one key the first source
    gives the row that is stored (the last of its own), as if each had come by itself.
    """

    table: sa.Table
    rows: Collection[Mapping[str, Any]]
    sources: Iterable[int] = field(default_factory=lambda: repeat(0))


@dataclass(frozen=True)
class Said:
    """A source's words on a row other than what stands there: number of the source in
    its load, table, id, values."""

    source: int
    table: str
    row_id: int
    said: Mapping[str, Any]


@dataclass(frozen=True)
class LoadIds:
    """Ids of all that a load names: what each of its runs points to, and its benchmarks
    by name; what its sources say of these rows that does not stand there."""

    references: list[dict[str, int]]
    benchmarks: dict[str, int]
    metrics: list[int]
    variants: list[int]
    said: list[Said]


#: Tables whose rows point to another dimension: a row that was just added has none of
#: theirs.
_PARENTS = {"training_seed": "model", "checkpoint": "training_seed", "metric": "scorer"}
#: Tables that get a row of their own for every new row of another.
_FOLLOWERS = {
    "model": ("training_seed", "checkpoint"),
    "training_seed": ("checkpoint",),
}


class Dimensions:
    """Ids of dimension rows, remembered for a session.

    Rows are added in the caller's transaction; :meth:`forget` drops what was remembered
    when that transaction fails.
    """

    def __init__(self) -> None:
        self._ids: dict[str, dict[Key, int]] = {}
        self._reserved: dict[str, range] = {}
        self._most = (
            0  # rows of a table that the load may add, but for metrics and variants
        )
        self._n_metrics = 0  # of the load; some are new where a scorer is
        self._added: dict[
            str, set[int]
        ] = {}  # in the transaction of this load, so nobody else points to them
        self._standing: dict[
            str, dict[int, dict[str, Any]]
        ] = {}  # what the first source gave, by table and id
        self._said: list[
            Said
        ] = []  # by the sources of this load, other than what stands

    def forget(self) -> None:
        """Remember nothing: the next look-up reads the store."""
        self._ids.clear()
        self._reserved.clear()
        self._added.clear()
        self._standing.clear()
        self._said.clear()

    def ids(
        self,
        connection: sa.Connection,
        table: sa.Table,
        rows: Collection[Mapping[str, Any]],
    ) -> list[int]:
        """Ids of rows, in order; missing rows are added, sorted by natural key."""
        return self.ids_of(connection, [Request(table, rows)])[0]

    def ids_of(
        self, connection: sa.Connection, requests: Sequence[Request]
    ) -> list[list[int]]:
        """:meth:`ids` for several tables, which are looked up in one statement."""
        keyed = [_keyed(request) for request in requests]
        unknown: dict[sa.Table, dict[Key, Mapping[str, Any]]] = {}
        for request, rows in zip(requests, keyed, strict=True):
            ids = self._ids.setdefault(request.table.name, {})
            first: dict[Key, int] = {}
            unknown[request.table] = {
                key: row
                for (key, row), source in zip(rows, request.sources, strict=False)
                if key not in ids and first.setdefault(key, source) == source
            }
        sought = {
            table: self._may_stand(table, rows) for table, rows in unknown.items()
        }
        sought = {table: keys for table, keys in sought.items() if keys}
        for name, found in _stored(connection, sought).items():
            self._ids[name] |= found
        missing: dict[sa.Table, dict[Key, Mapping[str, Any]]] = {}
        for table, new in unknown.items():
            ids = self._ids[table.name]
            missing[table] = {key: row for key, row in new.items() if key not in ids}
        self._add(connection, missing)
        for request, rows in zip(requests, keyed, strict=True):
            if request.table.name in FIRST_GIVES:
                self._hold_against_standing(connection, request, rows)
        given: list[list[int]] = []
        for request, rows in zip(requests, keyed, strict=True):
            ids = self._ids[request.table.name]
            given.append([ids[key] for key, _ in rows])
        return given

    def _hold_against_standing(
        self,
        connection: sa.Connection,
        request: Request,
        rows: Sequence[tuple[Key, Mapping[str, Any]]],
    ) -> None:
        """Note what the sources say of rows other than what stands there: the last of
        its own is the word of each."""
        table = request.table.name
        ids = self._ids[table]
        standing = self._standing.setdefault(table, {})
        words = {
            (source, ids[key]): row
            for (key, row), source in zip(rows, request.sources, strict=False)
        }
        unread = {number for _, number in words} - standing.keys()
        if unread:
            standing.update(stored_values(connection, table, sorted(unread)))
        for (source, number), row in words.items():
            said = values_of(table, row)
            if said != standing[number]:
                self._said.append(Said(source, table, number, said))

    def said(self) -> list[Said]:
        """Words of this load's sources on rows other than what stands there, which is
        given once."""
        said, self._said = self._said, []
        return said

    def _may_stand(
        self, table: sa.Table, rows: Mapping[Key, Mapping[str, Any]]
    ) -> list[Key]:
        """The keys, of some, that the store may hold: none of what points to a row that
        was just added."""
        parent = _PARENTS.get(table.name, "")
        added = self._added.get(parent, set())
        return [
            key
            for key, row in rows.items()
            if not added or row[f"{parent}_id"] not in added
        ]

    def _add(
        self,
        connection: sa.Connection,
        missing: Mapping[sa.Table, Mapping[Key, Mapping[str, Any]]],
    ) -> None:
        missing = {table: rows for table, rows in missing.items() if rows}
        self._reserve(
            connection, {table.name: len(rows) for table, rows in missing.items()}
        )
        for table, rows in missing.items():
            ordered = sorted(rows, key=str)
            first = self.take(connection, table.name, len(ordered))
            numbered = {key: first + index for index, key in enumerate(ordered)}
            append(
                connection,
                table,
                [{**rows[key], "id": numbered[key]} for key in ordered],
            )
            self._ids[table.name].update(numbered)
            self._added.setdefault(table.name, set()).update(numbered.values())
            if table.name in FIRST_GIVES:
                standing = self._standing.setdefault(table.name, {})
                standing.update(
                    {numbered[key]: values_of(table.name, rows[key]) for key in ordered}
                )

    def _reserve(self, connection: sa.Connection, counts: Mapping[str, int]) -> None:
        """See to it that so many consecutive ids of some tables can be taken, out of
        blocks that are reserved in one go; with them those of what follows."""
        sizes = {
            table: max(count, RESERVED)
            for table, count in counts.items()
            if self._is_short(table, count)
        }
        for table, count in counts.items():
            for follower in self._followers(table):
                if self._is_short(follower, count):
                    sizes.setdefault(follower, RESERVED)
        if not sizes:
            return
        for table, first in allocate_each(connection, sizes).items():
            self._reserved[table] = range(first, first + sizes[table])

    def _followers(self, table: str) -> tuple[str, ...]:
        """Tables that get rows for the new rows of another, where a block of ids is
        enough for them."""
        if table == "scorer":
            if 0 < self._n_metrics <= RESERVED:
                return ("metric",)
            return ()
        if self._most <= RESERVED:
            return _FOLLOWERS.get(table, ())
        return ()

    def _is_short(self, table: str, count: int) -> bool:
        return len(self._reserved.get(table, range(0))) < count

    def stock(self, connection: sa.Connection, table: str, count: int) -> None:
        """See to it that ``count`` ids can be taken without touching the store's
        counter, whose row stays locked until the transaction that changes it ends."""
        self._reserve(connection, {table: count})

    def take(self, connection: sa.Connection, table: str, count: int) -> int:
        """First of ``count`` consecutive ids: of the stock, else of the counter."""
        if self._is_short(table, count):
            return allocate(connection, table, count)
        free = self._reserved[table]
        self._reserved[table] = free[count:]
        return free[0]

    # the rows of a run header

    def of_load(
        self,
        connection: sa.Connection,
        sources: Sequence[Naming],
        specs: Sequence[MetricSpec],
        variants: Collection[Mapping[str, Any]],
    ) -> LoadIds:
        """Ids of what some sources name, source by source; of their metrics with their
        scorers, and of variants.

        The first source that names a benchmark describes it; suites become parents
        where none is known.
        """
        headers: list[RunHeader] = []
        of: list[int] = []
        calls: list[str] = []
        for index, source in enumerate(sources):
            headers += source.headers
            of += [index] * len(source.headers)
            calls += [source.invocation] * len(source.headers)
        described, described_by = _described(sources)
        group_rows = [
            group_row(header, call) for header, call in zip(headers, calls, strict=True)
        ]
        self._begin(headers)
        self._n_metrics = len(specs)
        models, agents, benchmark_ids, groups, scorers, variant_ids = self.ids_of(
            connection,
            [
                Request(tables.model, [model_row(header) for header in headers], of),
                Request(tables.agent, [agent_row(header) for header in headers], of),
                Request(tables.benchmark, described, described_by),
                Request(tables.run_group, group_rows, of),
                Request(tables.scorer, [scorer_row(spec) for spec in specs]),
                Request(tables.prompt_variant, variants),
            ],
        )
        self._n_metrics = 0  # scorers of votes come without
        benchmarks = {
            row["name"]: number
            for row, number in zip(described, benchmark_ids, strict=True)
        }
        self._hang(connection, _paths(sources), benchmarks)
        metric_rows = [
            metric_row(spec, scorer)
            for spec, scorer in zip(specs, scorers, strict=True)
        ]
        checkpoints, metrics = self._checkpoints_and_metrics(
            connection, headers, models, of, metric_rows
        )
        references = []
        for header, checkpoint, agent, group in zip(
            headers, checkpoints, agents, groups, strict=True
        ):
            references.append(
                {
                    "checkpoint_id": checkpoint,
                    "agent_id": agent,
                    "benchmark_id": benchmarks[header.benchmark],
                    "run_group_id": group,
                }
            )
        return LoadIds(references, benchmarks, metrics, variant_ids, self.said())

    def _checkpoints_and_metrics(
        self,
        connection: sa.Connection,
        headers: Sequence[RunHeader],
        models: Sequence[int],
        of: Sequence[int],
        metric_rows: Sequence[Mapping[str, Any]],
    ) -> tuple[list[int], list[int]]:
        """Ids of the checkpoints of some models, and of metrics."""
        seed_rows = [
            seed_row(header, model)
            for header, model in zip(headers, models, strict=True)
        ]
        seeds, metrics = self.ids_of(
            connection,
            [
                Request(tables.training_seed, seed_rows, of),
                Request(tables.metric, metric_rows),
            ],
        )
        rows = [
            checkpoint_row(header, seed)
            for header, seed in zip(headers, seeds, strict=True)
        ]
        (checkpoints,) = self.ids_of(connection, [Request(tables.checkpoint, rows, of)])
        return checkpoints, metrics

    def checkpoints(
        self, connection: sa.Connection, headers: Sequence[RunHeader], of: Sequence[int]
    ) -> list[int]:
        """Ids of what was evaluated; ``of`` says which source each header is of."""
        self._begin(headers)
        (models,) = self.ids_of(
            connection,
            [Request(tables.model, [model_row(header) for header in headers], of)],
        )
        rows = [
            seed_row(header, model)
            for header, model in zip(headers, models, strict=True)
        ]
        (seeds,) = self.ids_of(connection, [Request(tables.training_seed, rows, of)])
        rows = [
            checkpoint_row(header, seed)
            for header, seed in zip(headers, seeds, strict=True)
        ]
        return self.ids_of(connection, [Request(tables.checkpoint, rows, of)])[0]

    def benchmarks(
        self, connection: sa.Connection, sources: Sequence[Naming]
    ) -> dict[str, int]:
        """Ids of the benchmarks that some sources name, by name."""
        described, of = _described(sources)
        (ids,) = self.ids_of(connection, [Request(tables.benchmark, described, of)])
        by_name = {
            row["name"]: number for row, number in zip(described, ids, strict=True)
        }
        self._hang(connection, _paths(sources), by_name)
        return by_name

    def _begin(self, headers: Sequence[RunHeader]) -> None:
        """Begin the look-ups of one transaction."""
        self._added.clear()
        self._most = len(headers)
        self._n_metrics = 0

    def _hang(
        self,
        connection: sa.Connection,
        paths: Iterable[Sequence[str]],
        by_name: Mapping[str, int],
    ) -> None:
        """Set the parents along some paths, where a benchmark has none and no ring
        would close."""
        done = self._ids.setdefault("benchmark parents", {})
        edges: dict[tuple[str, str], int] = {}
        for path in paths:
            edges |= dict.fromkeys(pairwise(path), 1)
        new_edges = [edge for edge in edges if edge not in done and edge[0] != edge[1]]
        if not new_edges:
            return
        table = tables.benchmark
        query = sa.select(table.c.id, table.c.parent_id)
        parents: dict[int, int | None] = {
            int(row[0]): row[1] for row in connection.execute(query)
        }
        for parent, child in new_edges:
            done[(parent, child)] = 1
            parent_id, child_id = by_name[parent], by_name[child]
            makes_ring = child_id in ancestors(parents, parent_id)
            if parents.get(child_id) is not None or makes_ring:
                continue
            parents[child_id] = parent_id
            hung = sa.update(table).where(table.c.id == child_id)
            connection.execute(hung.values(parent_id=parent_id))


def _paths(sources: Sequence[Naming]) -> list[tuple[str, ...]]:
    """The ways from suites down to the benchmarks of runs, each once."""
    paths: dict[tuple[str, ...], None] = {}
    for source in sources:
        for header in source.headers:
            paths[(*header.suite, header.benchmark)] = None
    return list(paths)


def _described(sources: Sequence[Naming]) -> tuple[list[dict[str, Any]], list[int]]:
    """The benchmarks that some sources name, as each says, and the number of that
    source."""
    rows: list[dict[str, Any]] = []
    of: list[int] = []
    for number, source in enumerate(sources):
        own = _benchmark_rows(source).values()
        rows += own
        of += [number] * len(own)
    return rows, of


def suites_of(source: Naming) -> dict[str, list[str]]:
    """The benchmarks that a source names, each with the suites that it is put below,
    the first first."""
    above: dict[str, list[str]] = {name: [] for name in sorted(source.published)}
    for path in _paths([source]):
        above.setdefault(path[0], [])
        for parent, child in zip(path, path[1:], strict=False):
            known = above.setdefault(child, [])
            if parent not in (child, *known):
                known.append(parent)
    return above


def _benchmark_rows(source: Naming) -> dict[str, dict[str, Any]]:
    """The benchmarks that a source names, by name; of some no more than the name is
    known."""
    rows: dict[str, dict[str, Any]] = {}
    for path, header in {
        (*item.suite, item.benchmark): item for item in source.headers
    }.items():
        for level, name in enumerate(path):
            rows.setdefault(name, benchmark_row(name, level))
        rows[path[-1]] |= {
            "version": header.benchmark_version,
            "dataset_revision": header.dataset_revision,
        }
    for name in sorted(source.published):
        rows.setdefault(name, benchmark_row(name, 0))
    return rows


def _keyed(request: Request) -> list[tuple[Key, Mapping[str, Any]]]:
    names = tables.natural_key(request.table)
    keyed: list[tuple[Key, Mapping[str, Any]]] = []
    for row in request.rows:
        key = tuple(row[name] for name in names)
        keyed.append((key, row))
    return keyed


def _stored(
    connection: sa.Connection, keys: Mapping[sa.Table, Sequence[Key]]
) -> dict[str, dict[Key, int]]:
    """Ids of those rows that the tables hold, by table: in one statement, and as text,
    since to build and compile one for each takes longer than it runs."""
    if not keys:
        return {}
    selects: list[str] = []
    values: dict[str, Any] = {}
    width = max(len(tables.natural_key(table)) for table in keys)
    for table, sought in keys.items():
        names = tables.natural_key(table)
        columns = [f"cast({name} as varchar)" for name in names] + [
            "cast(null as varchar)"
        ] * (width - len(names))
        select = f"select '{table.name}', id, {', '.join(columns)} from {table.name}"
        if len(sought) <= MANY:
            groups = [_bound(key, values) for key in sought]
            select += f" where ({', '.join(names)}) in ({', '.join(groups)})"
        selects.append(select)
    as_text: dict[str, dict[tuple[str, ...], Key]] = {}
    for table, sought in keys.items():
        as_text[table.name] = {tuple(map(str, key)): key for key in sought}
    found: dict[str, dict[Key, int]] = {table.name: {} for table in keys}
    for name, number, *texts in connection.execute(
        sa.text(" union all ".join(selects)), values
    ):
        key = as_text[name].get(tuple(text for text in texts if text is not None))
        if key is not None:
            found[name][key] = int(number)
    return found


def _bound(key: Key, values: dict[str, Any]) -> str:
    """A key as parameters, whose values are added to some."""
    names = [f"key_{len(values) + index}" for index in range(len(key))]
    values.update(zip(names, key, strict=True))
    return f"({', '.join(f':{name}' for name in names)})"
