"""Vectors of prompts' texts, as the matrix explanation needs them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.metrics.selecting import one_of
from warehouse.store.engine import Store

_EMBEDDERS = """
select embedder.id, embedder.name, embedder.revision, count(*) as n
from embedder
join prompt_embedding held on held.embedder_id = embedder.id
join prompt on prompt.id = held.prompt_id and prompt.text_hash = held.text_hash
where {condition}
group by embedder.id, embedder.name, embedder.revision
order by embedder.name, embedder.revision
"""
_VECTORS = """
select held.prompt_id, held.vector
from prompt_embedding held
join prompt on prompt.id = held.prompt_id and prompt.text_hash = held.text_hash
where held.embedder_id = {embedder} and {condition}
order by held.prompt_id
"""


def read_vectors(
    store: Store, benchmark: str, prompts: NDArray[np.int64], texts: Sequence[str | None],
    wanted: str | None,
) -> tuple[str, NDArray[np.intp], NDArray[np.float64]]:  # fmt: skip
    """Up-to-date vectors of prompts.

    Args:
        prompts: ids, shape (n,).
        texts: their texts, to say what is missing.
        wanted: ``NAME`` or ``NAME@REVISION`` of an embedder; None for the only one there is.

    Returns:
        name of the embedder, rows of ``prompts`` that have a vector, and the vectors.

    Raises:
        MisuseError: no text, no vectors, or no or several embedders that fit.
    """
    if not any(texts):
        raise MisuseError(
            f"the prompts of {benchmark} have no text in the store: there is nothing to compare"
            " their performance with"
        )
    condition, parameters = one_of("held.prompt_id", prompts.tolist(), "p")
    known = store.arrow(_EMBEDDERS.format(condition=condition), parameters).to_pylist()
    chosen, label = _choose(known, wanted, benchmark)
    query = _VECTORS.format(embedder=chosen, condition=condition)
    table = store.arrow(query, parameters)
    ids = np.array(table.column("prompt_id").to_pylist(), dtype=np.int64)
    found = {int(one): place for place, one in enumerate(ids)}
    rows = np.array([row for row, one in enumerate(prompts.tolist()) if one in found], np.intp)
    places = [found[int(one)] for one in prompts[rows]]
    vectors = np.array(table.column("vector").to_pylist(), dtype=np.float64)
    return label, rows, vectors[places]


def _choose(known: Sequence[dict[str, object]], wanted: str | None, name: str) -> tuple[int, str]:
    labels = {int(str(row["id"])): _label(row) for row in known}
    fitting = [
        key for key, label in labels.items()
        if wanted is None or wanted in (label, label.partition("@")[0])
    ]  # fmt: skip
    if len(fitting) == 1:
        return fitting[0], labels[fitting[0]]
    there = ", ".join(labels.values())
    if not labels:
        raise MisuseError(f"no prompt of {name} has a vector; run: warehouse embed {name}")
    if not fitting:
        raise MisuseError(f"no vectors of {name} by embedder {wanted!r}; there are: {there}")
    raise MisuseError(f"several embedders have vectors of {name}, choose with --embedder: {there}")


def _label(row: dict[str, object]) -> str:
    return f"{row['name']}@{row['revision']}" if row["revision"] else str(row["name"])
