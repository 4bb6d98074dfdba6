"""A store whose reads are shared: what many parts of one page ask for is read once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import pyarrow as pa

from warehouse.store.connection import Store, T


class SharedReads(Store):
    """A store that is only read, and remembers its answers until it is told of another block.

    A block is a set of ids by kind (``benchmark_id``, ``run_id``): reading functions that are asked
    for some of them read all of them in one query, and answer from there. Closing it leaves the
    store that it was made of open.
    """

    def __init__(self, store: Store) -> None:
        self.url, self.dialect, self.engine, self.write = store.url, store.dialect, store.engine, store.write
        self.connection = store.connection
        self._block: dict[str, frozenset[int]] = {}
        self._of_block: dict[Hashable, Any] = {}
        self._of_all: dict[Hashable, Any] = {}

    def begin_block(self, **ids: Collection[int]) -> None:
        """Forget what was read for the last block; these ids are the next one."""
        self._block = {kind: frozenset(some) for kind, some in ids.items()}
        self._of_block.clear()

    def block(self, kind: str) -> frozenset[int]:
        return self._block.get(kind, frozenset())

    def once(self, key: Hashable, compute: Callable[[], T], *, of_block: bool = False) -> T:
        held = self._of_block if of_block else self._of_all
        if key not in held:
            held[key] = compute()
        found: T = held[key]
        return found

    def _select(self, sql: str, params: Mapping[str, Any]) -> pa.Table:
        key = ("select", sql, tuple(sorted(params.items(), key=str)))
        return self.once(key, lambda: super(SharedReads, self)._select(sql, params), of_block=True)

    def rows_of(self, kind: str, ids: Collection[int], sql: str) -> list[dict[str, Any]]:
        if not ids or not self.block(kind).issuperset(ids):
            return super().rows_of(kind, ids, sql)
        by_id = self.once((kind, sql), lambda: self._by_id(kind, sql), of_block=True)
        return [row for one in sorted(set(ids)) for row in by_id.get(one, ())]

    def _by_id(self, kind: str, sql: str) -> dict[int, list[dict[str, Any]]]:
        found: dict[int, list[dict[str, Any]]] = {}
        for row in self.rows(sql, {f"{kind}s": self.block(kind)}):
            found.setdefault(row[kind], []).append(row)
        return found

    def close(self) -> None:
        self._of_block.clear()
        self._of_all.clear()
