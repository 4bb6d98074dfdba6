"""Clusterings that were computed: stored whole, and replaced whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.records.clock import utc_now
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables


@dataclass(frozen=True)
class Members:
    """Clusters of the prompts of one benchmark.

    Attributes:
        prompts: ids, each once, shape (n,).
        clusters: cluster of each, 0 to G−1, none empty, shape (n,).
        distances: of each to the medoid of its cluster, shape (n,).
        medoids: place in ``prompts`` of the medoid of each cluster, shape (G,).
    """

    prompts: NDArray[np.int64]
    clusters: NDArray[np.intp]
    distances: NDArray[np.float64]
    medoids: NDArray[np.intp]


def store_clustering(
    store: Store,
    benchmark_id: int,
    name: str,
    kind: str,
    members: Members,
    *,
    parameters: Mapping[str, Any],
    default: bool = False,
    asked: Sequence[str] | None = None,
) -> int:
    """Store a clustering in place of the one of this name and kind, if there is one.

    Error bars may rest on a stored clustering, so that one made with other settings must not
    take its place unasked.

    Args:
        store: a store open for writing.
        kind: ``semantic`` or ``performance``.
        parameters: how it was made; JSON.
        default: use it for error bars from now on.
        asked: names of the parameters in which it must agree with the one it replaces; None: in
            none.

    Returns:
        its id; that of the clustering it replaces, so that what points to it still does.

    Raises:
        MisuseError: a clustering of another kind, or made with other settings, has this name.
    """
    with store.begin() as connection:
        store.dialect.lock_catalogue(connection)
        number = _declare(connection, benchmark_id, name, kind, parameters, asked)
        _clear(connection, number)
        _fill(store, connection, number, members)
        if default:
            connection.execute(
                sa.update(tables.benchmark)
                .where(tables.benchmark.c.id == benchmark_id)
                .values(default_clustering_id=number)
            )
    return number


def _declare(
    connection: sa.Connection,
    benchmark_id: int,
    name: str,
    kind: str,
    parameters: Mapping[str, Any],
    asked: Sequence[str] | None,
) -> int:
    table = tables.clustering
    existing = connection.execute(
        sa.select(table.c.id, table.c.kind, table.c.parameters).where(
            table.c.benchmark_id == benchmark_id, table.c.name == name
        )
    ).first()
    values = {"parameters": dict(parameters), "created_at": utc_now()}
    if existing is None:
        number = allocate(connection, table.name, 1)
        connection.execute(
            sa.insert(table).values(id=number, benchmark_id=benchmark_id, name=name, kind=kind, **values)
        )
        return number
    if existing.kind != kind:
        raise MisuseError(f"there is a clustering {name!r} of kind {existing.kind!r}; choose another name")
    _require_same(name, existing.parameters or {}, parameters, asked or ())
    connection.execute(sa.update(table).where(table.c.id == existing.id).values(**values))
    return int(existing.id)


def _require_same(name: str, stored: Mapping[str, Any], new: Mapping[str, Any], asked: Sequence[str]) -> None:
    different = [key for key in asked if stored.get(key) != new.get(key)]
    if different:
        changes = ", ".join(f"{key} {stored.get(key)!r} and not {new.get(key)!r}" for key in different)
        raise MisuseError(
            f"clustering {name!r} is there already, made with {changes}; choose another name, or"
            " replace it (--replace), which also changes error bars that use it"
        )


def _clear(connection: sa.Connection, clustering: int) -> None:
    for table in (tables.prompt_cluster, tables.cluster):
        connection.execute(sa.delete(table).where(table.c.clustering_id == clustering))


def _fill(store: Store, connection: sa.Connection, clustering: int, members: Members) -> None:
    n_clusters = len(members.medoids)
    if not n_clusters:
        return
    first = allocate(connection, "cluster", n_clusters)
    ids = np.arange(first, first + n_clusters, dtype=np.int64)
    labels = pa.table(
        {
            "id": pa.array(ids),
            "clustering_id": pa.array(np.full(n_clusters, clustering, np.int64)),
            "label": pa.array([str(place + 1) for place in range(n_clusters)]),
        }
    )
    is_medoid = np.zeros(len(members.prompts), np.bool_)
    is_medoid[members.medoids] = True
    rows = pa.table(
        {
            "clustering_id": pa.array(np.full(len(members.prompts), clustering, np.int64)),
            "cluster_id": pa.array(ids[members.clusters]),
            "prompt_id": pa.array(members.prompts),
            "distance": pa.array(members.distances),
            "is_medoid": pa.array(is_medoid),
        }
    )
    store.dialect.append(connection, "cluster", labels.to_reader(), Counter())
    store.dialect.append(connection, "prompt_cluster", rows.to_reader(), Counter())
