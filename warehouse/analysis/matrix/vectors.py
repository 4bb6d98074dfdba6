"""Vectors of prompts' texts, as the matrix explanation needs them."""

from __future__ import annotations

import numpy as np

from warehouse.analysis.matrix.analyses import Vectors
from warehouse.analysis.matrix.read import MatrixData
from warehouse.analysis.text.embedders import choose_embedder
from warehouse.errors import MisuseError
from warehouse.store.computed.prompt_vectors import read_vectors
from warehouse.store.connection import Store


def matrix_vectors(store: Store, data: MatrixData, embedder: str | None) -> Vectors:
    """Up-to-date vectors of the prompts of a matrix.

    Args:
        embedder: whose; None for the only one there is.

    Raises:
        MisuseError: prompts without text or vectors; no or several embedders that fit.
    """
    if not any(data.texts):
        raise MisuseError(
            f"the prompts of {data.benchmark} have no text in the store: there is nothing to"
            " compare their performance with"
        )
    chosen = choose_embedder(store, embedder)
    vectors = read_vectors(store, chosen, np.unique(data.benchmark_ids).tolist())
    places = np.searchsorted(vectors.prompts, data.prompts)
    places[places == len(vectors.prompts)] = 0
    rows = np.empty(0, np.intp)
    if len(vectors.prompts):
        rows = np.flatnonzero(vectors.prompts[places] == data.prompts)
    if not len(rows):
        raise MisuseError(
            f"no prompt of {data.benchmark} has a vector by {chosen.label}; run: warehouse embed {data.benchmark}"
        )
    return Vectors(chosen.label, rows, vectors.vectors[places[rows]].astype(np.float64))
