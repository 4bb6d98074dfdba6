"""Dimension rows by natural key: found if they are there, added if not, ids either way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from warehouse.records import MetricSpec, RunHeader
from warehouse.store.alchemy import sa
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.run_keys import checkpoint_key, checkpoint_position, group_key, parameters_key
from warehouse.store.schema.later import tables

Key = tuple[Any, ...]


def allocate(connection: sa.Connection, table: str, count: int) -> int:
    """Reserve ``count`` ids of a table; returns the first."""
    reserved = connection.exec_driver_sql(  # as text, which takes a third of the time: every load reserves some
        f"insert into id_counter (table_name, next_id) values ('{table}', {1 + count}) on conflict (table_name)"
        f" do update set next_id = id_counter.next_id + {count} returning next_id"
    )
    return int(reserved.scalar_one()) - count


#: Rows that are looked up by their keys; for more of them the whole table is read.
MANY = 200
#: Ids that a session reserves at a time for a dimension; what it does not use stays unused.
RESERVED = 64


@dataclass(frozen=True)
class Naming:
    """What a source names: its runs, what stands for the call of the harness where that has no id,
    and benchmarks that only published figures are of."""

    headers: Sequence[RunHeader]
    invocation: str
    published: Collection[str] = ()


class Dimensions:
    """Ids of dimension rows, remembered for a session.

    Rows are added in the caller's transaction; :meth:`forget` drops what was remembered when
    that transaction fails.
    """

    def __init__(self) -> None:
        self._ids: dict[str, dict[Key, int]] = {}
        self._reserved: dict[str, range] = {}

    def forget(self) -> None:
        """Remember nothing: the next look-up reads the store."""
        self._ids.clear()
        self._reserved.clear()

    def ids(
        self,
        connection: sa.Connection,
        table: sa.Table,
        rows: Iterable[Mapping[str, Any]],
        sources: Iterable[int] = repeat(0),
    ) -> list[int]:
        """Ids of rows, in order; missing rows are added, sorted by natural key.

        ``sources`` says which source each row is of. Of rows with one key the first source gives
        the row that is stored (the last of its own), as if each had come by itself.
        """
        names = tables.natural_key(table)
        keyed = [(tuple(row[name] for name in names), row) for row in rows]
        ids = self._ids.setdefault(table.name, {})
        first: dict[Key, int] = {}
        unknown = {
            key: row
            for (key, row), source in zip(keyed, sources, strict=False)
            if key not in ids and first.setdefault(key, source) == source
        }
        if unknown:
            ids |= _stored(connection, table, names, unknown)
            self._add(connection, table, {key: row for key, row in unknown.items() if key not in ids})
        return [ids[key] for key, _ in keyed]

    def _add(self, connection: sa.Connection, table: sa.Table, missing: Mapping[Key, Mapping[str, Any]]) -> None:
        if not missing:
            return
        ordered = sorted(missing, key=str)
        first = self._reserve(connection, table.name, len(ordered))
        numbered = {key: first + index for index, key in enumerate(ordered)}
        append(connection, table, [{**missing[key], "id": numbered[key]} for key in ordered])
        self._ids[table.name].update(numbered)

    def _reserve(self, connection: sa.Connection, table: str, count: int) -> int:
        """First of ``count`` consecutive ids, out of a block that is reserved in one go."""
        free = self._reserved.get(table, range(0))
        if len(free) < count:
            size = max(count, RESERVED)
            first = allocate(connection, table, size)
            free = range(first, first + size)
        self._reserved[table] = free[count:]
        return free[0]

    def stock(self, connection: sa.Connection, table: str, count: int) -> None:
        """See to it that ``count`` ids can be taken without touching the store's counter, whose
        row stays locked until the transaction that changes it ends."""
        if len(self._reserved.get(table, range(0))) < count:
            size = max(count, RESERVED)
            first = allocate(connection, table, size)
            self._reserved[table] = range(first, first + size)

    def take(self, connection: sa.Connection, table: str, count: int) -> int:
        """First of ``count`` consecutive ids: of the stock, else of the counter."""
        if len(self._reserved.get(table, range(0))) < count:
            return allocate(connection, table, count)
        free = self._reserved[table]
        self._reserved[table] = free[count:]
        return free[0]

    # the rows of a run header

    def run_references(self, connection: sa.Connection, sources: Sequence[Naming]) -> list[dict[str, int]]:
        """Ids that the ``run`` rows of the runs of some sources point to, source by source."""
        headers = [header for source in sources for header in source.headers]
        of = [index for index, source in enumerate(sources) for _ in source.headers]
        checkpoints = self.checkpoints(connection, headers, of)
        agents = self.ids(connection, tables.agent, [_agent_row(header) for header in headers], of)
        benchmarks = self.benchmarks(connection, sources)
        calls = [source.invocation for source in sources for _ in source.headers]
        rows = [_group_row(header, invocation) for header, invocation in zip(headers, calls, strict=True)]
        groups = self.ids(connection, tables.run_group, rows, of)
        return [
            {"checkpoint_id": c, "agent_id": a, "benchmark_id": benchmarks[header.benchmark], "run_group_id": g}
            for header, c, a, g in zip(headers, checkpoints, agents, groups, strict=True)
        ]

    def checkpoints(self, connection: sa.Connection, headers: Sequence[RunHeader], of: Sequence[int]) -> list[int]:
        """Ids of what was evaluated; ``of`` says which source each header is of."""
        models = self.ids(connection, tables.model, [_model_row(header) for header in headers], of)
        rows = [_seed_row(header, model) for header, model in zip(headers, models, strict=True)]
        seeds = self.ids(connection, tables.training_seed, rows, of)
        rows = [_checkpoint_row(header, seed) for header, seed in zip(headers, seeds, strict=True)]
        return self.ids(connection, tables.checkpoint, rows, of)

    def benchmarks(self, connection: sa.Connection, sources: Sequence[Naming]) -> dict[str, int]:
        """Ids of the benchmarks that some sources name; suites become parents where none is known.

        The first source that names a benchmark describes it.
        """
        rows: dict[str, dict[str, Any]] = {}
        for source in sources:
            for name, row in _benchmark_rows(source).items():
                rows.setdefault(name, row)
        by_name = dict(zip(rows, self.ids(connection, tables.benchmark, rows.values()), strict=True))
        paths = [(*header.suite, header.benchmark) for item in sources for header in item.headers]
        self._hang(connection, dict.fromkeys(paths), by_name)
        return by_name

    def _hang(self, connection: sa.Connection, paths: Iterable[Sequence[str]], by_name: Mapping[str, int]) -> None:
        """Set the parents along some paths, where a benchmark has none and no ring would close."""
        done = self._ids.setdefault("benchmark parents", {})
        edges = {edge: 1 for path in paths for edge in zip(path, path[1:], strict=False)}
        new_edges = [edge for edge in edges if edge not in done and edge[0] != edge[1]]
        if not new_edges:
            return
        table = tables.benchmark
        query = sa.select(table.c.id, table.c.parent_id)
        parents: dict[int, int | None] = {int(row[0]): row[1] for row in connection.execute(query)}
        for parent, child in new_edges:
            done[(parent, child)] = 1
            parent_id, child_id = by_name[parent], by_name[child]
            if parents.get(child_id) is not None or child_id in _ancestors(parents, parent_id):
                continue
            parents[child_id] = parent_id
            connection.execute(sa.update(table).where(table.c.id == child_id).values(parent_id=parent_id))

    def metrics(self, connection: sa.Connection, specs: Sequence[MetricSpec]) -> list[int]:
        """Ids of metrics with their scorers."""
        scorers = self.ids(connection, tables.scorer, [_scorer_row(spec) for spec in specs])
        return self.ids(
            connection,
            tables.metric,
            [
                {"name": spec.name, "filter": spec.filter, "scorer_id": scorer, "unit": spec.unit, "link": spec.link}
                for spec, scorer in zip(specs, scorers, strict=True)
            ],
        )


def _benchmark_rows(source: Naming) -> dict[str, dict[str, Any]]:
    """The benchmarks that a source names, by name; of some no more than the name is known."""
    rows: dict[str, dict[str, Any]] = {}
    for path, header in {(*item.suite, item.benchmark): item for item in source.headers}.items():
        for level, name in enumerate(path):
            rows.setdefault(name, benchmark_row(name, level))
        rows[path[-1]] |= {"version": header.benchmark_version, "dataset_revision": header.dataset_revision}
    for name in sorted(source.published):
        rows.setdefault(name, benchmark_row(name, 0))
    return rows


def _ancestors(parents: Mapping[int, int | None], start: int) -> set[int]:
    seen: set[int] = set()
    current: int | None = start
    while current is not None and current not in seen:
        seen.add(current)
        current = parents.get(current)
    return seen


def benchmark_row(name: str, level: int) -> dict[str, Any]:
    """A benchmark of which only the name is known."""
    return {"name": name, "level": level, "version": None, "dataset_revision": None}


def _stored(connection: sa.Connection, table: sa.Table, names: Sequence[str], keys: Collection[Key]) -> dict[Key, int]:
    """Ids of those rows that the table holds."""
    columns = [table.c[name] for name in names]
    query = sa.select(table.c.id, *columns)
    if len(keys) <= MANY:
        query = query.where(sa.tuple_(*columns).in_(list(keys)))
    keys_and_ids = ((tuple(row[1:]), int(row[0])) for row in connection.execute(query))
    return {key: number for key, number in keys_and_ids if key in keys}


def _model_row(header: RunHeader) -> dict[str, Any]:
    developer = header.developer
    owner, slash, _ = header.model.partition("/")
    if developer is None and slash and owner.strip("."):  # not of a path: ../results, /models
        developer = owner
    return {
        "name": header.model,
        "family": header.family,
        "developer": developer,
        "parameter_count": header.parameter_count,
    }


def _seed_row(header: RunHeader, model: int) -> dict[str, Any]:
    label = header.training_seed
    if label is None:
        seeds = (header.initialisation_seed, header.data_order_seed)
        names = ("initialisation", "data_order")
        label = ",".join(f"{name}={seed}" for name, seed in zip(names, seeds, strict=True) if seed is not None)
    return {
        "model_id": model,
        "label": label,
        "recipe": header.recipe or "",
        "initialisation_seed": header.initialisation_seed,
        "data_order_seed": header.data_order_seed,
        "hyperparameters": dict(header.hyperparameters) or None,
    }


def _checkpoint_row(header: RunHeader, seed: int) -> dict[str, Any]:
    position, unit = checkpoint_position(header)
    return {
        "training_seed_id": seed,
        "key": checkpoint_key(header),
        "position": position,
        "position_unit": unit,
        "tokens": header.tokens,
        "revision": header.revision,
        "base_checkpoint": header.base_checkpoint,
        "is_final": header.is_final,
    }


def _agent_row(header: RunHeader) -> dict[str, Any]:
    return {
        "name": header.agent or "",
        "version": header.agent_version or "",
        "parameters_key": parameters_key(header.agent_parameters),
        "parameters": dict(header.agent_parameters) or None,
    }


def _group_row(header: RunHeader, invocation: str) -> dict[str, Any]:
    return {
        "key": group_key(header, invocation),
        "harness": header.harness,
        "harness_version": header.harness_version,
        "harness_run_id": header.run_id,
        "started_at": header.started_at,
        "commit_hash": header.harness_commit,
        "hardware": header.hardware,
        "cost": header.cost,
    }


def _scorer_row(spec: MetricSpec) -> dict[str, Any]:
    return {
        "name": spec.scorer,
        "kind": spec.scorer_kind,
        "judge_model": spec.judge_model,
        "parameters_key": parameters_key(spec.scorer_parameters),
        "parameters": dict(spec.scorer_parameters) or None,
    }
