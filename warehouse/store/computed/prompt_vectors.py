"""Embeddings of prompts: which are missing, writing them set-based, reading them as a
matrix.

A prompt's embedding belongs to its text: ``text_hash`` is the hash of the normalised
question, and an embedding whose hash is no longer that of the prompt counts as missing.
Prompts with one text share one vector, where the same template was taken off
(``template``; empty, stored as null: none). A vector of another part of the prompt says
so (``part``; null: the question). The hash of its text is not stored with the prompt,
so that callers say it (`PartTexts`).
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
_STALE = """
delete from prompt_embedding
where embedder_id = {embedder} and prompt_id in ({ids}) and {part}
"""
_HELD = (
    "select prompt_id, text_hash, template from prompt_embedding where embedder_id = "
    "{embedder} and {part}"
)
#: The part that vectors are of which say none.
PROMPT = "prompt"


#: By benchmark id the key of the template that its prompts share; letters and digits,
#: empty for none.
Templates = Mapping[int, str]


@dataclass(frozen=True)
class EmbedderRow:
    """An embedder that the store knows."""

    id: int
    name: str
    revision: str
    dimension: int
    n_prompts: int  #: prompts that have a vector of it.

    @property
    def label(self) -> str:
        """``NAME@REVISION``, as options take it."""
        if self.revision:
            return f"{self.name}@{self.revision}"
        return self.name


@dataclass(frozen=True)
class PartTexts:
    """Which texts a part of prompts other than the question has."""

    part: str  #: its name, as `of_part` takes it.
    #: benchmark of each prompt, also of those without such a text.
    benchmarks: Mapping[int, int]
    hashes: Mapping[int, bytes]  #: of the normalised text of each prompt that has one.

    def expected_keys(
        self, templates: Templates | None
    ) -> dict[int, tuple[bytes, str]]:
        """By prompt the hash of its text and the template that is taken off of it."""
        named = templates or {}
        return {
            prompt: (text, named.get(self.benchmarks[prompt], ""))
            for prompt, text in self.hashes.items()
        }

    def held(
        self, store: Store, embedder: int, templates: Templates | None
    ) -> set[int]:
        """Prompts that have an up-to-date vector; None: whatever was taken off."""
        found = store.arrow(_HELD.format(embedder=embedder, part=of_part(self.part)))
        ids, texts, taken = (column.to_pylist() for column in found.columns)
        keys = self.expected_keys(templates)
        held = set()
        for prompt, text, template in zip(ids, texts, taken, strict=True):
            if prompt not in keys:
                continue
            expected_text, expected_template = keys[prompt]
            is_taken_off = templates is None or (template or "") == expected_template
            if text == expected_text and is_taken_off:
                held.add(prompt)
        return held


@dataclass(frozen=True)
class MissingTexts:
    """Texts without a vector."""

    prompts: NDArray[np.int64]  #: one prompt that has the text, ascending, shape (n,).
    n_prompts: NDArray[np.int64]  #: prompts that have it, shape (n,).


@dataclass(frozen=True)
class PromptVectors:
    """Vectors of prompts."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    vectors: NDArray[np.float32]  #: 32-bit rows, shape (n, dimension).


def embedders(store: Store, part: str = PROMPT) -> list[EmbedderRow]:
    """Every embedder by name, with its vectors of a part."""
    return [
        EmbedderRow(**row)
        for row in store.rows(
            query_text("store", "embedders").format(part=of_part(part))
        )
    ]


def of_part(part: str) -> str:
    """A condition on the column ``part``; the name holds no quote."""
    if part == PROMPT:
        return "part is null"
    return f"part = '{part}'"


def declare_embedder(store: Store, name: str, revision: str, dimension: int) -> int:
    """Id of an embedder, made at its first mention. The store is open for writing.

    Raises:
        StoreError: it is known with vectors of another length.
    """
    table = tables.embedder
    query = sa.select(table.c.id, table.c.dimension).where(
        table.c.name == name, table.c.revision == revision
    )
    with store.changing_catalogue() as connection:
        row = connection.execute(query).first()
        if row is None:
            number = allocate(connection, table.name, 1)
            connection.execute(
                sa.insert(table).values(
                    id=number, name=name, revision=revision, dimension=dimension
                )
            )
            return number
    if row.dimension != dimension:
        raise StoreError(
            f"the vectors of embedder {name!r} have {row.dimension} numbers here, "
            f"those of the model {dimension}; store it under another name: --embedder "
            "NAME=MODEL"
        )
    return int(row.id)


