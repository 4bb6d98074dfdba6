"""Clusters of prompts by fields of their documents, stored and kept complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.records import canonical_json, parse_json
from warehouse.records.clock import utc_now
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.curate.aliases import find_named
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text


def cluster_by(
    store: Store, benchmark: str, fields: Sequence[str], *, default: bool = False
) -> tuple[str, int, int]:
    """Cluster the prompts of a benchmark by document fields.

    Args:
        store: a store open for writing.
        benchmark: name of a benchmark.
        fields: names or dotted paths of document fields; prompts that agree in all of
            them form one cluster.
        default: use this clustering for error bars from now on.

    Returns:
        name of the clustering, number of clusters, number of prompts in them.

    Raises:
        MisuseError: no such benchmark, or no prompt has these fields (names those there
            are).
    """
    with store.changing_catalogue() as connection:
        number = int(find_named(connection, "benchmark", benchmark).id)
        _require_fields(store, number, benchmark, fields)
        declare(connection, [number], fields, default=default)
        extend(store, [number])
        sizes = connection.execute(
            sa.select(
                sa.func.count(sa.distinct(tables.prompt_cluster.c.cluster_id)),
                sa.func.count(),
            ).where(
                tables.prompt_cluster.c.clustering_id
                == _clustering(connection, number, fields)
            )
        ).one()
    return clustering_name(fields), int(sizes[0]), int(sizes[1])


def clustering_name(fields: Sequence[str]) -> str:
    """Name under which a clustering by fields is stored."""
    return ",".join(fields)


def declare(
    connection: sa.Connection,
    benchmarks: Sequence[int],
    fields: Sequence[str],
    *,
    default: bool,
) -> None:
    """Add the clustering to each benchmark that does not have it yet."""
    name = clustering_name(fields)
    for benchmark in benchmarks:
        if _clustering(connection, benchmark, fields) is None:
            connection.execute(
                sa.insert(tables.clustering).values(
                    id=allocate(connection, "clustering", 1),
                    benchmark_id=benchmark,
                    name=name,
                    kind="source",
                    parameters={"fields": list(fields)},
                )
            )
        if default:
            connection.execute(
                sa.update(tables.benchmark)
                .where(tables.benchmark.c.id == benchmark)
                .values(
                    default_clustering_id=_clustering(connection, benchmark, fields)
                )
            )


def extend(store: Store, benchmarks: Sequence[int]) -> None:
    """Put prompts that came since into the clusters of their benchmarks' clusterings."""
    table = tables.clustering
    query = sa.select(table.c.id, table.c.benchmark_id, table.c.parameters).where(
        table.c.benchmark_id.in_(benchmarks), table.c.kind == "source"
    )
    for clustering, benchmark, parameters in store.connection.execute(query).all():
        _extend_one(store, clustering, benchmark, parameters["fields"])


def _extend_one(
    store: Store, clustering: int, benchmark: int, fields: Sequence[str]
) -> None:
    unclustered = store.arrow(
        query_text("store", "prompts_without_cluster"),
        {"benchmark": benchmark, "clustering": clustering},
    )
    prompts, texts = (column.to_pylist() for column in unclustered.columns)
    labelled: list[tuple[int, str]] = []
    for prompt, text in zip(prompts, texts, strict=True):
        label = _label(text, fields)
        if label is not None:
            labelled.append((prompt, label))
    if not labelled:
        return
    ids = _cluster_ids(
        store.connection, clustering, sorted({label for _, label in labelled})
    )
    memberships = pa.table(
        {
            "clustering_id": pa.array([clustering] * len(labelled), pa.int64()),
            "cluster_id": pa.array([ids[label] for _, label in labelled], pa.int64()),
            "prompt_id": pa.array([prompt for prompt, _ in labelled], pa.int64()),
        }
    )
    store.dialect.append(store.connection, "prompt_cluster", memberships, Counter())


def _cluster_ids(
    connection: sa.Connection, clustering: int, labels: Sequence[str]
) -> dict[str, int]:
    table = tables.cluster
    query = sa.select(table.c.label, table.c.id).where(
        table.c.clustering_id == clustering
    )
    ids = {label: int(key) for label, key in connection.execute(query)}
    missing = [label for label in labels if label not in ids]
    if missing:
        first = allocate(connection, table.name, len(missing))
        rows = [
            {"id": first + offset, "clustering_id": clustering, "label": label}
            for offset, label in enumerate(missing)
        ]
        append(connection, table, rows)
        ids |= {label: first + offset for offset, label in enumerate(missing)}
    return ids


def _label(metadata: str | None, fields: Sequence[str]) -> str | None:
    """Label of a prompt's cluster; ``None`` if it lacks one of the fields."""
    document = None
    if metadata:
        document = parse_json(metadata)
    values = [field_at(document, name) for name in fields]
    if any(value is None for value in values):
        return None
    parts = [as_label(value) for value in values]
    if len(parts) == 1:
        return parts[0]
    return canonical_json(parts).decode()


def as_label(value: Any) -> str:
    """A value of a document as clusters are called by it: a text as it is, else JSON."""
    if isinstance(value, str):
        return value
    return canonical_json(value).decode()


