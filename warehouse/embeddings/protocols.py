"""What turns texts into vectors, and what says whether one text follows from another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import InputError

#: One row per text, 32 bits, shape (n, dimension).
Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """What turns texts into vectors.

    Attributes:
        name: under which its vectors are stored.
        revision: which version of it; vectors of two revisions are kept apart. May be empty.
        dimension: length of a vector.
        max_length: tokens that it reads of a text; None: any number.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    @property
    def max_length(self) -> int | None: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors, shape (n, dimension); the same text gives the same vector."""
        ...

    def too_long(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the texts are longer than ``max_length``, shape (n,)."""
        ...


@runtime_checkable
class Entailment(Protocol):
    """What says whether a text follows from another.

    Attributes:
        name: what it is called.
        revision: which version of it; its answers are kept under both.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...

    def entails(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.bool_]:
        """For each pair whether the hypothesis follows from the premise, shape (n,)."""
        ...

    def too_long(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the pairs are longer than the model reads, shape (n,)."""
        ...


def encode(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Vectors of ``texts``, checked; a text without a direction has a row of zeros.

    Raises:
        InputError: the embedder gave another number or length of vectors than it should.
    """
    if not len(texts):
        return np.empty((0, embedder.dimension), np.float32)
    vectors = np.ascontiguousarray(embedder.encode(texts), dtype=np.float32)
    if vectors.shape != (len(texts), embedder.dimension):
        raise InputError(
            f"gave vectors of shape {vectors.shape}",
            path=embedder.name,
            expected=f"{len(texts)} vectors of {embedder.dimension} numbers",
        )
    wrong = ~np.isfinite(vectors).all(axis=1)
    if wrong.any():
        vectors = vectors.copy()
        vectors[wrong] = 0
    return vectors