def count_embedded(
    store: Store,
    embedder: int,
    benchmark_ids: Sequence[int] | None,
    templates: Templates | None = None,
    texts: PartTexts | None = None,
) -> dict[int, tuple[int, int, int]]:
    """By benchmark id: prompts, prompts with text, prompts with an up-to-date vector.

    Args:
        templates: up to date are those without these templates; None: whatever was
            taken off.
        texts: of the part; None: the question.
    """
    if texts is not None:
        held = texts.held(store, embedder, templates)
        prompts = Counter(texts.benchmarks[row] for row in texts.benchmarks)
        with_text = Counter(texts.benchmarks[row] for row in texts.hashes)
        embedded = Counter(texts.benchmarks[row] for row in held)
        return {
            benchmark: (n, with_text[benchmark], embedded[benchmark])
            for benchmark, n in prompts.items()
        }
    where = _in_benchmarks(benchmark_ids)
    fresh = "1 = 1"
    if templates is not None:
        fresh = f"coalesce(held.template, '') = {_case('prompt', templates)}"
    sql = query_text("store", "vector_counts").format(
        embedder=embedder, benchmarks=where, fresh=fresh
    )
    rows = store.rows(sql)
    return {
        row["benchmark_id"]: (row["n_prompts"], row["n_texts"], row["n_embedded"])
        for row in rows
    }


def missing_texts(
    store: Store,
    embedder: int,
    benchmark_ids: Sequence[int] | None,
    templates: Templates,
    texts: PartTexts | None = None,
) -> MissingTexts:
    """Texts of some benchmarks (None: of all) that are new or have changed, or have
    another template."""
    if texts is not None:
        held = texts.held(store, embedder, templates)
        alike: dict[tuple[bytes, str], list[int]] = {}
        for prompt, key in texts.expected_keys(templates).items():
            if prompt not in held:
                alike.setdefault(key, []).append(prompt)
        groups = sorted((min(ids), len(ids)) for ids in alike.values())
        pairs = np.array(groups, dtype=np.int64).reshape(-1, 2)
        return MissingTexts(pairs[:, 0], pairs[:, 1])
    where = _in_benchmarks(benchmark_ids)
    sql = query_text("store", "texts_without_vector")
    table = store.arrow(
        sql.format(
            embedder=embedder, benchmarks=where, templates=_case("prompt", templates)
        )
    )
    return MissingTexts(_whole(table, "first_id"), _whole(table, "n_prompts"))


def write_vectors(
    store: Store,
    embedder: int,
    prompts: Sequence[int],
    vectors: NDArray[np.float32],
    templates: Templates | None = None,
    texts: PartTexts | None = None,
) -> int:
    """Store the vectors of some texts for every prompt that has one of them, and the
    same template.

    One transaction; replaces what stood there, so that a repetition changes nothing.

    Args:
        store: a store open for writing.
        prompts: one prompt of each text, as `missing_texts` gives them.
        vectors: row by row for ``prompts``.
        templates: what was taken off of the texts of each benchmark; None: nothing.
        texts: of the part that was embedded; None: the question.

    Returns:
        prompts that have these vectors now.
    """
    if not len(prompts):
        return 0
    with store.changing_catalogue() as connection:
        sharing = _sharing(store, prompts, templates or {}, texts)
        part = _part_of(texts)
        ids = _whole(sharing, "prompt_id")
        hashes = list(
            zip(
                sharing.column("text_hash").to_pylist(),
                sharing.column("template").to_pylist(),
                strict=True,
            )
        )
        hash_of = dict(zip(ids.tolist(), hashes, strict=True))
        row_of = {
            hash_of[int(prompt)]: row
            for row, prompt in enumerate(prompts)
            if int(prompt) in hash_of
        }
        rows = np.array([row_of[key] for key in hashes], dtype=np.intp)
        if len(ids):
            connection.exec_driver_sql(
                _STALE.format(embedder=embedder, ids=_listed(ids), part=of_part(part))
            )
            batch = _batch(embedder, sharing, vectors[rows], part)
            store.dialect.append(
                connection, "prompt_embedding", batch.to_reader(), Counter()
            )
    return len(ids)