def field_at(document: Any, path: str) -> Any:
    """A field of a prompt's document by its name or dotted path; None where there is
    none."""
    if isinstance(document, dict) and path in document:
        return document[path]
    for name in path.split("."):
        if isinstance(document, dict):
            document = document.get(name)
        else:
            document = None
    return document


def _clustering(
    connection: sa.Connection, benchmark: int, fields: Sequence[str]
) -> int | None:
    table = tables.clustering
    query = sa.select(table.c.id).where(
        table.c.benchmark_id == benchmark, table.c.name == clustering_name(fields)
    )
    return connection.execute(query).scalar_one_or_none()


def _require_fields(
    store: Store, benchmark: int, name: str, fields: Sequence[str]
) -> None:
    sample = store.arrow(
        "select metadata from prompt where benchmark_id = :benchmark and metadata is "
        "not null order by id limit 200",
        {"benchmark": benchmark},
    )
    documents = [parse_json(text) for text in sample.column(0).to_pylist()]
    field_names: set[str] = set()
    for item in documents:
        if all(field_at(item, field) is not None for field in fields):
            return
        if isinstance(item, dict):
            field_names.update(item)
    raise MisuseError(
        f"no prompt of '{name}' has the field {', '.join(fields)}; fields there are: "
        f"{', '.join(sorted(field_names)) or 'none'}"
    )


@dataclass(frozen=True)
class Members:
    """Clusters of the prompts of one benchmark."""

    prompts: NDArray[np.int64]  #: ids, each once, shape (n,).
    clusters: NDArray[np.intp]  #: cluster of each, 0 to G−1, none empty, shape (n,).
    distances: NDArray[np.float64]  #: of each to the medoid of its cluster, shape (n,).
    #: place in ``prompts`` of the medoid of each cluster, shape (G,).
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
    must_agree: Sequence[str] | None = None,
) -> int:
    """Store a clustering, replacing the one of this name and kind if it exists.

    Error bars may rest on a stored clustering, so that one made with other settings
    must not take its place unasked.

    Args:
        store: a store open for writing.
        kind: ``semantic`` or ``performance``.
        parameters: how it was made; JSON.
        default: use it for error bars from now on.
        must_agree: names of the parameters in which it must agree with the one it
            replaces; None: in none.

    Returns:
        its id; that of the clustering it replaces, so that what points to it still
        does.

    Raises:
        MisuseError: a clustering of another kind, or made with other settings, has this
            name.
    """
    with store.changing_catalogue() as connection:
        number = _declare(connection, benchmark_id, name, kind, parameters, must_agree)
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
    must_agree: Sequence[str] | None,
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
            sa.insert(table).values(
                id=number, benchmark_id=benchmark_id, name=name, kind=kind, **values
            )
        )
        return number
    if existing.kind != kind:
        raise MisuseError(
            f"there is a clustering {name!r} of kind {existing.kind!r}; choose another "
            "name"
        )
    _require_same(name, existing.parameters or {}, parameters, must_agree or ())
    connection.execute(
        sa.update(table).where(table.c.id == existing.id).values(**values)
    )
    return int(existing.id)


def _require_same(
    name: str,
    stored: Mapping[str, Any],
    new: Mapping[str, Any],
    must_agree: Sequence[str],
) -> None:
    different = [key for key in must_agree if stored.get(key) != new.get(key)]
    if different:
        changes = ", ".join(
            f"{key} {stored.get(key)!r} and not {new.get(key)!r}" for key in different
        )
        raise MisuseError(
            f"clustering {name!r} is there already, made with {changes}; choose "
            "another name, or replace it (--replace), which also changes error bars "
            "that use it"
        )


def _clear(connection: sa.Connection, clustering: int) -> None:
    for table in (tables.prompt_cluster, tables.cluster):
        connection.execute(sa.delete(table).where(table.c.clustering_id == clustering))


def _fill(
    store: Store, connection: sa.Connection, clustering: int, members: Members
) -> None:
    n_clusters = len(members.medoids)
    if not n_clusters:
        return
    first = allocate(connection, "cluster", n_clusters)
    ids = np.arange(first, first + n_clusters, dtype=np.int64)
    labels = pa.table(
        {
            "id": pa.array(ids),
            "clustering_id": pa.array(np.full(n_clusters, clustering, np.int64)),
            "label": pa.array([str(offset + 1) for offset in range(n_clusters)]),
        }
    )
    is_medoid = np.zeros(len(members.prompts), np.bool_)
    is_medoid[members.medoids] = True
    rows = pa.table(
        {
            "clustering_id": pa.array(
                np.full(len(members.prompts), clustering, np.int64)
            ),
            "cluster_id": pa.array(ids[members.clusters]),
            "prompt_id": pa.array(members.prompts),
            "distance": pa.array(members.distances),
            "is_medoid": pa.array(is_medoid),
        }
    )
    store.dialect.append(connection, "cluster", labels, Counter())
    store.dialect.append(connection, "prompt_cluster", rows, Counter())
