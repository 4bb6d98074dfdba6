"""A store whose reads are shared: what many parts of one page ask for is read once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.store.columns import Columns, in_parts
from warehouse.store.connection import Store, T

_RUNS = "select benchmark, benchmark_id, run_id, n_scores from run_current"
_CLUSTERINGS = (
    "select id, default_clustering_id from benchmark where default_clustering_id is "
    "not null"
)
Name = TypeVar("Name", bound=Hashable)
#: Scores of benchmarks that are read together, to bound memory; a run costs as much as
#: so many.
BLOCK_SCORES, RUN_COST = 250_000, 100
#: Values of other parameters, such as metrics, that a SELECT is read for a block with;
#: with more, for the ids alone.
MOST_PARAMETERS = 3
#: Stretches of rows of one id that are put in order without copying them; of more,
#: reading one takes longer.
MOST_STRETCHES = 100


class SharedReads(Store):
    """A read-only store that caches its answers for the current block of ids.

    A block is a set of ids by column (``benchmark_id``, ``run_id``, ``clustering_id``):
    a SELECT that asks for some of them (from ``:first_run_id`` to ``:last_run_id``,
    where it has these), and says so by ``per``, reads all of them, and is answered from
    there. Closing it leaves the store that it was made of open.
    """

    def __init__(self, store: Store) -> None:
        self.url = store.url
        self.dialect = store.dialect
        self.engine = store.engine
        self.write = store.write
        self.limits = store.limits
        self.connection = store.connection
        self.kept = store.kept
        self.policies = store.policies
        self.declared = store.declared
        self._block: dict[str, frozenset[int]] = {}
        self._answers: dict[Hashable, Any] = {}
        self._parameters: dict[Hashable, set[Hashable]] = {}

    def begin_block(self, **ids: Collection[int]) -> None:
        """Forget what was read for the last block; these ids are the next one."""
        self._block = {column: frozenset(some) for column, some in ids.items()}
        self._answers.clear()
        self._parameters.clear()

    def arrow(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        per: str = "",
        by_id: bool = False,
    ) -> pa.Table:
        values = dict(params or {})
        among = f"{per}s"
        block = self._block.get(per)
        if not block:
            return super().arrow(sql, values, per=per, by_id=by_id)
        ids = [*map(int, values.get(among, ()))]
        if not block.issuperset(ids):
            return super().arrow(sql, values, per=per, by_id=by_id)
        of_block = values | {among: block}
        if f"first_{per}" in values:
            of_block |= {f"first_{per}": min(block), f"last_{per}": max(block)}
        parameters = _parameters_key(of_block | {among: ()})
        others = self._parameters.setdefault((per, sql), set())
        if parameters not in others and len(others) >= MOST_PARAMETERS:
            return super().arrow(sql, values, per=per, by_id=by_id)
        others.add(parameters)
        read = super().arrow

        def read_block() -> _RowsById:
            return _RowsById(read(sql, of_block, per=per, by_id=by_id), per)

        return self._once((per, sql, parameters), read_block).of(ids)

    def _select(self, sql: str, params: Mapping[str, Any], by_id: str = "") -> pa.Table:
        key = (by_id, sql, _parameters_key(params))
        read = partial(super()._select, sql, params, by_id)
        if self.kept is not None:
            read = partial(self.kept.once, key, read)
        return self._once(key, read)

    def _once(self, key: Hashable, compute: Callable[[], T]) -> T:
        if key not in self._answers:
            self._answers[key] = compute()
        answer: T = self._answers[key]
        return answer

    def close(self) -> None:
        self._answers.clear()


def runs_by_benchmark(store: Store) -> dict[str, list[Mapping[str, Any]]]:
    """Id, benchmark and number of scores of all current runs, by name of the benchmark,
    in its order."""
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for row in store.rows(_RUNS):
        runs.setdefault(row["benchmark"], []).append(row)
    return dict(sorted(runs.items()))


def in_blocks(
    store: Store,
    runs: Mapping[Name, Sequence[Mapping[str, Any]]],
    most: int = BLOCK_SCORES,
) -> Iterator[tuple[Name, Store]]:
    """Each benchmark with a store in which what its parts read is read once for a block
    of benchmarks: the store itself where it shares reads.

    Args:
        runs: some of :func:`runs_by_benchmark`, or rows of ``run_current``.
        most: scores of a block.
    """
    if isinstance(store, SharedReads):
        shared = store
    else:
        shared = SharedReads(store)
    clusterings = {
        row["id"]: row["default_clustering_id"] for row in shared.rows(_CLUSTERINGS)
    }
    for block in blocks_of(runs, most):
        own: list[Mapping[str, Any]] = []
        for name in block:
            own += runs[name]
        ids = {run["benchmark_id"] for run in own}
        shared.begin_block(
            benchmark_id=ids,
            run_id={run["run_id"] for run in own},
            clustering_id={
                clusterings[benchmark] for benchmark in ids if benchmark in clusterings
            },
        )
        yield from ((name, shared) for name in block)
    shared.begin_block()


def blocks_of(
    runs: Mapping[Name, Sequence[Mapping[str, Any]]], most: int = BLOCK_SCORES
) -> Iterator[list[Name]]:
    """Names of benchmarks that are read together."""
    return in_parts(
        runs, lambda name: sum(RUN_COST + run["n_scores"] for run in runs[name]), most
    )


def _parameters_key(params: Mapping[str, Any]) -> Hashable:
    """Parameters as a key; sets of values in any order are the same ones."""
    return tuple((name, _as_key(value)) for name, value in sorted(params.items()))


def _as_key(value: Any) -> Any:
    if isinstance(value, Collection) and not isinstance(value, str):
        return tuple(sorted(value))
    return value


class _RowsById:
    """The rows of a table by the id that they are of."""

    def __init__(self, table: pa.Table, column: str) -> None:
        ids = Columns(table).whole_numbers(column)
        if not bool((ids[1:] >= ids[:-1]).all()):
            ids, table = _ordered(ids, table)
        self._table, self._ids = table, ids

    def of(self, ids: Collection[int]) -> pa.Table:
        """Rows of some ids, by id."""
        numbers = np.array(sorted(set(ids)), np.int64)
        starts = np.searchsorted(self._ids, numbers).tolist()
        ends = np.searchsorted(self._ids, numbers, side="right").tolist()
        parts = [
            self._table.slice(start, end - start)
            for start, end in _joined(zip(starts, ends, strict=True))
        ]
        if len(parts) != 1:
            return pa.concat_tables(parts)
        return parts[0]


def _ordered(
    ids: NDArray[np.int64], table: pa.Table
) -> tuple[NDArray[np.int64], pa.Table]:
    """Rows by id; a few stretches of one id each are not copied."""
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    if len(starts) <= MOST_STRETCHES:
        sizes = np.diff(starts, append=len(ids))
        order = np.argsort(ids[starts], kind="stable")
        starts, sizes = starts[order], sizes[order]
        spans = zip(starts.tolist(), sizes.tolist(), strict=True)
        parts = [table.slice(start, size) for start, size in spans]
        return np.repeat(ids[starts], sizes), pa.concat_tables(parts)
    order = np.argsort(ids, kind="stable")
    # given an array of numpy's, Arrow imports pandas
    buffers = [None, pa.py_buffer(order)]
    indices = pa.Array.from_buffers(pa.int64(), len(order), buffers)
    return ids[order], table.take(indices)


def _joined(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans, those that touch joined into one."""
    start = end = 0
    for first, last in spans:
        if first > end:
            yield start, end
            start = first
        end = last
    yield start, end