def read_vectors(
    store: Store,
    embedder: EmbedderRow,
    benchmark_ids: Sequence[int] | None = None,
    texts: PartTexts | None = None,
) -> PromptVectors:
    """Up-to-date vectors of the prompts of some benchmarks (None: of all), of a part or
    the question."""
    where = _in_benchmarks(benchmark_ids)
    part = of_part(_part_of(texts))
    sql = query_text("store", "prompt_vectors").format(
        embedder=embedder.id, part=part, benchmarks=where
    )
    ids, vectors = store.vectors(sql, embedder.dimension)
    if texts is None:
        return PromptVectors(ids, vectors)
    fresh = np.isin(ids, list(texts.held(store, embedder.id, None)))
    return PromptVectors(ids[fresh], vectors[fresh])


def _sharing(
    store: Store, prompts: Sequence[int], templates: Templates, texts: PartTexts | None
) -> pa.Table:
    """Prompts with the text and the template of some prompts, by id."""
    if texts is None:
        own, first = (_case(table, templates) for table in ("prompt", "first_one"))
        sql = query_text("store", "prompts_sharing_text")
        return store.arrow(
            sql.format(ids=_listed(prompts), templates=own, first_templates=first)
        )
    key_of = texts.expected_keys(templates)
    keys = {key_of[int(prompt)] for prompt in prompts if int(prompt) in key_of}
    rows = [(prompt, *key) for prompt, key in sorted(key_of.items()) if key in keys]
    return pa.table(
        {
            "prompt_id": pa.array([row[0] for row in rows], pa.int64()),
            "text_hash": pa.array([row[1] for row in rows], pa.binary()),
            "template": pa.array([row[2] for row in rows], pa.string()),
        }
    )


def _batch(
    embedder: int, sharing: pa.Table, vectors: NDArray[np.float32], part: str
) -> pa.Table:
    n, dimension = vectors.shape
    offsets = np.arange(0, (n + 1) * dimension, dimension, dtype=np.int32)
    templates = sharing.column("template").to_pylist()
    stored_part: str | None = part
    if part == PROMPT:
        stored_part = None
    return pa.table(
        {
            "prompt_id": sharing.column("prompt_id"),
            "embedder_id": pa.array(np.full(n, embedder, np.int64)),
            "text_hash": sharing.column("text_hash"),
            "vector": pa.ListArray.from_arrays(offsets, pa.array(vectors.ravel())),
            "template": pa.array([own or None for own in templates], pa.string()),
            "part": pa.array([stored_part] * n, pa.string()),
        }
    )


def _part_of(texts: PartTexts | None) -> str:
    """The part that texts are of; the question without any."""
    if texts is None:
        return PROMPT
    return texts.part


def _case(table: str, templates: Templates) -> str:
    """The template of the benchmark of a table's row, as SQL."""
    arms = " ".join(
        f"when {int(benchmark)} then '{key}'"
        for benchmark, key in templates.items()
        if key
    )
    return f"case {table}.benchmark_id {arms or NO_ARM} else '' end"


def _in_benchmarks(ids: Sequence[int] | None) -> str:
    if ids is None:
        return "1 = 1"
    if len(ids):
        return f"prompt.benchmark_id in ({_listed(ids)})"
    return "1 = 0"


def _listed(ids: Sequence[int] | NDArray[np.int64]) -> str:
    return ", ".join(str(int(number)) for number in ids)


def _whole(table: pa.Table, column: str) -> NDArray[np.int64]:
    return np.array(table.column(column).to_pylist(), dtype=np.int64)
