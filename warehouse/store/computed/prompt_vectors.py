"""Embeddings of prompts: which are missing, writing them set-based, reading them as a matrix.

A prompt's embedding belongs to its text: ``text_hash`` is the hash of the normalised question, and
an embedding whose hash is no longer that of the prompt counts as missing. Prompts with one text
share one vector, where the same template was taken off (``template``; empty, stored as null: none).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import StoreError
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

#: Of no benchmark: a constant alone is no group to a server.
NO_ARM = "when 0 then 'none'"
_TEXTS = "select id, text from prompt where id in ({ids})"
_ALL_TEXTS = "select text from prompt where benchmark_id = {benchmark} and text is not null"
_STALE = """
delete from prompt_embedding
where embedder_id = {embedder} and prompt_id in ({ids})
"""


#: By benchmark id the key of the template that its prompts share; letters and digits, empty for none.
Templates = Mapping[int, str]


@dataclass(frozen=True)
class EmbedderRow:
    """An embedder that the store knows.

    Attributes:
        n_prompts: prompts that have a vector of it.
    """

    id: int
    name: str
    revision: str
    dimension: int
    n_prompts: int

    @property
    def label(self) -> str:
        """``NAME@REVISION``, as options take it."""
        return f"{self.name}@{self.revision}" if self.revision else self.name


@dataclass(frozen=True)
class MissingTexts:
    """Texts without a vector.

    Attributes:
        prompts: one prompt that has the text, ascending, shape (n,).
        n_prompts: prompts that have it, shape (n,).
    """

    prompts: NDArray[np.int64]
    n_prompts: NDArray[np.int64]


@dataclass(frozen=True)
class PromptVectors:
    """Vectors of prompts.

    Attributes:
        prompts: ids, ascending, shape (n,).
        vectors: 32-bit rows, shape (n, dimension).
    """

    prompts: NDArray[np.int64]
    vectors: NDArray[np.float32]


def embedders(store: Store) -> list[EmbedderRow]:
    """Every embedder by name."""
    return [EmbedderRow(**row) for row in store.rows(query_text("store", "embedders"))]


def declare_embedder(store: Store, name: str, revision: str, dimension: int) -> int:
    """Id of an embedder, made at its first mention. The store is open for writing.

    Raises:
        StoreError: it is known with vectors of another length.
    """
    table = tables.embedder
    query = sa.select(table.c.id, table.c.dimension).where(table.c.name == name, table.c.revision == revision)
    with store.begin() as connection:
        store.dialect.lock_catalogue(connection)
        row = connection.execute(query).first()
        if row is None:
            number = allocate(connection, table.name, 1)
            connection.execute(sa.insert(table).values(id=number, name=name, revision=revision, dimension=dimension))
            return number
    if row.dimension != dimension:
        raise StoreError(
            f"the vectors of embedder {name!r} have {row.dimension} numbers here, those of the"
            f" model {dimension}; store it under another name: --embedder NAME=MODEL"
        )
    return int(row.id)


def count_embedded(
    store: Store, embedder: int, benchmark_ids: Sequence[int] | None, templates: Templates | None = None
) -> dict[int, tuple[int, int, int]]:
    """By benchmark id: prompts, prompts with text, prompts with an up-to-date vector.

    Args:
        templates: up to date are those without these templates; None: whatever was taken off.
    """
    where = _in_benchmarks("prompt.benchmark_id", benchmark_ids)
    fresh = "1 = 1" if templates is None else f"coalesce(held.template, '') = {_case('prompt', templates)}"
    sql = query_text("store", "vector_counts").format(embedder=embedder, benchmarks=where, fresh=fresh)
    rows = store.rows(sql)
    return {row["benchmark_id"]: (row["n_prompts"], row["n_texts"], row["n_embedded"]) for row in rows}


def missing_texts(
    store: Store, embedder: int, benchmark_ids: Sequence[int] | None, templates: Templates
) -> MissingTexts:
    """Texts of some benchmarks (None: of all) that are new or have changed, or have another template."""
    where = _in_benchmarks("prompt.benchmark_id", benchmark_ids)
    sql = query_text("store", "texts_without_vector")
    table = store.arrow(sql.format(embedder=embedder, benchmarks=where, templates=_case("prompt", templates)))
    return MissingTexts(_whole(table, "first_id"), _whole(table, "n_prompts"))


def texts_of(store: Store, prompts: Sequence[int]) -> dict[int, str]:
    """Questions of some prompts, by id."""
    if not len(prompts):
        return {}
    rows = store.rows(_TEXTS.format(ids=_listed(prompts)))
    return {row["id"]: row["text"] for row in rows if row["text"] is not None}


def texts_of_benchmark(store: Store, benchmark: int) -> list[str]:
    """All questions of a benchmark that have a text."""
    return [str(text) for text in store.arrow(_ALL_TEXTS.format(benchmark=int(benchmark))).column("text").to_pylist()]


def write_vectors(
    store: Store,
    embedder: int,
    prompts: Sequence[int],
    vectors: NDArray[np.float32],
    templates: Templates | None = None,
) -> int:
    """Store the vectors of some texts for every prompt that has one of them, and the same template.

    One transaction; replaces what stood there, so that a repetition changes nothing.

    Args:
        store: a store open for writing.
        prompts: one prompt of each text, as `missing_texts` gives them.
        vectors: row by row for ``prompts``.
        templates: what was taken off of the texts of each benchmark; None: nothing.

    Returns:
        prompts that have these vectors now.
    """
    if not len(prompts):
        return 0
    with store.begin() as connection:
        store.dialect.lock_catalogue(connection)
        own, first = (_case(one, templates or {}) for one in ("prompt", "first_one"))
        sql = query_text("store", "prompts_sharing_text")
        sharing = store.arrow(sql.format(ids=_listed(prompts), templates=own, first_templates=first))
        ids = _whole(sharing, "prompt_id")
        hashes = list(zip(sharing.column("text_hash").to_pylist(), sharing.column("template").to_pylist(), strict=True))
        hash_of = dict(zip(ids.tolist(), hashes, strict=True))
        row_of = {hash_of[int(one)]: row for row, one in enumerate(prompts) if int(one) in hash_of}
        rows = np.array([row_of[key] for key in hashes], dtype=np.intp)
        if len(ids):
            connection.exec_driver_sql(_STALE.format(embedder=embedder, ids=_listed(ids)))
            batch = _batch(embedder, sharing, vectors[rows])
            store.dialect.append(connection, "prompt_embedding", batch.to_reader(), Counter())
    return len(ids)


def read_vectors(store: Store, embedder: EmbedderRow, benchmark_ids: Sequence[int] | None = None) -> PromptVectors:
    """Up-to-date vectors of the prompts of some benchmarks (None: of all)."""
    where = _in_benchmarks("prompt.benchmark_id", benchmark_ids)
    sql = query_text("store", "prompt_vectors").format(embedder=embedder.id, benchmarks=where)
    ids, vectors = store.vectors(sql, embedder.dimension)
    return PromptVectors(ids, vectors)


def _batch(embedder: int, sharing: pa.Table, vectors: NDArray[np.float32]) -> pa.Table:
    n, dimension = vectors.shape
    offsets = np.arange(0, (n + 1) * dimension, dimension, dtype=np.int32)
    return pa.table(
        {
            "prompt_id": sharing.column("prompt_id"),
            "embedder_id": pa.array(np.full(n, embedder, np.int64)),
            "text_hash": sharing.column("text_hash"),
            "vector": pa.ListArray.from_arrays(offsets, pa.array(vectors.ravel())),
            "template": pa.array([one or None for one in sharing.column("template").to_pylist()], pa.string()),
        }
    )


def _case(table: str, templates: Templates) -> str:
    """The template of the benchmark of a table's row, as SQL."""
    arms = " ".join(f"when {int(one)} then '{key}'" for one, key in templates.items() if key)
    return f"case {table}.benchmark_id {arms or NO_ARM} else '' end"


def _in_benchmarks(column: str, ids: Sequence[int] | None) -> str:
    if ids is None:
        return "1 = 1"
    return f"{column} in ({_listed(ids)})" if len(ids) else "1 = 0"


def _listed(ids: Sequence[int] | NDArray[np.int64]) -> str:
    return ", ".join(str(int(one)) for one in ids)


def _whole(table: pa.Table, column: str) -> NDArray[np.int64]:
    return np.array(table.column(column).to_pylist(), dtype=np.int64)
